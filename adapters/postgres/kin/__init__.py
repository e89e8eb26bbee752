"""Families of chats, as those who spawn and wait see them."""
