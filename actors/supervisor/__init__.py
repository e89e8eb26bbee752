"""The supervisor of all chats of this process: it takes those with work to do, and keeps an actor
on each.

For other rooms:
    actor      runs the supervisor: hints and polls come in, chat actors are started and stopped
    api        the mail of the supervisor, the functions that send it, and its intake and statistics
    deps       what the supervisor asks for, and its limits
    slots      the slots for chats: taken, promised to a sender, or free

Inside:
    crashes    counts how often the actors of chats have crashed in a row
    decide     the rules: what follows the end of a chat actor, a search, a comparison
    heartbeat  keeps the lease of the process, or loses it before others may take the chats
    registry   the chat actors that run in this process
    settling   gives back, or stops for good, a chat that no actor here runs
"""
