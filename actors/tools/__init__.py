"""What a chat's own tools have in common: who gets which, what they are given, how much they say.

gating        which tools a chat of this kind has                   (pure)
arguments     what is wrong with the arguments of a call            (pure)
schema_check  whether they fit the schema of the tool               (pure)
refusing      the calls of a step that are not run                  (pure)
truncation    a result within its share of the context window       (pure)
"""
