"""Workspaces, as far as they are not directories.

registry  for chats that work in them
owned     for their owners
lives     for those who keep them
"""
