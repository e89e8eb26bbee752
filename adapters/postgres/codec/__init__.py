"""Our types as they lie in the database. Pure.

parts       what is said, as JSON
rows        rows → our types
statements  the statements that read and lock
writing     changes → the statements that write them
"""
