"""`promptcorner completion`: the words that a shell offers behind those that were typed.

command     prints the script of a shell                                             (pure)
table       makes words.json of the parsers of all commands
candidates  finds the words that may come next; what a shell runs at each key of tab (pure)
asking      asks the daemon for chats and models, in a moment or not at all

A shell waits for `candidates` while a person types. It imports nothing but the standard library,
and so knows the commands from words.json and not from their parsers, which would take seven times
as long. `asking` has its own short way to the daemon for the same reason.
"""
