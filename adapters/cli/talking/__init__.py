"""`promptcorner chat`: a chat in the terminal.

drawing   what is seen of a chat: events in, lines out                 (pure)
screen    a terminal that is drawn on, or a pipe that is written to
deeds     what the command does
talk      the conversation: ask, follow, interrupt, until the user has had enough
"""
