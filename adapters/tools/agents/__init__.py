"""The tools by which a chat spawns other chats and works with them.

asked   what they are called with, and what a model is told of them   (pure)
source  what they do
"""
