"""Texts that we sign and believe again, and the cookies of a browser that has logged in. Pure.

A browser sends its cookie with whatever request any page makes it send. The page of another site
cannot know the CSRF token of the session, so every request that changes something has to bring it
along. The cookie of the session is out of reach of scripts; another one holds the CSRF token for
them, which they send as X-CSRF-TOKEN.

A ticket lets a client that can set no headers (a WebSocket in a browser) open one stream, shortly
after it showed a token. It names that token, which has to be good still.
"""

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from adapters.people.store.tokens import SESSION_LIFE_SECONDS

TICKET_SECONDS = 30  # from when it is made until a stream has to be open
COOKIE = "coder_session_token"
CSRF_COOKIE = "csrf_token"
_SESSION_LIFE = f"Max-Age={int(SESSION_LIFE_SECONDS)}"
FORM_COOKIE = "form_nonce"
FORM_SECONDS = 3600  # for a person to fill in a form; then it is shown again

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Signing:
    """Signs with keys derived for these purposes alone, which are the same in all processes."""

    csrf_key: bytes
    ticket_key: bytes

    def csrf_of(self, token_id: str) -> str:
        """Return the CSRF token of the session with this token."""
        return _signature(self.csrf_key, token_id)

    def is_csrf(self, shown: str, token_id: str) -> bool:
        """Return whether a text is the CSRF token of a session."""
        return hmac.compare_digest(shown.encode(), self.csrf_of(token_id).encode())

    def form_value(self, nonce: str, about: str) -> str:
        """Return what a form has to bring along, if its browser was given this nonce."""
        return _signature(self.csrf_key, f"form\n{about}\n{nonce}")

    def is_form_value(self, shown: str, nonce: str, about: str) -> bool:
        """Return whether a form brought along what belongs to its nonce."""
        expected = self.form_value(nonce, about).encode()
        return bool(nonce) and hmac.compare_digest(shown.encode(), expected)

    def ticket(self, token_id: str, path: str, *, expires: int) -> str:
        """Make a ticket for one path that is good until `expires`, in seconds of the wall clock."""
        return f"{token_id}.{expires}.{self._sealed(token_id, path, expires)}"

    def token_of(self, ticket: str, path: str, *, wall_seconds: float) -> str | None:
        """Return the id of a ticket's token, or None if it is not good for this path now."""
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


def form_cookie(nonce: str, *, origin: str) -> Headers:
    """Return the cookie of a browser that is shown a form. It comes back with that form."""
    life = f"Max-Age={FORM_SECONDS}"
    cookie = _cookie(FORM_COOKIE, nonce, life, "HttpOnly", origin=origin, same_site="Strict")
    return (("set-cookie", cookie),)


def session_cookies(token: str, csrf: str, *, origin: str) -> Headers:
    """Return the cookies of a new session.

    `origin` is the address at which the browser reached us: under TLS it sends them under TLS only.
    """
    cookie = _cookie(COOKIE, token, _SESSION_LIFE, "HttpOnly", origin=origin)
    return (("set-cookie", cookie), *csrf_cookie(csrf, origin=origin))


def csrf_cookie(csrf: str, *, origin: str) -> Headers:
    """Return the cookie that tells the scripts of a page the CSRF token of its session."""
    return (("set-cookie", _cookie(CSRF_COOKIE, csrf, _SESSION_LIFE, origin=origin)),)


def ended_cookies(*, origin: str) -> Headers:
    """Return the cookies that end a session in its browser."""
    return (
        ("set-cookie", _cookie(COOKIE, "", "Max-Age=0", "HttpOnly", origin=origin)),
        ("set-cookie", _cookie(CSRF_COOKIE, "", "Max-Age=0", origin=origin)),
    )


def _cookie(name: str, value: str, *attributes: str, origin: str, same_site: str = "Lax") -> str:
    secure = ("Secure",) if origin.startswith("https://") else ()
    return "; ".join([f"{name}={value}", "Path=/", *attributes, f"SameSite={same_site}", *secure])
