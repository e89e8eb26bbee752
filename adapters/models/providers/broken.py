"""What can go wrong between us and a provider, as it is raised inside the adapters. Pure.

None of these leaves `streaming`: there they become failures, which are data. Each text is
`subject: fact`, without headers, keys, queries, or a word of what was received, except for
`Reported`, whose text is the provider's own.
"""


class CallFailed(Exception):
    """There is no response, or not all of it."""


class Unreachable(CallFailed):
    """No connection could be made."""


class Untrusted(CallFailed):
    """The peer could not prove who it is; trying again will not help."""


class Lost(CallFailed):
    """The connection ended before the response was complete."""


class BrokenStream(CallFailed):
    """What came is not what its protocol allows; it would come again."""


class Unsendable(CallFailed):
    """The request itself cannot be written down; it would not go the next time either."""


class Reported(CallFailed):
    """A stream that had begun well says that it failed."""
