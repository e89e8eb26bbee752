"""The sockets of several processes behind one address, bound by their parent.

Each process gets one for each address of the host. On Linux it has sockets of its own, and the
kernel deals connections out to them by their hash: with one socket for all, the process that is
awake would take what comes, and keep streams that live for hours. The parent holds the sockets too,
so that connections in the queue of a process that died are served by its successor. Elsewhere the
kernel does not deal out, and all share one socket.
"""

import errno
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack

from adapters.http.host.listeners import address_of, cannot_listen

DEALT_OUT = sys.platform == "linux"
ADVICE = "choose another address with --listen HOST:PORT"

Place = tuple[socket.AddressFamily, tuple[str | int | bytes, ...]]
Sockets = Sequence[socket.socket]


def bind_sockets(host: str, port: int, count: int) -> tuple[Sequence[Sockets], str]:
    """Bind the sockets of so many processes, and return them with the address as it became.

    They do not listen yet: a process that does not is dealt nothing. Raise CannotStart if another
    program listens there.
    """
    at = f"{host}:{port}"
    try:
        places, at = _free_places(host, port)
        if not DEALT_OUT:
            return [[_bound(place) for place in places]] * count, at
        return [[_bound(place) for place in places] for _ in range(count)], at
    except OSError as error:
        raise cannot_listen(error, f"listen {at}", ADVICE) from error


def _free_places(host: str, port: int) -> tuple[Sequence[Place], str]:
    """Return the addresses of a host at which no process listens, and the first of them as a text.

    A name is looked up right here: nothing runs beside the parent of processes that start.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    with ExitStack() as trying:
        bound: list[socket.socket] = []
        unsupported: OSError | None = None
        for family, _, _, _, address in found:
            try:
                each = trying.enter_context(_bound((family, address), is_shared=False))
            except OSError as error:
                if error.errno != errno.EAFNOSUPPORT:
                    raise
                unsupported = error  # names may have addresses of IPv6 where the system has none
                continue
            each.listen(1)
            bound.append(each)
        if not bound:
            raise unsupported or OSError(errno.EADDRNOTAVAIL, "the host has no address")
        return [(each.family, each.getsockname()) for each in bound], address_of(bound[0])


def _bound(place: Place, *, is_shared: bool = True) -> socket.socket:
    family, address = place
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared and DEALT_OUT:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError:
        bound.close()
        raise
    return bound
