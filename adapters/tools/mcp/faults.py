"""The faults of servers, in words that hold no secret. Pure."""

import re
from collections.abc import Iterator
from typing import Protocol, runtime_checkable
from urllib.parse import urlsplit

import httpx2
import trio

from adapters.tools.mcp.servers import McpServer
from runtime.ends import holds_assertion

SAID_CHARACTERS_MAX = 300  # of what a server or its connection says; the rest is cut
BUG = "what speaks with it failed by a mistake of its own; the log of the daemon says more"
SECRET_CHARACTERS_MIN = 4  # anything shorter would tear holes into ordinary words
# What the SDK says for itself, in the codes of its errors.
CONNECTION_CLOSED, INTERNAL_ERROR = -32000, -32603

_ADDRESS = re.compile(r"\b(https?)://[^\s'\"<>]+")


class ServerFault(Exception):
    """A server did not do what it was asked. The words are for models and administrators.

    `status` is that of its answer, if it was a refusal over HTTP; `shown` is the token that it
    refused, and `wanted` are the scopes that it misses there.
    """

    def __init__(self, words: str, status: int = 0, shown: str = "", wanted: str = "") -> None:
        super().__init__(words)
        self.status = status
        self.shown = shown
        self.wanted = wanted


@runtime_checkable
class SdkError(Protocol):
    """The SDK's own error, known by two fields that no other error has together. The SDK is not
    imported for this (see `adapters.tools.mcp.sdk`)."""

    code: int
    message: str


_TELLING = (ServerFault, SdkError, httpx2.HTTPError)  # more than what they come of


def words_for(error: BaseException, *hidden: str) -> str:
    """Return the first thing that went wrong, in words for models and administrators."""
    if holds_assertion(error):
        return BUG
    match root_error(error):
        case SdkError() as said:
            words = said.message
        case httpx2.HTTPStatusError() as refused:
            words = f"it answered {refused.response.status_code}"
        case httpx2.TimeoutException() | trio.TooSlowError():
            words = "it did not answer in time"
        case httpx2.ConnectError():
            words = "it cannot be reached"
        case UnicodeDecodeError():
            words = "what it said is not UTF-8"
        case httpx2.InvalidURL() | UnicodeError():  # the latter of a name that is none
            words = "its address is none"
        case httpx2.NetworkError():
            words = "the connection broke"
        case httpx2.ProtocolError():
            words = "it does not speak HTTP as it should"
        case ValueError():  # of the SDK, of JSON: they show what they have read, as Python does
            words = "what it said makes no sense"
        case FileNotFoundError():
            words = "there is no such program"
        case other:
            words = str(other) or type(other).__name__
    return scrub(" ".join(words.split()), *hidden)[:SAID_CHARACTERS_MAX]


def scrub(text: str, *hidden: str) -> str:
    """Return the text without secrets, and with addresses cut to what everybody may see."""
    for secret in sorted(hidden, key=len, reverse=True):
        if len(secret) >= SECRET_CHARACTERS_MIN:
            text = text.replace(secret, "…")
    return _ADDRESS.sub(lambda found: _bare(found[0]), text)


def secrets_of(server: McpServer, *more: str) -> Iterator[str]:
    """Yield everything that is secret about a server."""
    secrets = server.secrets
    yield from (secrets.oauth2_client_secret, secrets.api_key_value, *more)
    yield from secrets.custom_headers.values()
    parts = urlsplit(server.config.url)
    yield from filter(None, (parts.password, parts.username, parts.query, parts.fragment))


def root_error(error: BaseException) -> BaseException:
    """Return the error that all others came of."""
    while True:
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        elif error.__cause__ is not None and not isinstance(error, _TELLING):
            error = error.__cause__
        else:
            return error


def _bare(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "…"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
