"""What an authorization server gives, and how it says no. Pure; tokens stay out of every repr."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from adapters.tools.mcp.store.stored import StoredToken

RENEW_SECONDS = 10.0  # before it runs out
SAID_CHARACTERS_MAX = 400  # of why it was refused; what is longer is cut
LIFE_SECONDS_MAX = 10 * 365 * 86_400.0  # who says more means it for ever
PERMANENT = ("invalid_grant", "bad_refresh_token")  # asking again would not help


class Token(Struct, frozen=True, kw_only=True):
    """Sealed as JSON."""

    access_token: str
    refresh_token: str = ""
    token_type: str = "Bearer"

    def __repr__(self) -> str:
        return "Token()"

    @property
    def scheme(self) -> str:
        return "Bearer" if self.token_type.lower() in ("", "bearer") else self.token_type


@dataclass(frozen=True, slots=True)
class Granted:
    token: Token
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Denied:
    """`why` is shown to whoever may see it; it never has a token in it."""

    why: str
    is_permanent: bool = False


def answered(
    status: int, document: Any, *, now: datetime, former: Token | None = None
) -> Granted | Denied:
    """What a token endpoint's answer means. A refresh token that is not given anew stays."""
    said: Mapping[str, Any] = document if isinstance(document, dict) else {}
    if status != 200 or "error" in said:
        return _denied(status, said)
    access, kind = said.get("access_token"), said.get("token_type", "Bearer")
    if not isinstance(access, str) or not access or not isinstance(kind, str):
        return Denied(f"the authorization server answered {status} without an access token")
    refresh = said.get("refresh_token") or (former.refresh_token if former else "")
    token = Token(access_token=access, refresh_token=str(refresh), token_type=kind)
    return Granted(token, _expiry(said.get("expires_in"), now))


def is_expiring(stored: StoredToken, now: datetime) -> bool:
    expires_at = stored.expires_at
    return expires_at is not None and expires_at - now < timedelta(seconds=RENEW_SECONDS)


def connects(stored: StoredToken, token: Token | None, now: datetime) -> bool:
    """Whether its user need not log in there again."""
    if token is None or not token.access_token or stored.failure:
        return False
    return bool(token.refresh_token) or not is_expiring(stored, now)


def _denied(status: int, said: Mapping[str, Any]) -> Denied:
    code, described = said.get("error"), said.get("error_description")
    words = [word for word in (code, described) if isinstance(word, str) and word]
    why = ": ".join(words) or f"the authorization server answered {status}"
    return Denied(why[:SAID_CHARACTERS_MAX], is_permanent=code in PERMANENT)


def _expiry(seconds: Any, now: datetime) -> datetime | None:
    try:
        life = float(seconds)
    except (TypeError, ValueError):
        return None
    if not 0 < life < LIFE_SECONDS_MAX:
        return None
    return now + timedelta(seconds=life)
