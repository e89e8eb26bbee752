"""What is kept of a request with what it did, so that it is not served twice. Pure data."""

from dataclasses import dataclass

from actors.law.ids import UserId


@dataclass(frozen=True, slots=True)
class Receipt:
    """One of a user's requests, by the name that he gave it. A second one is `Repeated`."""

    user: UserId
    key: str
    request: bytes  # a digest: whether what comes again is the same
