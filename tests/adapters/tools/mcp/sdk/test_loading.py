"""What speaks with servers is there when it is needed, and not before. Each in a process of its
own: what is loaded stays.
"""

import subprocess
import sys
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR

from adapters.tools.mcp import faults

ROOT = Path(__file__).parents[5]

TWO_AT_ONCE = """
import trio
from trio.testing import wait_all_tasks_blocked
from adapters.tools.mcp.sdk.loading import load, load_sdk

async def main():
    found = []

    async def ask():
        found.append(await load_sdk())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        nursery.start_soon(ask)
        await wait_all_tasks_blocked()
        print("meanwhile", len(found))
    print("then", len(found), "loaded", load.cache_info().misses)

trio.run(main)
"""

# The clock jumps while the thread is at work: it takes longer than it may.
TOO_SLOW = """
from math import inf
import trio
from trio.testing import MockClock
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.sdk.loading import load, load_sdk

clock = MockClock(autojump_threshold=0)

async def main():
    try:
        await load_sdk()
    except ServerFault as fault:
        print(fault)
    clock.autojump_threshold = inf
    await load_sdk()
    print("loaded", load.cache_info().misses)

trio.run(main, clock=clock)
"""

# Likewise; would the load be a part of the server's seconds, these would be over first.
NOT_THE_SERVERS = """
import trio
from trio.testing import MockClock
from adapters.tools.mcp.faults import ServerFault
from adapters.tools.mcp.wiring import ServerCalls
from adapters.tools.mcp.sessions import open_sessions
from tests.adapters.tools.mcp.given import Known, Renewing, configured, using

class Nowhere:
    url = "http://127.0.0.1:1/"

async def main():
    one = configured(Nowhere)
    async with open_sessions() as (sessions, _):
        reached = ServerCalls(Known(one), Renewing(None), sessions)
        await reached.tools(using(one), one)
        print(reached.faults[one.id])
        try:
            await reached.call(using(one), one, "echo", {})
        except ServerFault as fault:
            print(fault)

trio.run(main, clock=MockClock(autojump_threshold=0))
"""


def printed(program):
    words = [sys.executable, "-c", program]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_daemon_that_starts_loads_nothing_that_only_servers_of_tools_need():
    late = ["anyio", "mcp", "mcp_types", "pydantic", "starlette"]
    program = f"import sys, adapters.daemon.daemon; print([x for x in {late} if x in sys.modules])"

    assert "[]\n" == printed(program)


@pytest.mark.slow
def test_two_who_come_at_once_have_it_loaded_once_and_hold_up_nobody():
    assert "meanwhile 0\nthen 2 loaded 1\n" == printed(TWO_AT_ONCE)


@pytest.mark.slow
def test_the_seconds_that_a_server_has_begin_when_it_is_loaded():
    says = "the MCP SDK was not loaded within 60 s\n"

    assert 2 * says == printed(NOT_THE_SERVERS)


@pytest.mark.slow
def test_who_does_not_wait_for_all_of_it_leaves_it_to_the_next():
    says = "the MCP SDK was not loaded within 60 s\nloaded 1\n"

    assert says == printed(TOO_SLOW)


def test_an_error_of_the_sdk_is_known_without_it():
    error = MCPError(INTERNAL_ERROR, "no")

    assert isinstance(error, faults.SdkError)
    assert "no" == faults.words_for(error)
    assert (faults.CONNECTION_CLOSED, faults.INTERNAL_ERROR) == (CONNECTION_CLOSED, INTERNAL_ERROR)
    assert not isinstance(OSError(2, "no"), faults.SdkError)
