"""The official SDK's own server, over each of the ways to reach one."""

import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx2
import pytest
import trio

from adapters.tools.mcp.http import (
    LINE_BYTES,
    PAUSE_BYTES,
    PAUSE_SECONDS,
    BoundedTransport,
    ServerAddress,
    Visit,
)
from adapters.tools.mcp.sdk.clients import connect
from adapters.tools.mcp.sessions import Session
from adapters.tools.mcp.tolerance import raw_result
from tests.e2e.processes import free_ports
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[4]


@pytest.fixture(params=["streamable-http", "sse"])
async def address(request):
    port = free_ports()
    words = [sys.executable, "-m", "tests.fakes.tool_server", request.param, str(port)]
    process = await trio.lowlevel.open_process(words, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        with trio.fail_after(PATIENCE_SECONDS):
            while True:
                try:
                    await (await trio.open_tcp_stream("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await trio.sleep(0.02)
        is_sse = request.param == "sse"
        url = f"http://127.0.0.1:{port}/{'sse' if is_sse else 'mcp'}"
        yield ServerAddress(url, is_sse=is_sse)
    finally:
        process.kill()
        with trio.move_on_after(5, shield=True):
            await process.wait()


async def test_a_real_server_is_spoken_with_over_http_and_sse(address):
    with trio.fail_after(PATIENCE_SECONDS):
        async with connect(address, Visit()) as client:
            tools = await client.list_tools()
            added = raw_result(await client.call_tool("add", {"a": 1, "b": 2}))
            failed = raw_result(await client.call_tool("fail", {}))

    assert ["add", "fail"] == sorted(tool.name for tool in tools.tools)
    assert "3" == added["content"][0]["text"]
    assert failed["isError"]


async def flood(stream):
    """Tells of changes without an end, whatever is asked."""
    event = b'data: {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n\n'
    with suppress(trio.BrokenResourceError):
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        while True:
            await stream.send_all(event * 1000)


async def endless(stream):
    """One event that never ends."""
    with suppress(trio.BrokenResourceError):
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ")
        while True:
            await stream.send_all(b"x" * 65_536)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore2's own
@pytest.mark.parametrize("is_sse", [True, False])
async def test_an_event_without_an_end_is_broken_off(is_sse):
    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, endless, [listener])
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/"
        session = Session(lambda: connect(ServerAddress(url, is_sse=is_sse), Visit()))
        with trio.fail_after(PATIENCE_SECONDS):
            await session.run()
        nursery.cancel_scope.cancel()

    assert session.error is not None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore2's own
async def test_one_that_floods_leaves_room_for_others():
    turns, began = 0, time.process_time()

    async def work():
        nonlocal turns
        while True:
            await trio.sleep(0.01)
            turns += 1

    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, flood, [listener])
        nursery.start_soon(work)
        with trio.move_on_after(2):
            port = listener.socket.getsockname()[1]
            async with connect(ServerAddress(f"http://127.0.0.1:{port}/"), Visit()):
                pass
        nursery.cancel_scope.cancel()

    busy_seconds = time.process_time() - began  # of ours: others may take the processor away
    assert turns > 10 * busy_seconds


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, *pieces):
        self.pieces = pieces

    async def __aiter__(self):
        for piece in self.pieces:
            yield piece


@pytest.mark.parametrize(
    ("kind", "line", "seconds"),
    [
        ("text/event-stream", b"\r\n", 1000 * 2 * LINE_BYTES / PAUSE_BYTES * PAUSE_SECONDS),
        ("application/json", b"\r\n", 0.0),
        ("application/json", b"x" * 1024, 1000 * 1024 / PAUSE_BYTES * PAUSE_SECONDS),
    ],
)
async def test_who_says_much_in_few_bytes_is_heard_slowly(kind, line, seconds, autojump_clock):
    async def answer(request):
        return httpx2.Response(200, headers={"content-type": kind}, stream=Pieces(*[line] * 1000))

    transport = BoundedTransport(httpx2.MockTransport(answer), Visit())
    began = trio.current_time()
    async with httpx2.AsyncClient(transport=transport) as client:
        read = await client.get("http://h/")

    assert line * 1000 == read.content
    assert trio.current_time() - began == pytest.approx(seconds, abs=2 * PAUSE_SECONDS)
