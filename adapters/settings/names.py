"""Names of hosts, looked up in threads of their own, and `run`, with which every program begins.

trio, and with it every library that connects through it, would look names up among all other
blocking work, so that a disk that hangs would cut us off from the network. A host whose name server
is silent holds its own threads, and no others.
"""

import socket
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

import trio

from runtime.threads import ThreadLimits, ThreadsBlocked, read

# A name that is slow takes `per_key_max` threads; others are looked up meanwhile. A caller that
# finds no thread is told that the name servers do not answer.
LOOK_UPS = ThreadLimits("name_lookups", 32, per_key_max=4, wait_seconds=10.0)

Result = TypeVar("Result")


class Resolver(trio.abc.HostnameResolver):
    """The resolver that trio asks for every name that is not an address already."""

    async def getaddrinfo(
        self,
        host: bytes | None,
        port: bytes | str | int | None,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> Any:
        look = partial(socket.getaddrinfo, host, port, family, type, proto, flags)
        return await look_up(look, (host or b"").decode())

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        return await look_up(partial(socket.getnameinfo, sockaddr, flags), sockaddr[0])


async def look_up(look: Callable[[], Result], host: str) -> Result:
    """Ask the system about a name. OSError: it does not know, or all threads wait for it."""
    try:
        return await read(LOOK_UPS, look, key=host)
    except ThreadsBlocked as blocked:
        raise socket.gaierror(
            socket.EAI_AGAIN, f"{host}: the name servers do not answer"
        ) from blocked


def run(main: Callable[..., Awaitable[Result]], *arguments: object) -> Result:
    """Run a program on trio, its names looked up as above."""

    async def resolved() -> Result:
        trio.socket.set_custom_hostname_resolver(Resolver())
        return await main(*arguments)

    return trio.run(resolved)
