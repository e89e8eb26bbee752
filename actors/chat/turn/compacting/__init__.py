"""How a model is brought to sum up a conversation.

scribe  asks it, plainly or in parts where that is what it takes
"""
