"""Who may follow what is said here: processes that have the same secret key, and nobody else.

A ticket names who comes, to whom, and when, and is good once, for a minute. Whoever lets somebody
in on it proves in turn that he has the key, so that nobody else is taken for him. No user's token
is ever asked for, and none opens this door.
"""

import hmac
from collections import OrderedDict
from hashlib import sha256
from secrets import token_hex
from uuid import UUID

from actors.law.ids import WorkerId

PURPOSE = "relay"  # of the key, among those derived from the secret one
HEADER = "x-promptcorner-relay"
WINDOW_SECONDS = 60.0  # between the clocks of two processes; a ticket older than that is none
NONCES_MAX = 10_000  # of tickets that were good; more than that in a window are refused
TICKET_CHARACTERS_MAX = 256
_VERSION = "1"


class Tickets:
    """Of one process: writes them for others, and takes what others have written for it."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._used: OrderedDict[str, float] = OrderedDict()  # until when they would be good

    def written(self, me: WorkerId, to: WorkerId, *, at: float) -> str:
        text = f"{_VERSION}.{me}.{to}.{int(at)}.{token_hex(16)}"
        return f"{text}.{self._signed('ticket', text)}"

    def taken(self, ticket: str, me: WorkerId, *, at: float) -> WorkerId | None:
        """Who comes. None: that is no ticket for us, or it was used already."""
        if len(ticket) > TICKET_CHARACTERS_MAX or not ticket.isascii():
            return None
        text, _, signature = ticket.rpartition(".")
        if not hmac.compare_digest(signature, self._signed("ticket", text)):
            return None
        version, *said = text.split(".")
        if version != _VERSION:
            return None
        came, to, written_at, nonce = said  # we have written it
        if to != str(me) or abs(at - int(written_at)) > WINDOW_SECONDS:
            return None
        return WorkerId(UUID(came)) if self._is_first(nonce, at) else None

    def proof(self, ticket: str) -> bytes:
        """What only somebody with the key can say to it."""
        return self._signed("proof", ticket).encode()

    def _is_first(self, nonce: str, at: float) -> bool:
        while self._used and next(iter(self._used.values())) < at:
            self._used.popitem(last=False)
        if nonce in self._used or len(self._used) >= NONCES_MAX:
            return False
        self._used[nonce] = at + 2 * WINDOW_SECONDS  # by then its own time is over
        return True

    def _signed(self, what: str, text: str) -> str:
        return hmac.new(self._key, f"{what} {text}".encode(), sha256).hexdigest()
