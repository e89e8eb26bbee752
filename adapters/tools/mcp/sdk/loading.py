"""What speaks with servers, loaded when the first of them is spoken with.

That happens in a thread, while everything else goes on. Who comes meanwhile waits for it, and finds
it done.
"""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import trio

from adapters.tools.mcp.faults import Fault
from adapters.tools.mcp.http import Address, Visit
from adapters.workspaces.commands.process_groups import Lifeline
from adapters.workspaces.commands.processes import ProcessSpec
from runtime.threads import ThreadLimits, read

if TYPE_CHECKING:
    from mcp.client.client import Client

# Of a machine that is busy; then the server cannot be used, and the next use waits for the rest.
LOAD_SECONDS_MAX = 60.0

_ONE_BY_ONE = ThreadLimits("mcp_loading", 1)


@dataclass(frozen=True, slots=True)
class Speaking:
    """A session with a server: entering agrees on a version of the protocol."""

    reached: Callable[[Address, Visit], AbstractAsyncContextManager["Client"]]
    begun: Callable[[ProcessSpec, Lifeline], AbstractAsyncContextManager["Client"]]


async def loaded() -> Speaking:
    """At once, from the second time on; or `Fault`, within LOAD_SECONDS_MAX. Whoever gives a server
    so and so many seconds awaits this first: they are the server's."""
    if not load.cache_info().currsize:
        try:
            with trio.fail_after(LOAD_SECONDS_MAX):
                await read(_ONE_BY_ONE, load)
        except trio.TooSlowError:
            seconds = f"{LOAD_SECONDS_MAX:g} s"
            raise Fault(f"what speaks with servers was not loaded within {seconds}") from None
    return load()


@cache
def load() -> Speaking:
    from adapters.tools.mcp.sdk.clients import client_over, reached
    from adapters.tools.mcp.sdk.pipes import piped

    return Speaking(reached, lambda order, lifeline: client_over(piped(order, lifeline)))
