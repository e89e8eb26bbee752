"""The functions that need the SDK, which is loaded when the first server is spoken with.

That happens in a thread, while everything else goes on. A caller that comes meanwhile waits for it.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import trio

from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.http import ServerAddress, Visit
from adapters.workspaces.commands.process_groups import Lifeline
from adapters.workspaces.commands.processes import ProcessSpec
from runtime.threads import ThreadLimits, read

if TYPE_CHECKING:
    from mcp.client.client import Client

# Of a machine that is busy; then the server cannot be used, and the next use waits for the rest.
LOAD_SECONDS_MAX = 60.0

_ONE_BY_ONE = ThreadLimits("mcp_loading", 1)


@dataclass(frozen=True, slots=True)
class SdkFunctions:
    """Two ways to open a session. Entering one agrees on a version of the protocol."""

    connect: Callable[[ServerAddress, Visit], AbstractAsyncContextManager["Client"]]
    start: Callable[[ProcessSpec, Lifeline], AbstractAsyncContextManager["Client"]]


async def load_sdk() -> SdkFunctions:
    """Return the SDK's functions, loaded by the first call. `ServerFault`: not within its time.

    A caller that gives a server a limit in seconds awaits this first: the limit is the server's.
    """
    if not load.cache_info().currsize:
        try:
            with trio.fail_after(LOAD_SECONDS_MAX):
                await read(_ONE_BY_ONE, load)
        except trio.TooSlowError:
            seconds = f"{LOAD_SECONDS_MAX:g} s"
            raise ServerFault(f"the MCP SDK was not loaded within {seconds}") from None
    return load()


@cache
def load() -> SdkFunctions:
    from adapters.tools.mcp.sdk.clients import client_over, connect
    from adapters.tools.mcp.sdk.pipes import open_program

    return SdkFunctions(connect, lambda order, lifeline: client_over(open_program(order, lifeline)))
