"""The relay: pieces of running attempts between the processes of one database.

For other rooms:
    listener    answers other processes at an address of its own, and says which address that is
    dialler     connects to another process by its name
    protocol    messages as bytes, and the tickets by which processes know each other
"""
