"""Prices, and what each user's chats have cost."""
