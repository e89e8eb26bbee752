"""`promptcorner chat`: a chat in the terminal.

drawing   what is seen of a chat: events in, lines out                 (pure)
screen    a terminal that is drawn on, or a pipe that is written to
consenting  whether calls may run: asked of whoever sits there, or of a flag
deeds     what the command does
talk      the conversation: ask, follow, interrupt, until the user has had enough
"""
