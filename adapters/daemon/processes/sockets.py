"""One address for several processes: a listening socket for each of them, made by their parent.

On Linux every process has a socket of its own at the same address (SO_REUSEPORT), and the kernel
deals connections out to them by their hash. With one socket for all, whoever is awake takes what
comes, and keeps it: a stream lives for hours, so those who connect in an idle hour would all be one
process's. That the parent holds the sockets as well makes up for the drawback of many: what waits
in the queue of a process that died is served by its successor, and nobody is refused meanwhile.

Elsewhere the kernel does not deal out, and all share one socket.
"""

import socket
import sys
from collections.abc import Sequence

from adapters.http.host.listeners import address_of, cannot_listen, listen

DEALT_OUT = sys.platform == "linux"

Place = tuple[socket.AddressFamily, tuple[str | int, ...]]
Sockets = Sequence[socket.socket]


async def bound(host: str, port: int, count: int) -> tuple[Sequence[Sockets], str]:
    """For each of so many processes its sockets, one at each address of the host, bound, but not
    listening yet: a process that does not is dealt nothing. And the address as it became.
    CannotStart if somebody listens there: nothing else would tell that another parent does."""
    trying = await listen(host, port)
    places: list[Place] = [(each.socket.family, each.socket.getsockname()) for each in trying]
    at = address_of(trying[0].socket)
    for each in trying:
        await each.aclose()
    try:
        if not DEALT_OUT:
            return [[_bound(place) for place in places]] * count, at
        return [[_bound(place) for place in places] for _ in range(count)], at
    except OSError as error:
        advice = "choose another address with --listen HOST:PORT"
        raise cannot_listen(error, f"listen {at}", advice) from error


def _bound(place: Place) -> socket.socket:
    family, address = place
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if DEALT_OUT:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound
