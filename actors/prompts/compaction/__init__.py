"""When a chat outgrows its model: a summary takes the place of what was said, for the model. Pure.

fullness  how much of a model's window the last step took, and whether that is too much
portions  a conversation in parts, for a model that cannot read it at once
wording   what is asked of the model, and what it is told afterwards
rows      the three messages that a summary is committed as
"""
