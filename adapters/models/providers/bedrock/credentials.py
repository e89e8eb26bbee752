"""Where credentials for AWS come from, if nobody configured any: environment, then shared file.

Roles of machines, single sign-on and credential processes are not asked: whoever uses them exports
their credentials to the environment.
"""

import configparser
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adapters.models.providers.bedrock.signing import Keys

DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class Bearer:
    """An API key of Bedrock's own."""

    token: str = field(repr=False)


Credentials = Keys | Bearer


def ambient(environ: Mapping[str, str]) -> Credentials | None:
    """What the environment offers; None: nothing, or nothing complete."""
    if token := environ.get("AWS_BEARER_TOKEN_BEDROCK"):
        return Bearer(token)
    access, secret = environ.get("AWS_ACCESS_KEY_ID"), environ.get("AWS_SECRET_ACCESS_KEY")
    if access and secret:
        return Keys(access, secret, environ.get("AWS_SESSION_TOKEN") or None)
    return _shared(environ)


def region_of(environ: Mapping[str, str]) -> str:
    return environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION") or DEFAULT_REGION


def _shared(environ: Mapping[str, str]) -> Keys | None:
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
    return Keys(access, secret, found.get("aws_session_token") or None)
