"""Our types as they lie in the database. Pure.

parts       the content of messages, as JSON
rows        the rows of chats, messages and queues
statements  the statements that read and lock
writing     changes, and the statements that write them
"""
