"""What a peer sent is not what its protocol allows. Says where, and shows nothing of it."""


class BrokenStream(Exception):
    """`subject: fact`, without a word of what was received: it may hold anything."""
