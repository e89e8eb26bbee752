"""The page on the states of a chat, docs/states.md. `python -m actors.law.diagram` draws it.

drawing    the table of the law -> the page; pure
__main__   reads and writes the page
"""
