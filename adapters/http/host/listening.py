"""Where a server listens: opened, or refused in words that say what to do."""

import errno
import socket
from collections.abc import Sequence

import trio

from adapters.http.host.bounds import BACKLOG
from adapters.http.host.server import HttpServer
from adapters.settings.refusals import CannotStart


class Doors:
    """Where clients come in. Those of a process that is one of several stay shut until it can
    serve: meanwhile others do, and whoever is dealt to this one waits."""

    def __init__(
        self, listeners: Sequence[trio.SocketListener], bound: Sequence[socket.socket] = ()
    ) -> None:
        self.listeners = list(listeners)
        self._bound = bound
        self._are_open = False
        self.address = address(bound[0] if bound else listeners[0].socket)

    def open(self, server: HttpServer, nursery: trio.Nursery) -> None:
        """A second time it does nothing."""
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
    try:
        return await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    except OSError as error:
        raise cannot_listen(error, f"{subject} {host}:{port}", advice) from error


def cannot_listen(error: OSError, subject: str, advice: str) -> CannotStart:
    taken = error.errno == errno.EADDRINUSE
    fact = "somebody listens there already" if taken else (error.strerror or str(error)).lower()
    return CannotStart(subject, fact, advice)


def address(bound: socket.socket | trio.socket.SocketType) -> str:
    """HOST:PORT as it became, where port 0 was asked for."""
    host, port = bound.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
