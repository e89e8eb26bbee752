"""All chats of this process: one actor that takes chats with work to do and keeps an actor on each.

deps       what it asks for, and its limits                                       (pure)
slots       the places for chats: taken, promised to a sender, free                (pure)
decide      what follows the end of a chat actor, a search, a comparison           (pure)
intake      what senders know of a supervisor: its places and its address
crew        the chat actors that live here
actor       the shell: hints and polls in, chat actors out
heartbeat   the lease of the process: held, or lost before others may take the chats
settling    task: a chat that nobody runs here is given back, or stopped for good
"""
