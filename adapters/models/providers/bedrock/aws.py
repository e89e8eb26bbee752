"""Credentials for AWS, and the signature that shows them (AWS Signature Version 4).

Where no credentials are configured, they come from the environment, then from the shared file.
Roles of machines, single sign-on and credential processes are not asked: their users export the
credentials to the environment.

The signature covers method, path, query, the given headers and the body. A path is signed as it is
sent, encoded once more: that is AWS's rule for every service but S3. The caller passes the time.
"""

import configparser
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, unquote

_ALGORITHM = "AWS4-HMAC-SHA256"
_UNRESERVED = "-_.~"
DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class AwsKeys:
    """An access key with its secret half."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class BearerToken:
    """An API key of Bedrock's own."""

    token: str = field(repr=False)


Credentials = AwsKeys | BearerToken


def aws_credentials(environ: Mapping[str, str]) -> Credentials | None:
    """Return the credentials that the environment offers; None: there are none, or not all."""
    if token := environ.get("AWS_BEARER_TOKEN_BEDROCK"):
        return BearerToken(token)
    access, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if access and secret:
        return AwsKeys(access, secret, environ.get("AWS_SESSION_TOKEN") or None)
    return _shared(environ)


def region_of(environ: Mapping[str, str]) -> str:
    """Return the region that the environment names, else the default."""
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION


def _shared(environ: Mapping[str, str]) -> AwsKeys | None:
    home = Path(environ.get("HOME") or "~").expanduser()
    path = Path(environ.get("AWS_SHARED_CREDENTIALS_FILE") or home / ".aws" / "credentials")
    file = configparser.ConfigParser(interpolation=None)
    try:
        file.read(path, encoding="utf-8")
        found = file[environ.get("AWS_PROFILE") or "default"]
    except (OSError, KeyError, configparser.Error, UnicodeDecodeError):
        return None
    access, secret = found.get("aws_access_key_id"), found.get("aws_secret_access_key")
    if not (access and secret):
        return None
    return AwsKeys(access, secret, found.get("aws_session_token") or None)


@dataclass(frozen=True, slots=True)
class SigningScope:
    """The region and the service that a signature is for."""

    region: str
    service: str


Headers = Sequence[tuple[str, str]]


def signature_headers(
    method: str,
    target: str,
    *,
    headers: Headers,
    body: bytes,
    keys: AwsKeys,
    scope: SigningScope,
    now: datetime,
) -> tuple[tuple[str, str], ...]:
    """Return the headers to add to a request.

    `headers` are the ones to be signed, Host among them; `now` is in UTC.
    """
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
    """Return a query with each name and value encoded AWS's way, in order of the names."""
    pairs = [piece.partition("=") for piece in query.split("&") if piece]
    encoded = sorted(
        (quote(unquote(name), safe=_UNRESERVED), quote(unquote(value), safe=_UNRESERVED))
        for name, _, value in pairs
    )
    return "&".join(f"{name}={value}" for name, value in encoded)


def _key(keys: AwsKeys, day: str, scope: SigningScope) -> bytes:
    key = f"AWS4{keys.secret_key}".encode()
    for step in (day, scope.region, scope.service, "aws4_request"):
        key = _hmac(key, step)
    return key


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
