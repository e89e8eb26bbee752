"""A request as the host hands it to the door: a head that was read, and a body that is read when it
is needed."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

import trio

from adapters.http.refusals import HttpError, Validation
from runtime.scope import CausedScope

PARAMETERS_MAX = 100  # of a query; then 400


@dataclass(slots=True, eq=False)
class ClientConnection:
    """A connection, and what is known by now of its other end."""

    host: str = ""  # its address, as far as the system knows
    scheme: str = "http"
    is_known: bool = False  # a good token was shown on it
    is_beside: bool = False  # it has no place: one request of an admin is served, no other one
    scope: CausedScope = field(default_factory=CausedScope)
    # Tells whether it has sent something that we have not read so far.
    is_unread: Callable[[], bool] = field(default=lambda: False, repr=False)


@dataclass(slots=True)
class HttpRequest:
    """One request. Nothing of it is checked yet."""

    method: str
    path: str  # as sent: percent signs and all
    query_text: str  # as sent, without the question mark
    headers: Mapping[str, str]  # by their names in lower case; several of one name joined
    client: ClientConnection = field(default_factory=ClientConnection)
    # Reads the whole body, once. It is refused if it has more bytes, or does not come as it should.
    read_body: Callable[[int], Awaitable[bytes]] = field(repr=False, default=lambda _: no_body())
    foreign_page: str | None = None  # in words: a page of another site made a browser ask
    segments: Sequence[str] = field(init=False)  # what stands between the slashes of the path
    _query: Sequence[tuple[str, str]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.segments = segments(self.path)

    @property
    def query(self) -> Sequence[tuple[str, str]]:
        """The parameters of the query. A query that has too many of them is refused."""
        if self._query is None:
            self._query = _parameters(self.query_text) if self.query_text else ()
        return self._query

    def parameter(self, name: str) -> str:
        """Return the first parameter of this name that is not empty, or "" without one."""
        return next((value for key, value in self.query if key == name and value), "")


async def no_body() -> bytes:
    """Return the body of a request that has none."""
    await trio.lowlevel.checkpoint()
    return b""


def segments(path: str) -> list[str]:
    """Return what stands between the slashes, with the percent signs resolved."""
    return [unquote(part) if "%" in part else part for part in path.split("/") if part]


def _parameters(text: str) -> list[tuple[str, str]]:
    try:
        query = parse_qsl(text, keep_blank_values=True, max_num_fields=PARAMETERS_MAX)
    except ValueError:
        detail = f"there are more than {PARAMETERS_MAX}"
        raise HttpError(400, "invalid query parameters", detail=detail) from None
    for name, value in query:
        if "\0" in name or "\0" in value:
            raise HttpError(
                400,
                "invalid query parameters",
                validations=(Validation(name.replace("\0", ""), "has a zero byte in it"),),
            )
    return query
