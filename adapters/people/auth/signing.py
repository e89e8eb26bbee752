"""What we sign ourselves and believe again: answers to forgeries, tickets of streams. Pure.

A browser sends its cookie with whatever request any page makes it send. What such a page cannot
know is the session's answer to forgeries, so it has to come along with everything that changes
something.

A ticket lets a client that can set no headers (a WebSocket in a browser) open one stream, shortly
after a token of his was shown. It names that token, which has to be good still.
"""

import hmac
from dataclasses import dataclass
from hashlib import sha256

TICKET_SECONDS = 30  # from when it is made until a stream has to be open


@dataclass(frozen=True, slots=True)
class Signing:
    """With keys derived for these purposes alone, the same in all processes of a deployment."""

    csrf_key: bytes
    ticket_key: bytes

    def csrf_of(self, token_id: str) -> str:
        """The answer to forgeries of the session that this token is."""
        return _signature(self.csrf_key, token_id)

    def is_csrf(self, shown: str, token_id: str) -> bool:
        return hmac.compare_digest(shown.encode(), self.csrf_of(token_id).encode())

    def form_value(self, nonce: str, about: str) -> str:
        """What the form of a page has to bring along, if its browser was given this nonce."""
        return _signature(self.csrf_key, f"form\n{about}\n{nonce}")

    def is_form_value(self, shown: str, nonce: str, about: str) -> bool:
        expected = self.form_value(nonce, about).encode()
        return bool(nonce) and hmac.compare_digest(shown.encode(), expected)

    def ticket(self, token_id: str, path: str, *, expires: int) -> str:
        """For one path, until then (seconds of the wall's clock)."""
        return f"{token_id}.{expires}.{self._sealed(token_id, path, expires)}"

    def token_of(self, ticket: str, path: str, *, wall_seconds: float) -> str | None:
        """The id of the token that a ticket was made for; None if it is not good here and now."""
        token_id, _, rest = ticket.partition(".")
        expiry, _, signature = rest.partition(".")
        if not (expiry.isascii() and expiry.isdecimal() and len(expiry) <= 12):
            return None
        sealed = self._sealed(token_id, path, int(expiry))
        if not hmac.compare_digest(signature.encode(), sealed.encode()):
            return None
        return token_id if wall_seconds < int(expiry) else None

    def _sealed(self, token_id: str, path: str, expires: int) -> str:
        return _signature(self.ticket_key, f"{token_id}\n{expires}\n{path}")


def _signature(key: bytes, text: str) -> str:
    return hmac.new(key, text.encode(), sha256).hexdigest()
