"""Questions to the user, and the lines and keys that they may use: pure.

key_table       lists the keys and what they do
slash_commands  lists the commands, reads a line, and guesses what was meant
asking          asks for consent, answers, plans, and about unknown commands
picking         narrows a list, and moves through it
lists           makes the lists that are chosen from
pace            bounds the redraws, and opens questions to keys once the user pauses
mentions        finds the `@files` of a message
"""
