"""The API: one row for each method and path.

Everything is made of these rows: which handler is called for a request, what its caller has to
show before, the document at /openapi.json, and the table of access that the tests go through.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from uuid import UUID

import msgspec

from actors.law.ids import UserId
from actors.law.parts.json_text import NESTING_MAX, nests_too_deep
from adapters.http.origins import OwnAddress
from adapters.http.refusals import HttpError, Validation, body_refused, query_refused

BODY_BYTES_MAX = 4 * 1024 * 1024  # of a request, where its row does not say less; then 413
RATE_PER_MINUTE = 512  # of one user on one row; then 429
NUMBER_MAX = 2**63 - 1  # what the database counts with; a larger one is refused

ALL = "all"  # the scope that covers every other one
AREAS = ("chats", "models", "settings", "users")
READ_CHATS, READ_USERS = "chats:read", "users:read"
SCOPES = (ALL, *AREAS, *(f"{area}:read" for area in AREAS))
READING = frozenset({"GET", "HEAD"})  # methods that change nothing

TOO_DEEP = msgspec.DecodeError("it is nested too deep")
NO_ADDRESS = OwnAddress()

# These paths began with EXPERIMENTAL at first, and older clients still ask there.
STABLE, EXPERIMENTAL = "/api/v2", "/api/experimental"
PROMOTED = (
    "/chats",
    "/organizations/{organization}/chats",
    "/organizations/{organization}/mcp-servers",
    "/users/{user}/ai-provider-keys",
    "/mcp/servers/{server}/oauth2/disconnect",
)

_Body = TypeVar("_Body")
_WHOLE = re.compile(r"[0-9]{1,19}", re.ASCII)


class Access(Enum):
    """The callers that the door lets in. The handler decides what they may see and do there."""

    OPEN = "open"  # everybody; the handler is told the caller, if a good token was shown
    USER = "user"  # callers with a token or a session
    ADMIN = "admin"  # of those the owners of this deployment; others get 403
    HIDDEN = "hidden"  # likewise, but others get 404


class TokenSource(Enum):
    """The place where a request carried its token. What a browser sends by itself proves less."""

    COOKIE = "cookie"
    QUERY = "query"
    HEADER = "header"
    IDENTITY = "identity"  # it carried none: an identity source of a plugin knew its user


@dataclass(frozen=True, slots=True)
class Caller:
    """The user on whose behalf a request was sent, and what the token allows."""

    id: UserId
    username: str
    is_admin: bool
    scopes: frozenset[str]  # of the token
    token: str  # its id, never its secret
    via: TokenSource
    # When the token ends, by the clock of the run, if it is not used any more.
    until: float = field(default=inf, compare=False)

    def may(self, scope: str) -> bool:
        """Return whether the token covers a scope. An empty one is covered by every token."""
        return not scope or ALL in self.scopes or scope in self.scopes


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as a handler gets it: let in and with its body read, but not yet checked."""

    caller: Caller | None  # None: no token was shown; only where a row is OPEN
    path: Mapping[str, str]  # what stood in the places of the row's path
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]  # by their names in lower case; several of one name joined by commas
    body: bytes
    address: str = ""  # of the other side of the connection
    scheme: str = "http"  # of the connection
    own: OwnAddress = NO_ADDRESS
    arrived: float | None = None  # when its head was read, by the kernel's clock

    @property
    def user(self) -> Caller:
        """The caller of a row that is not OPEN."""
        assert self.caller is not None, "only an OPEN row is called without a caller"
        return self.caller

    @property
    def origin(self) -> str:
        """The address at which the client reached us: as configured, or as the client says."""
        return self.own.access_url or f"{self.scheme}://{self.headers.get('host', '')}"

    def link(self, path: str) -> str:
        """Return the address of a path of ours, for other people to follow.

        It is refused if only the Host of this request says how it begins: then it would lead other
        people where the sender of this request wants.
        """
        begin = self.own.links_lead_to(self.scheme, self.headers.get("host", ""))
        if begin is None:
            raise HttpError(
                409,
                "This daemon does not know the address by which it is reached.",
                detail="set access_url to it (--access-url, PROMPTCORNER_ACCESS_URL): without it"
                " links can be made only for requests to localhost or to where the daemon listens",
            )
        return begin + path

    def uuid(self, name: str) -> UUID:
        """Return the id in the path. Text that is no UUID is refused."""
        try:
            return UUID(self.path[name])
        except ValueError:
            raise HttpError(
                400,
                f"invalid {name} id",
                detail=f"{self.path[name]!r} is not a UUID",
                validations=(Validation(name, "must be a UUID"),),
            ) from None

    def one(self, name: str) -> str | None:
        """Return a parameter of the query that makes sense once. A repeated one is refused."""
        values = [value for key, value in self.query if key == name]
        if len(values) > 1:
            raise query_refused(name, f"given {len(values)} times, give it once")
        return values[0] if values else None

    def read(self, schema: type[_Body]) -> _Body:
        """Return the body as a message of the wire, or refuse it.

        Only the first JSON value counts. What follows it is ignored, as clients of this API expect.
        """
        brackets = self.body.count(b"[") + self.body.count(b"{")
        if brackets > NESTING_MAX and nests_too_deep(self.body.decode(errors="replace")):
            raise body_refused(TOO_DEEP)
        try:
            try:
                return msgspec.json.decode(self.body, type=schema)
            except msgspec.DecodeError as error:
                size = _size_of_first_value(error)
                if size is None:
                    raise
                return msgspec.json.decode(self.body[:size], type=schema)
        except msgspec.DecodeError as error:
            raise body_refused(error) from None
        except RecursionError:
            raise body_refused(TOO_DEEP) from None


def _size_of_first_value(error: msgspec.DecodeError) -> int | None:
    """Return where the first JSON value ended, if something behind it is all that is wrong."""
    at = str(error).rpartition("(byte ")[2].rstrip(")")
    return int(at) - 1 if "trailing characters" in str(error) and at.isdecimal() else None


def number(
    call: Call, name: str, *, default: int = 0, minimum: int = 0, maximum: int = NUMBER_MAX
) -> int:
    """Return a number of the query, or `default` if it is not there. Any other text is refused."""
    text = call.one(name)
    if not text:
        return default
    value = _whole_number(text)
    if value is None:
        raise query_refused(name, f"{text[:32]!r} is not a whole number")
    if not minimum <= value <= maximum:
        raise query_refused(name, f"{value} is not {minimum} to {maximum}")
    return value


def flag(call: Call, name: str) -> bool:
    """Return whether a flag of the query is set. What is neither true nor false is refused."""
    text = call.one(name) or "false"
    if text not in ("true", "false"):
        raise query_refused(name, f"{text[:32]!r} is neither true nor false")
    return text == "true"


def row_id(call: Call, name: str) -> int:
    """Return the number in the path that names a row. Text that cannot be one is refused."""
    value = _whole_number(call.path[name])
    if not value:
        raise HttpError(
            400,
            f"invalid {name} id",
            detail=f"{call.path[name][:32]!r} is not a whole number above 0",
            validations=(Validation(name, "must be a whole number above 0"),),
        )
    return value


def _whole_number(text: str) -> int | None:
    value = int(text) if _WHOLE.fullmatch(text) else None
    return None if value is None or value > NUMBER_MAX else value


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """A response: bytes that are there, or that come as they are made."""

    status: int
    body: bytes | AsyncIterator[bytes] = b""
    media_type: str = "application/json; charset=utf-8"
    headers: Sequence[tuple[str, str]] = ()


_encode = msgspec.json.Encoder().encode


def json_response(
    status: int, document: object, headers: Sequence[tuple[str, str]] = ()
) -> HttpResponse:
    """Make a response of a document of the wire: one line of JSON."""
    return HttpResponse(status, _encode(document) + b"\n", headers=headers)


def no_content(status: int = 204, headers: Sequence[tuple[str, str]] = ()) -> HttpResponse:
    """Make a response without a body."""
    return HttpResponse(status, b"", headers=headers)


class SocketClosed(Exception):
    """The other side has gone, or does not read: nothing can be sent any more."""


class Socket(Protocol):
    """A WebSocket that is open. It answers pings, and checks itself that the other side lives."""

    def hear(self, heard: Callable[[bytes], bool], *, bytes_max: int, text: bool = False) -> None:
        """Let the other side say something from now on: whole messages of bytes, or of text, which
        comes as UTF-8.

        A message that is longer, or for which `heard` returns False, ends the socket. So does any
        message before this was called.
        """
        ...

    async def send(self, frames: bytes) -> None:
        """Send whole frames, as `framed` makes them: the same bytes for however many sockets.

        A client that does not read within a bound is cut off, and `SocketClosed` is raised.
        """
        ...

    def send_at_once(self, frames: bytes) -> int:
        """Send what can be sent without waiting, and return the number of these bytes.

        What is left, if it is not all, goes before whatever is sent next: `send` nothing, and soon.
        """
        ...

    async def close(self, code: int, reason: str = "") -> None:
        """Close the socket, within a bound. A second call does nothing."""
        ...

    async def until_closed(self) -> None:
        """Wait until the other side is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The connection becomes a socket, served until `serve` returns, which closes it with 1000. A
    `SocketClosed` that `serve` raises closes it likewise. What is served should be acquired in
    `serve`: it is not called for a client that may not become a socket."""

    serve: Callable[[Socket], Awaitable[None]]


Handler = Callable[[Call], Awaitable[HttpResponse | Upgrade]]

NO_SCHEMA: Mapping[int, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of the query, for the readers of the document."""

    name: str
    type: Any = str
    help: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One row."""

    method: str
    path: str  # "/api/…/{chat}/messages": names in braces stand for one segment each
    handle: Handler
    summary: str  # one line for the readers of the document
    tag: str
    access: Access = Access.USER
    scope: str = "chats"  # that a token has to have; "all" has every one; "": none is needed
    body: Any = None  # a type of the wire, for the document; the handler reads it in its turn
    example: Any = None  # of such a body
    body_may_be_left_out: bool = False
    body_bytes_max: int = BODY_BYTES_MAX
    rate_per_minute: int = RATE_PER_MINUTE
    answers: Mapping[int, Any] = field(default_factory=lambda: NO_SCHEMA)  # None: without a body
    refusals: Sequence[int] = ()  # beside those that every row has: 400, 401, 403, 404, 413, 429
    parameters: Sequence[Parameter] = ()
    is_socket: bool = False
    served_when_full: bool = False  # on connections without a place, which are else for admins
    # Answers have an ETag, by which clients ask whether there is anything new.
    has_etag: bool = False
    sets_cookies: bool = False  # refused to pages of others, whichever user it is for
    is_page: bool = False  # for people: without a session they are sent to where one logs in
    # A form sends this without a script, so the handler checks the CSRF value.
    takes_form: bool = False
    takes_rest: bool = False  # the last name in braces stands for one segment or more

    @property
    def addresses(self) -> Sequence[str]:
        """Every path at which this row is served: its own one, then the older one if there is one.

        Requests at both paths are counted together and answered alike.
        """
        rest = self.path.removeprefix(STABLE)
        is_promoted = rest != self.path and any(
            rest == begin or rest.startswith(f"{begin}/") for begin in PROMOTED
        )
        return (self.path, EXPERIMENTAL + rest) if is_promoted else (self.path,)

    @property
    def needed_scope(self) -> str:
        """The scope that a token has to have for this row. An area alone is for changing it."""
        is_reading = self.method in READING and self.scope in AREAS
        return f"{self.scope}:read" if is_reading else self.scope


class Routes(Protocol):
    """A subject of the API: it has what its handlers need, and lists its rows."""

    def endpoints(self) -> Sequence[Endpoint]: ...


def with_implied_scopes(scopes: Iterable[str]) -> frozenset[str]:
    """Return scopes with those that they imply: to change an area includes to read it."""
    given = frozenset(scopes)
    return given | {f"{area}:read" for area in AREAS if area in given}
