"""Listeners of a server: opened, or refused in words that say what to do."""

import errno
import socket
from collections.abc import Sequence

import trio

from adapters.http.host.bounds import BACKLOG
from adapters.http.host.server import HttpServer
from adapters.settings.refusals import CannotStart


class Listeners:
    """The sockets where clients come in.

    Those of a process that is one of several stay shut until it can serve. Meanwhile the others
    serve, and a client that the system deals to this process waits.
    """

    def __init__(
        self, listeners: Sequence[trio.SocketListener], bound: Sequence[socket.socket] = ()
    ) -> None:
        self.listeners = list(listeners)
        self._bound = bound
        self._are_open = False
        self.address = address_of(bound[0] if bound else listeners[0].socket)

    def open(self, server: HttpServer, nursery: trio.Nursery) -> None:
        """Let clients in. A second call does nothing."""
        if self._are_open:
            return
        self._are_open = True
        for each in self._bound:
            each.listen(BACKLOG)
            self.listeners.append(trio.SocketListener(trio.socket.from_stdlib_socket(each)))
        nursery.start_soon(server.serve, self.listeners)


async def listen(
    host: str,
    port: int,
    *,
    subject: str = "listen",
    advice: str = "choose another address with --listen HOST:PORT",
) -> list[trio.SocketListener]:
    """Open listeners at an address. Raise CannotStart if the system does not let us."""
    try:
        return await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    except OSError as error:
        raise cannot_listen(error, f"{subject} {host}:{port}", advice) from error


def cannot_listen(error: OSError, subject: str, advice: str) -> CannotStart:
    """Make the refusal of an address at which we cannot listen."""
    taken = error.errno == errno.EADDRINUSE
    fact = (
        "another program listens there already" if taken else (error.strerror or str(error)).lower()
    )
    return CannotStart(subject, fact, advice)


def address_of(bound: socket.socket | trio.socket.SocketType) -> str:
    """Return the HOST:PORT of a bound socket, where port 0 may have been asked for."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
