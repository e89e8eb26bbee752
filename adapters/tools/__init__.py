"""The tools of chats.

declared  those that a chat's client executes
"""
