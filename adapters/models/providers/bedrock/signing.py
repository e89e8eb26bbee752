"""AWS Signature Version 4. Pure: the time comes from the caller.

The signature covers method, path, query, the given headers and the body. A path is signed as it is
sent, encoded once more; that is AWS's rule for every service but S3.
"""

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import quote, unquote

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNRESERVED = "-_.~"


@dataclass(frozen=True, slots=True)
class Keys:
    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Scope:
    region: str
    service: str


Headers = Sequence[tuple[str, str]]


def signature_headers(
    method: str,
    target: str,
    *,
    headers: Headers,
    body: bytes,
    keys: Keys,
    scope: Scope,
    now: datetime,
) -> tuple[tuple[str, str], ...]:
    """The headers to add. `headers` are those to be signed, Host among them; `now` is in UTC."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    added = [("X-Amz-Date", stamp)]
    if keys.session_token is not None:
        added.append(("X-Amz-Security-Token", keys.session_token))
    signed = sorted((name.lower(), " ".join(value.split())) for name, value in (*headers, *added))
    names = ";".join(name for name, _ in signed)
    path, _, query = target.partition("?")
    canonical = "\n".join(
        (
            method,
            quote(path or "/", safe=f"/{_UNRESERVED}"),
            _query(query),
            *(f"{name}:{value}" for name, value in signed),
            "",
            names,
            hashlib.sha256(body).hexdigest(),
        )
    )
    credential = f"{stamp[:8]}/{scope.region}/{scope.service}/aws4_request"
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = "\n".join((_ALGORITHM, stamp, credential, hashed))
    signature = _hmac(_key(keys, stamp[:8], scope), text).hex()
    authorization = (
        f"{_ALGORITHM} Credential={keys.access_key}/{credential},"
        f" SignedHeaders={names}, Signature={signature}"
    )
    return (*added, ("Authorization", authorization))


def _query(query: str) -> str:
    """Each name and value encoded AWS's way, in order of the encoded names."""
    pairs = [piece.partition("=") for piece in query.split("&") if piece]
    encoded = sorted(
        (quote(unquote(name), safe=_UNRESERVED), quote(unquote(value), safe=_UNRESERVED))
        for name, _, value in pairs
    )
    return "&".join(f"{name}={value}" for name, value in encoded)


def _key(keys: Keys, day: str, scope: Scope) -> bytes:
    key = f"AWS4{keys.secret_key}".encode()
    for step in (day, scope.region, scope.service, "aws4_request"):
        key = _hmac(key, step)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
