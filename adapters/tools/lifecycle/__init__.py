"""The tools by which a chat gets a place to work in.

asked   what they are called with, and what a model is told of them   (pure)
source  what they do
"""
