"""Chats as their users keep them: found, listed, named, labelled, pinned, shared.

Nothing here is the law's: no version of a chat moves with it.
"""
