"""What a client asks: a head that was read, and a body that is read when somebody wants it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import h11

from adapters.http.host.capacity.places import Visitor


@dataclass(frozen=True, slots=True)
class Peer:
    """Whom a connection leads to, and how."""

    host: str = ""  # its address, as far as the system knows
    scheme: str = "http"


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Nothing of it is believed yet."""

    method: str
    path: str  # as sent: percent signs and all
    query: str  # as sent, without the question mark
    headers: Mapping[str, str]  # by their names in lower case; several of one name joined
    peer: Peer
    read: Callable[[int], Awaitable[bytes]] = field(repr=False)  # for `body`
    visitor: Visitor = field(default_factory=Visitor, repr=False)  # the same for a connection

    async def body(self, bytes_max: int) -> bytes:
        """All of it, once. Refused if it is longer, or does not come as it should."""
        return await self.read(bytes_max)

    @property
    def origin(self) -> str:
        """How the client says that it reached us."""
        return f"{self.peer.scheme}://{self.headers.get('host', '')}"


def request_of(
    head: h11.Request, peer: Peer, read: Callable[[int], Awaitable[bytes]], visitor: Visitor
) -> Request:
    path, _, query = _target(head.target.decode("ascii")).partition("?")
    method, headers = head.method.decode("ascii"), _joined(head.headers)
    return Request(method, path, query, headers, peer, read, visitor)


def _target(target: str) -> str:
    """Who asks a proxy names the whole address; what comes behind the host is for us."""
    scheme, separator, rest = target.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        _, slash, path = rest.partition("/")
        return slash + path if slash else "/"
    return target


def _joined(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for raw_name, raw_value in headers:
        name, value = raw_name.decode("ascii"), raw_value.decode("latin-1")
        if name in joined:
            value = joined[name] + ("; " if name == "cookie" else ", ") + value
        joined[name] = value
    return joined
