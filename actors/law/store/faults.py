"""What the store raises when it cannot do what it is asked for a reason that will pass."""


class StoreAway(Exception):
    """The store is away, busy, or has no room. Whatever it was asked is not at fault, so no chat is
    stopped because of it, however long it lasts."""
