"""Addresses of git remotes, as they may be shown. Pure."""

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

_HTTP = ("http", "https")
_HELPERS = re.compile(r"(?:[\w-]+::)+")  # the programs that git is to ask for what is behind them


def without_secrets(address: str) -> str:
    """Return a remote's address without the password or token that may stand in it."""
    address = address.strip()
    helpers = _HELPERS.match(address)
    if helpers is not None:
        return helpers[0] + _without_user(address[helpers.end() :])
    return _without_user(address)


def _without_user(address: str) -> str:
    parts = _split(address)
    if parts is None or "@" not in parts.netloc:
        return address
    user, _, place = parts.netloc.rpartition("@")
    # A token may be the name of the user as well, but over ssh the user is how one gets in.
    name = "" if parts.scheme in _HTTP else user.partition(":")[0]
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place))


def _split(address: str) -> SplitResult | None:
    """Return the parts of an address that has a scheme, or None."""
    try:
        parts = urlsplit(address)
    except ValueError:  # a bracket that is not closed
        return None
    return parts if "://" in address and parts.scheme else None
