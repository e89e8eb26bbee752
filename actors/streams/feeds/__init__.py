"""Watchers of chats: one feed for each chat that somebody watches here, and cursors into its log.

`diff` says what watchers are told of a snapshot · `log` keeps it, encoded once · `actor` is the
feed: it learns what becomes of the chat and tells it · `joining` who comes to it, and what he is
told first · `feeds` has all feeds of this process · `subscription` is what one watcher holds.
"""
