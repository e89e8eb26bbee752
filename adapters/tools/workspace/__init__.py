"""The tools by which a chat reads and writes files, and runs commands, in its workspace.

asked   what they are called with, and what a model is told of them   (pure)
shown   what a model is told of a command                             (pure)
source  what they do
"""
