"""Programs that are spoken with over pipes, and those that one cannot speak with."""

import json
import os
import sys
import time
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from uuid import UUID

import anyio
import pytest
import trio
import trio.testing
from mcp.client import session as sdk_session
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest

from actors.tools.workspaces import Command
from adapters.tools.mcp.faults import ServerFault, words_for
from adapters.tools.mcp.http import ANSWER_BYTES_MAX, LINE_BYTES, PAUSE_BYTES, PAUSE_SECONDS
from adapters.tools.mcp.sdk import pipes
from adapters.tools.mcp.sdk.clients import client_over
from adapters.tools.mcp.sdk.pipes import (
    LEAVE_SECONDS,
    READ_BYTES,
    WRITE_SECONDS,
    WRITERS_MAX,
    PipeReader,
    PipeWriter,
    open_program,
)
from adapters.tools.mcp.sessions import Session, call_in_session
from adapters.tools.mcp.tolerance import raw_result
from adapters.workspaces.commands.process_groups import Lifeline
from adapters.workspaces.commands.processes import ProcessSpec
from tests.actors.law.chats import a_chat
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[5]


@pytest.fixture
async def lifeline():
    lifeline = Lifeline()
    yield lifeline
    await lifeline.close()


@pytest.fixture
def heard_to_the_end(monkeypatch):
    """The last words of a program are waited for as long as a busy machine may take to bring
    them."""
    monkeypatch.setattr(pipes, "DRAIN_SECONDS", PATIENCE_SECONDS)


def an_order(*words, seconds_max=60.0):
    return ProcessSpec(
        chat=a_chat().chat.id,
        workspace=UUID(int=1),
        command=Command("test"),
        workdir=str(ROOT),
        arguments=words,
        environment={"PATH": os.environ["PATH"]},
        seconds_max=seconds_max,
    )


def python(how, **more):
    return an_order(sys.executable, "-m", "tests.fakes.piped_server", how, **more)


def spoken_with(order, lifeline):
    return client_over(open_program(order, lifeline))


@contextmanager
def in_time():
    with trio.fail_after(PATIENCE_SECONDS):
        yield


def alive(pid):
    return Path(f"/proc/{pid}").exists()


async def facts(client):
    [said] = raw_result(await client.call_tool("echo", {"a": 1}))["content"]
    return json.loads(said["text"])


@pytest.mark.parametrize("how", ["well", "chats"])
async def test_a_program_is_spoken_with_and_ends_with_its_session(lifeline, how):
    with in_time():
        async with spoken_with(python(how), lifeline) as client:
            tools = await client.list_tools()
            found = await facts(client)

    assert ["echo"] == [tool.name for tool in tools.tools]
    assert not alive(found["pid"])
    assert {"PATH", "PWD"} >= found["environ"].keys() - {"LC_CTYPE", "_", "SHLVL", "OLDPWD"}


async def test_one_that_ignores_newer_versions_is_not_waited_for_long(lifeline, monkeypatch):
    monkeypatch.setattr(sdk_session, "DISCOVER_TIMEOUT_SECONDS", 1_000.0)  # that the SDK would wait
    with in_time():
        async with spoken_with(python("old"), lifeline) as client:
            assert (await client.list_tools()).tools


async def test_half_a_character_does_not_lose_an_answer(lifeline):
    with in_time():
        async with spoken_with(python("cuts"), lifeline) as client:
            [said] = raw_result(await client.call_tool("echo", {}))["content"]

    assert "cut \ufffd" == said["text"]


async def test_the_official_server_is_spoken_with(lifeline):
    order = an_order(sys.executable, "-m", "tests.fakes.tool_server", "stdio")

    with in_time():
        async with spoken_with(order, lifeline) as client:
            added = raw_result(await client.call_tool("add", {"a": 1, "b": 2}))

    assert "3" == added["content"][0]["text"]


async def test_one_that_does_not_end_by_itself_is_ended_with_all_that_it_has_begun(lifeline):
    script = f"sleep 1000 & exec {sys.executable} -m tests.fakes.piped_server stays"

    with in_time():
        async with spoken_with(an_order("sh", "-c", script), lifeline) as client:
            ours = members(os.getpgid((await facts(client))["pid"]))
            began = trio.current_time()

        assert len(ours) > 1
        assert trio.current_time() - began >= LEAVE_SECONDS
        while any(map(is_running, ours)):  # the kernel takes a moment
            await trio.sleep(0.01)


def members(group):
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return [pid for pid in pids if group_of(pid) == group]


def group_of(pid):
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def is_running(pid):
    """One whose parent is gone may wait a moment to be reaped."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (python("breaks"), "it ended with exit code 7: cannot find what I need"),
        (an_order("no-such-program"), "it ended with exit code 127: "),
        (python("hangs", seconds_max=1.0), "it ran for 1 s, which is its limit"),
    ],
)
async def test_why_one_cannot_be_spoken_with_is_said(lifeline, heard_to_the_end, order, words):
    session = Session(lambda: spoken_with(order, lifeline))

    with in_time():
        await session.run()

    assert words_for(session.error).startswith(words)


async def test_one_that_dies_in_a_call_is_said_to_have_done_so(lifeline, heard_to_the_end):
    async with trio.open_nursery() as nursery:
        session = Session(lambda: spoken_with(python("dies"), lifeline))
        nursery.start_soon(session.run)

        async def the_session():
            return session

        with in_time(), pytest.raises(ServerFault) as fault:
            await call_in_session(the_session, "echo", {})

    assert "it ended with exit code 3: it was too much" == str(fault.value)
    assert session.is_over


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("endless", f"it said more than {ANSWER_BYTES_MAX} bytes at once"),
        ("asks", "it is not to be spoken with any more"),
    ],
)
async def test_one_that_says_too_much_is_ended(lifeline, how, words):
    session = Session(lambda: spoken_with(python(how), lifeline))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(session.run)
        with in_time():
            client = await session.client()
            with pytest.raises(MCPError):
                await (client.call_tool("echo", {}) if how == "endless" else client.list_tools())
            await session.ended.wait()

    assert words in words_for(session.error)


LONG = "x" * 1_000_000  # more than a pipe takes at once


async def test_a_caller_who_is_cancelled_in_mid_message_harms_no_other(lifeline, tmp_path):
    said, interrupted = [], trio.CancelScope()

    async def call(client, words, **more):
        [answer] = raw_result(await client.call_tool("echo", {"words": words, **more}))["content"]
        said.append(answer["text"].split())

    async def begin(client):
        with interrupted:
            await call(client, LONG)

    with in_time():
        async with spoken_with(python("dozes"), lifeline) as client:
            await call(client, "doze", until=str(tmp_path / "go"))
            async with trio.open_nursery() as together:
                together.start_soon(begin, client)
                await trio.testing.wait_all_tasks_blocked(0.01)  # it is begun, and is not read yet
                interrupted.cancel()
                together.start_soon(call, client, "short")
                (tmp_path / "go").touch()
            await call(client, LONG)

    assert interrupted.cancelled_caught
    assert ["4", "5", "1000000"] == [size for size, _ in said]
    assert 1 == len({pid for _, pid in said}), "it is the same program"


@asynccontextmanager
async def a_pipe():
    """What is to be read, and what writes it, with a pipe between them that takes 64 KiB."""
    reads, writes = os.pipe()
    with os.fdopen(reads, "rb") as reader:
        async with trio.lowlevel.FdStream(writes) as stream:
            yield (
                reader,
                PipeWriter(stream, PipeReader(trio.testing.memory_stream_one_way_pair()[1])),
            )


def a_message(id, words=""):
    return SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=id, method="ping", params={"w": words}))


def ids(content):
    return [json.loads(line)["id"] for line in content.splitlines()]


async def test_what_a_cancelled_caller_has_sent_is_written_whole_or_not_at_all():
    with in_time():
        async with a_pipe() as (reader, messages), trio.open_nursery() as nursery:
            nursery.start_soon(messages.write)
            async with trio.open_nursery() as callers:
                for id in (1, 2):  # the first is begun, the other waits behind it
                    callers.start_soon(messages.send, a_message(id, LONG))
                    await trio.testing.wait_all_tasks_blocked()
                callers.cancel_scope.cancel()
            nursery.start_soon(messages.send, a_message(3))
            content = b""
            while content.count(b"\n") < 2:
                content += await trio.to_thread.run_sync(reader.read1, 65_536)
            nursery.cancel_scope.cancel()

    assert [1, 3] == ids(content)


@pytest.mark.parametrize(
    ("count", "seconds"), [(3, WRITE_SECONDS), (WRITERS_MAX + 1, WRITE_SECONDS), (1000, 0)]
)
async def test_where_nothing_is_read_all_who_wait_are_told(autojump_clock, count, seconds):
    stream, _ = trio.testing.lockstep_stream_one_way_pair()
    messages = PipeWriter(stream, lines := PipeReader(trio.testing.memory_stream_one_way_pair()[1]))
    told = []

    async def send(id):
        with pytest.raises(anyio.BrokenResourceError):
            await messages.send(a_message(id))
        told.append(trio.current_time() - began)

    async with trio.open_nursery() as nursery:
        began = trio.current_time()
        nursery.start_soon(messages.write)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(send, 0)
        await trio.testing.wait_all_tasks_blocked()  # it is begun, and the others wait
        for id in range(1, count):
            nursery.start_soon(send, id)
        await lines.over.wait()
        assert trio.current_time() - began == pytest.approx(seconds)

    assert count == len(told)


async def test_a_long_answer_comes_whole_and_one_that_is_too_long_not_at_all(lifeline):
    async with trio.open_nursery() as nursery:
        session = Session(lambda: spoken_with(python("big"), lifeline))
        nursery.start_soon(session.run)

        async def the_session():
            return session

        with in_time():
            said = await call_in_session(the_session, "echo", {"bytes": ANSWER_BYTES_MAX // 2})
            with pytest.raises(ServerFault, match="it said more than"):
                await call_in_session(
                    the_session, "echo", {"bytes": ANSWER_BYTES_MAX + 2 * READ_BYTES}
                )

    assert ANSWER_BYTES_MAX // 2 == len(said["content"][0]["text"])


async def test_who_says_much_in_few_bytes_is_heard_slowly(autojump_clock):
    told, said = trio.testing.memory_stream_one_way_pair()
    lines, count = PipeReader(said), 1000
    await told.send_all(
        b'{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}\n' * count
    )
    began = trio.current_time()

    for _ in range(count):
        await lines.receive()

    took = trio.current_time() - began
    assert took == pytest.approx(count * LINE_BYTES / PAUSE_BYTES * PAUSE_SECONDS, rel=0.1)


async def test_one_that_floods_leaves_room_for_others(lifeline):
    turns, began = 0, time.process_time()

    async def work():
        nonlocal turns
        while True:
            await trio.sleep(0.01)
            turns += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        with trio.move_on_after(2):
            async with spoken_with(python("floods"), lifeline) as client:
                await client.list_tools()
        nursery.cancel_scope.cancel()

    busy_seconds = time.process_time() - began  # of ours: others may take the processor away
    assert turns > 10 * busy_seconds
