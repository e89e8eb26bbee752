"""The challenges of servers that refuse a request, and the scopes that users are asked for. Pure.

A server says in `WWW-Authenticate` what a token has to allow (RFC 6750, RFC 9728). It is not
trusted: what is no scope, or too long, counts as if it had not been said.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from adapters.tools.mcp.oauth.metadata import TEXT_CHARACTERS_MAX, scopes_of, url_of

HEADER_CHARACTERS_MAX = 8_192  # of a challenge; what is longer is not read
INSUFFICIENT = "insufficient_scope"
OFFLINE = "offline_access"  # the scope that OpenID Connect has for refresh tokens

_PART = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*("(?:[^"\\]|\\.)*"|[^\s,"]*))?')
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]+")


@dataclass(frozen=True, slots=True)
class Challenge:
    """The challenge of a server that wants a bearer token; what it does not say is empty."""

    scopes: str = ""
    metadata_url: str = ""  # of the protected resource
    error: str = ""


def challenge_of(header: str) -> Challenge:
    """Return what the values of `WWW-Authenticate`, joined by commas, say of bearer tokens."""
    said: dict[str, str] = {}
    scheme = ""
    for name, value in _PART.findall(header[:HEADER_CHARACTERS_MAX]):
        if not value:
            scheme = name.lower()
        elif scheme == "bearer":
            said.setdefault(name.lower(), _plain(value))
    return Challenge(
        joined(said.get("scope", "")), url_of(said, "resource_metadata"), said.get("error", "")
    )


def wanted_scopes(status: int, header: str) -> str:
    """Return the scopes that a refused token has not, or "" if that is not why it was refused."""
    challenge = challenge_of(header) if status == 403 else Challenge()
    return challenge.scopes if challenge.error == INSUFFICIENT else ""


def chosen_scopes(
    challenge: Challenge, resource: Mapping[str, Any], authorization: Mapping[str, Any]
) -> str:
    """Return the scopes to ask a user for: those of the challenge, or else all that the resource
    has, or else none; and a token that can be renewed, where that is a scope of its own."""
    scopes = challenge.scopes or joined(scopes_of(resource))
    has_offline = OFFLINE in scopes_of(authorization).split()
    return joined(scopes, OFFLINE) if scopes and has_offline else scopes


def joined(*scopes: str) -> str:
    """Return all of these scopes, each once; "" if that is too long to be kept."""
    found = [each for text in scopes for each in text.split(" ") if _SCOPE.fullmatch(each)]
    text = " ".join(dict.fromkeys(found))
    return text if len(text) <= TEXT_CHARACTERS_MAX else ""


def are_within(scopes: str, others: str) -> bool:
    return set(scopes.split()) <= set(others.split())


def _plain(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
