"""What the API consists of: one row for each method and path.

Everything is made of these rows: who is called for a request, what is asked of whom before, the
document at /openapi.json, and the table of who may do what that the tests go through.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from uuid import UUID

import msgspec

from actors.law.ids import UserId
from adapters.http.refusals import HttpError, Validation, body_refused

BODY_BYTES_MAX = 4 * 1024 * 1024  # of a request, where its row does not say less; then 413
RATE_PER_MINUTE = 512  # of one user on one row; then 429

_Wanted = TypeVar("_Wanted")


class Access(Enum):
    """Who is let in at the door. What he may see and do there is for the handler to say."""

    OPEN = "open"  # anybody; the handler is told who it is, if somebody says so
    USER = "user"  # who has shown a token or a session
    ADMIN = "admin"  # who is an owner of this deployment as well; others get 403
    HIDDEN = "hidden"  # likewise, but others get 404


class Via(Enum):
    """How a caller showed who he is: what a browser sends by itself proves less."""

    COOKIE = "cookie"
    QUERY = "query"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks."""

    id: UserId
    username: str
    is_admin: bool
    scopes: frozenset[str]  # of the token
    token: str  # its id, never its secret
    via: Via

    def may(self, scope: str) -> bool:
        return "all" in self.scopes or scope in self.scopes


@dataclass(frozen=True, slots=True)
class Head:
    """What of a request says who asks."""

    method: str
    path: str  # without the query
    headers: Mapping[str, str]  # by their names in lower case
    query: Sequence[tuple[str, str]] = ()
    foreign_page: str | None = None  # in words: a page of somebody else made a browser ask

    def parameter(self, name: str) -> str:
        """The first that is not empty."""
        return next((value for key, value in self.query if key == name and value), "")


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as a handler gets it: let in, its body read, nothing of it believed yet."""

    caller: Caller | None  # None: nobody said who it is; only where a row is OPEN
    path: Mapping[str, str]  # what stood in the places of the row's path
    query: Sequence[tuple[str, str]]
    headers: Mapping[str, str]  # by their names in lower case; several of one name joined by commas
    body: bytes
    origin: str = ""  # how the client says that it reached us: http://HOST:PORT
    address: str = ""  # of the other side of the connection
    links_lead_to: str | None = None  # None: nothing but this request's Host says where we are

    @property
    def user(self) -> Caller:
        assert self.caller is not None, "only an OPEN row is called for nobody"
        return self.caller

    def link(self, path: str) -> str:
        """The address of a path of ours, for others to follow. Refused if only this request's
        Host says how it begins: they would be led where its sender wants."""
        if self.links_lead_to is None:
            raise HttpError(
                409,
                "This daemon does not know the address by which it is reached.",
                detail="set access_url to it (--access-url, PROMPTCORNER_ACCESS_URL): without it"
                " links can be made only for who asks at localhost or where the daemon listens",
            )
        return self.links_lead_to + path

    def uuid(self, name: str) -> UUID:
        """The id in the path. Refused if it is none."""
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
        """A parameter of the query that makes sense once. Refused if it comes twice."""
        values = [value for key, value in self.query if key == name]
        if len(values) > 1:
            detail = f"given {len(values)} times, give it once"
            raise HttpError(
                400, "invalid query parameters", validations=(Validation(name, detail),)
            )
        return values[0] if values else None

    def read(self, wanted: type[_Wanted]) -> _Wanted:
        """The body as a message of the wire. Refused if it is none."""
        try:
            return msgspec.json.decode(_first_value(self.body), type=wanted, strict=True)
        except msgspec.DecodeError as error:
            raise body_refused(error) from None
        except RecursionError:
            raise body_refused(msgspec.DecodeError("it is nested too deep")) from None


def _first_value(body: bytes) -> bytes:
    """What follows the first JSON value is nobody's business."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except RecursionError:
        pass  # who reads it says so
    except msgspec.DecodeError as error:
        at = str(error).rpartition("(byte ")[2].rstrip(")")
        if "trailing characters" in str(error) and at.isdecimal():
            return body[: int(at) - 1]
    return body


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """What a client gets: bytes that are there, or that come as they are made."""

    status: int
    body: bytes | AsyncIterator[bytes] = b""
    media_type: str = "application/json; charset=utf-8"
    headers: Sequence[tuple[str, str]] = ()


_encode = msgspec.json.Encoder().encode


def json_response(
    status: int, document: object, headers: Sequence[tuple[str, str]] = ()
) -> HttpResponse:
    """A document of the wire: one line of JSON."""
    return HttpResponse(status, _encode(document) + b"\n", headers=headers)


def no_content(status: int = 204, headers: Sequence[tuple[str, str]] = ()) -> HttpResponse:
    """There is nothing to say about it."""
    return HttpResponse(status, b"", headers=headers)


class SocketClosed(Exception):
    """The other side has gone, or does not read: nothing can be sent any more."""


class Socket(Protocol):
    """A WebSocket that stands. It answers pings, and looks after the other side's life itself."""

    def hear(self, heard: Callable[[bytes], bool], *, bytes_max: int) -> None:
        """From now on the other side may say something: whole messages of bytes. One that is
        longer, or for which `heard` says False, ends the socket; so does any, before this."""
        ...

    async def send(self, frames: bytes) -> None:
        """Whole frames, as `framed` makes them: the same bytes for however many sockets. Bounded:
        a client that does not read is cut off, and `SocketClosed` raised."""
        ...

    def send_at_once(self, frames: bytes) -> int:
        """How many of these bytes could be sent without waiting. What is left, if it is not all,
        goes before whatever is sent next: `send` it nothing, and soon."""
        ...

    async def close(self, code: int, reason: str = "") -> None:
        """Say goodbye, within a bound. A second one does nothing."""
        ...

    async def until_closed(self) -> None:
        """Wait until the other side is gone."""
        ...


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The client becomes a socket, served until `serve` returns; that closes it with 1000. So does
    a `SocketClosed` that comes out of it. What is served should be acquired in `serve`: it is not
    called for who may not become a socket."""

    serve: Callable[[Socket], Awaitable[None]]


Handler = Callable[[Call], Awaitable[HttpResponse | Upgrade]]

NO_SCHEMA: Mapping[int, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Of the query, for those who read the document."""

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
    scope: str = "chats"  # that a token has to have; "all" has every one
    body: Any = None  # a type of the wire, for the document; the handler reads it in its turn
    example: Any = None  # of such a body
    body_bytes_max: int = BODY_BYTES_MAX
    rate_per_minute: int = RATE_PER_MINUTE
    answers: Mapping[int, Any] = field(default_factory=lambda: NO_SCHEMA)  # None: without a body
    refusals: Sequence[int] = ()  # beside those that every row has: 400, 401, 403, 404, 413, 429
    parameters: Sequence[Parameter] = ()
    is_socket: bool = False
    when_full: bool = False  # served also where otherwise only admins are
    sets_cookies: bool = False  # pages of others may not make a browser ask, whoever it is for


class Routes(Protocol):
    """A subject of the API: it knows what it needs, and which rows it answers."""

    def endpoints(self) -> Sequence[Endpoint]: ...
