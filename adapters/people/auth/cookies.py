"""The cookies of a browser that has logged in. Pure.

The session's is out of reach of scripts. The other one is there for them: they send its value as
X-CSRF-TOKEN, which pages of others cannot, since they cannot read it.
"""

from collections.abc import Sequence

from adapters.people.auth.callers import COOKIE
from adapters.people.store.tokens import SESSION_LIFE_SECONDS

CSRF_COOKIE = "csrf_token"
FORM_COOKIE = "form_nonce"
FORM_SECONDS = 3600  # for a person to fill a form in; then it is shown once more

Headers = Sequence[tuple[str, str]]


def form_shown(nonce: str, *, origin: str) -> Headers:
    """Which browser was shown the form of a page; it comes back with what that form sends."""
    life = f"Max-Age={FORM_SECONDS}"
    cookie = _cookie(FORM_COOKIE, nonce, life, "HttpOnly", origin=origin, same_site="Strict")
    return (("set-cookie", cookie),)


def logged_in(token: str, csrf: str, *, origin: str) -> Headers:
    """`origin` is how the browser has reached us: under TLS it sends them under TLS only."""
    life = f"Max-Age={int(SESSION_LIFE_SECONDS)}"
    return (
        ("set-cookie", _cookie(COOKIE, token, life, "HttpOnly", origin=origin)),
        ("set-cookie", _cookie(CSRF_COOKIE, csrf, life, origin=origin)),
    )


def logged_out(*, origin: str) -> Headers:
    return (
        ("set-cookie", _cookie(COOKIE, "", "Max-Age=0", "HttpOnly", origin=origin)),
        ("set-cookie", _cookie(CSRF_COOKIE, "", "Max-Age=0", origin=origin)),
    )


def _cookie(name: str, value: str, *attributes: str, origin: str, same_site: str = "Lax") -> str:
    secure = ("Secure",) if origin.startswith("https://") else ()
    return "; ".join([f"{name}={value}", "Path=/", *attributes, f"SameSite={same_site}", *secure])
