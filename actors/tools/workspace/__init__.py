"""Where a chat works: files and commands, asked for through a port.

ports      what tools ask of it
editing    an edit of a text: where it fits, and what comes of it        (pure)
lines      texts as lines, their indents and endings                     (pure)
hints      why an edit fits nowhere                                      (pure)
changes    edits of whole files, shown as diffs                          (pure)
numbering  lines of a file, with their numbers                           (pure)
commands   commands as models write them                                 (pure)
output     both ends of what a command writes                            (pure)
plans      where the plan of a chat is written                           (pure)
ranking    which templates to show first                                 (pure)
"""
