"""Tools that a client's program runs, with real daemons, a real database and real programs, which
are killed when it hurts most.
"""

import ast
import contextlib
import json
import re
import signal
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
import trio

from adapters.client import asks, faults
from adapters.client.awaiting import AsyncClient
from adapters.client.calling import Client
from adapters.client.tools import tool
from adapters.client.transcript import Transcript
from tests.e2e.clients import a_client
from tests.e2e.conftest import a_database
from tests.e2e.daemons import a_daemon, environment
from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS, ROOT, eventually
from tests.e2e.providers import a_provider
from tests.e2e.test_client import BadNetwork, note

pytestmark = [
    pytest.mark.slow,
    # The HTTP library leaves generators of its own to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ADMIN = "a-token-of-the-first-admin-for-these-tests"
AWAY = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
    "PROMPTCORNER_LEASE_SECONDS": "1",
    "PROMPTCORNER_DRAIN_SECONDS": "0",
}
LAMPS = '[[tool-calls: stock:{"article": "lamps"}]] [[text: Three lamps.]] how many?'
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "docs/client.md").read_text(), re.DOTALL)


@tool
async def stock(article: str) -> int:
    """How many of an article are in the store."""
    return {"lamps": 3, "chairs": 12}.get(article, 0)


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def url(provider, server, tmp_path_factory):
    """Of a daemon that comes to no harm."""
    with a_database(server, "client_tools") as database:
        settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
        with a_daemon(tmp_path_factory.mktemp("tools"), **settings) as daemon:
            yield "http://" + daemon.wait_ready()["listen"]
            assert 0 == daemon.stop()
            assert [] == [e for e in daemon.entries if e["level"] == "error"]


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(faults, "FIRST_SECONDS", 0.01)


def results(seen):
    """(tool, result, is_error) of every call of the chat."""
    parts = [part for message in seen.history for part in message.content]
    return [
        (part.tool_name, bytes(part.result).decode(), part.is_error is True)
        for part in parts
        if part.type == "tool-result"
    ]


def turns(provider, chat):
    """What it was asked in the chat itself; it makes a title, too, and is offered one tool."""
    return [one for one in provider.requests(chat.id) if len(one["body"]["tools"]) > 1]


async def waited(client, chat, *tools):
    with trio.fail_after(EVENTUALLY_SECONDS):
        return await client.wait(chat.id, tools=tools)


async def test_a_model_calls_a_function_of_the_program_and_says_what_it_returned(url, provider):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock])
        seen = await waited(client, chat, stock)

    assert ("waiting", "Three lamps.") == (seen.status, seen.answer)
    assert [("stock", "3", False)] == results(seen)
    first, second = turns(provider, chat)
    assert "How many of an article are in the store." in str(first["body"])
    assert "tool_result" in str(second["body"])


async def test_calls_of_local_tools_come_first_and_the_model_sees_all_of_them(url, provider):
    calls = 'stock:{"article": "lamps"} list_templates:{} stock:{"article": "chairs"}'
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(f"[[tool-calls: {calls}]] [[text: Both.]]", tools=[stock])
        seen = await waited(client, chat, stock)

    [local, *ours] = results(seen)
    assert "list_templates" == local[0]
    assert [("stock", "3", False), ("stock", "12", False)] == ours
    assert 2 == len(turns(provider, chat))


async def test_many_rounds_of_the_same_calls_are_answered_one_after_the_other(url):
    counted = 0

    @tool
    async def next_page() -> int:
        nonlocal counted
        counted += 1
        return counted

    async with AsyncClient(url, ADMIN) as client:
        marker = "[[tool-calls: next_page:{}]] [[tool-rounds: 12]] [[text: All read.]]"
        chat = await client.create(marker, tools=[next_page])
        seen = await waited(client, chat, next_page)

    assert [str(number) for number in range(1, 13)] == [said for _, said, _ in results(seen)]


async def test_results_that_are_too_much_are_cut_to_what_a_request_may_hold(url):
    @tool
    async def read_log() -> str:
        return "begin" + "\n" * 400_000 + "end"

    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(
            "[[tool-calls: read_log:{} read_log:{}]] [[text: Read.]]", tools=[read_log]
        )
        asking = await waited(client, chat)
        too_much = [
            {"tool_call_id": call.tool_call_id, "output": "x" * 131_000, "is_error": False}
            for call in asking.pending
        ]
        with pytest.raises(faults.Refused) as refused:
            await client.do(asks.tool_results(chat.id, too_much))
        seen = await waited(client, chat, read_log)
        with pytest.raises(faults.Refused) as too_long:
            await client.create("x" * 262_144, tools=[read_log])

    assert (413, 413) == (refused.value.status, too_long.value.status)
    assert "Read." == seen.answer
    texts = [json.loads(said)["output"] for _, said, _ in results(seen)]
    assert [("begin", "end")] * 2 == [(text[:5], text[-3:]) for text in texts]


async def test_an_interrupt_cancels_what_runs_and_the_model_hears_of_it(url):
    began, ended = trio.Event(), trio.Event()

    @tool
    async def wait_for_ever():
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    async with AsyncClient(url, ADMIN) as client, trio.open_nursery() as nursery:
        chat = await client.create(
            "[[tool-calls: wait_for_ever:{}]] [[text: Never mind.]]", tools=[wait_for_ever]
        )
        nursery.start_soon(client.attend, chat.id, [wait_for_ever])
        with trio.fail_after(EVENTUALLY_SECONDS):
            await began.wait()
            await client.do(asks.interrupt(chat.id))
            await ended.wait()
        seen = await waited(client, chat, wait_for_ever)
        nursery.cancel_scope.cancel()

    assert "Never mind." == seen.answer
    assert [("wait_for_ever", '"interrupted by user"', True)] == results(seen)


async def test_of_two_programs_before_two_daemons_one_answers_and_both_go_on(
    home, provider, database
):
    settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
    with a_daemon(home, **settings) as one, a_daemon(home, **settings) as other:
        urls = ["http://" + daemon.wait_ready()["listen"] for daemon in (one, other)]
        both, began = trio.Event(), []

        @tool
        async def meet(name: str) -> str:
            began.append(name)
            if len(began) == 2:
                both.set()
            await both.wait()
            return name

        async with AsyncClient(urls[0], ADMIN) as first, AsyncClient(urls[1], ADMIN) as second:
            for number in range(8):
                began.clear()
                both = trio.Event()
                marker = f'[[tool-calls: meet:{{"name": "{number}"}}]] [[text: Met.]]'
                chat = await first.create(marker, tools=[meet])
                seen = {}

                async def wait(client, chat=chat, seen=seen):
                    seen[client] = await waited(client, chat, meet)

                async with trio.open_nursery() as nursery:
                    nursery.start_soon(wait, first)
                    nursery.start_soon(wait, second)

                assert [("meet", f'"{number}"', False)] == results(seen[first])
                assert seen[first].messages == seen[second].messages
                assert ["Met."] * 2 == [s.answer for s in seen.values()]
                assert 2 == len(turns(provider, chat))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_a_daemon_that_ends_while_a_function_runs_gets_its_result_when_it_is_back(
    home, provider, database, how
):
    settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
    began, may_end, runs = trio.Event(), trio.Event(), 0

    @tool
    async def measure() -> str:
        nonlocal runs
        runs += 1
        began.set()
        await may_end.wait()
        return "12 m"

    seen = None

    async def wait():
        nonlocal seen
        seen = await waited(client, chat, measure)

    with a_daemon(home, **settings) as first:
        address = first.wait_ready()["listen"]
        async with AsyncClient(f"http://{address}", ADMIN) as client:
            chat = await client.create("[[tool-calls: measure:{}]] [[text: 12.]]", tools=[measure])
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wait)
                with trio.fail_after(EVENTUALLY_SECONDS):
                    await began.wait()
                first.process.send_signal(how)
                await trio.to_thread.run_sync(first.process.wait)
                may_end.set()  # the result is there, and nobody to take it

                with a_daemon(home, listen=address, **settings) as second:
                    await trio.to_thread.run_sync(second.wait_ready)
                    with trio.fail_after(EVENTUALLY_SECONDS):
                        while seen is None:
                            await trio.sleep(POLL_SECONDS)

    assert (1, "12.") == (runs, seen.answer)
    assert [("measure", '"12 m"', False)] == results(seen)
    assert 2 == len(turns(provider, chat))


async def test_a_deadline_that_passes_while_no_daemon_runs_has_passed_when_one_is_back(
    home, provider, database
):
    settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
    with a_daemon(home, **settings) as first:
        url = "http://" + first.wait_ready()["listen"]
        async with AsyncClient(url, ADMIN) as client:
            chat = await client.create(LAMPS, tools=[stock])
            asking = await waited(client, chat)
            assert "requires_action" == asking.status
        first.process.kill()
        first.process.wait()
    async with a_client(database) as store, store.pool.connection() as connection:
        await connection.execute(
            "UPDATE chats SET requires_action_deadline_at = now() - interval '1 hour'"
        )

    with a_daemon(home, **settings) as second:
        url = "http://" + second.wait_ready()["listen"]
        async with AsyncClient(url, ADMIN) as client:
            with trio.fail_after(EVENTUALLY_SECONDS):
                while (await client.do(asks.get_chat(chat.id))).status != "waiting":
                    await trio.sleep(POLL_SECONDS)
            seen = await waited(client, chat, stock)
            with pytest.raises(faults.Refused) as late:
                await client.do(asks.tool_results(chat.id, a_result(asking)))

    assert [("stock", '"timed out"', True)] == results(seen)
    assert ("Three lamps.", 4) == (seen.answer, len(seen.history))
    assert 409 == late.value.status


def a_result(seen):
    [call] = seen.pending
    return [{"tool_call_id": call.tool_call_id, "output": 3, "is_error": False}]


PROGRAM = """
import os, sys, time
from pathlib import Path
import trio
from adapters.client.awaiting import AsyncClient
from adapters.client.tools import tool
from adapters.client.transcript import Transcript

@tool
async def stock(article: str) -> int:
    "How many of an article are in the store."
    with Path(os.environ["RUNS"]).open("a") as runs:
        runs.write("begun\\n")
    await trio.sleep(float(os.environ["SECONDS"]))
    return 3

async def main():
    async with AsyncClient(os.environ["URL"], os.environ["TOKEN"]) as client:
        print((await client.wait(os.environ["CHAT"], tools=[stock])).answer)

trio.run(main)
"""


def a_program(text, **settings):
    return subprocess.Popen(
        [sys.executable, "-c", text],
        cwd="/",
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


async def test_a_program_that_is_killed_while_its_function_runs_is_followed_by_another(
    url, tmp_path
):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock])
    runs = tmp_path / "runs"
    told = {"URL": url, "TOKEN": ADMIN, "CHAT": str(chat.id), "RUNS": str(runs)}
    with a_program(PROGRAM, SECONDS="600", **told) as first:
        eventually(runs.exists, "the first program has begun")
        first.kill()
    with a_program(PROGRAM, SECONDS="0", **told) as second:
        said, complaint = second.communicate(timeout=EVENTUALLY_SECONDS)

    assert (0, "Three lamps.\n", "") == (second.returncode, said, complaint)
    assert "begun\nbegun\n" == runs.read_text()
    async with AsyncClient(url, ADMIN) as client:
        assert [("stock", "3", False)] == results(await waited(client, chat))


@pytest.mark.parametrize("run", ["trio.run(main)", "__import__('asyncio').run(main())"])
def test_the_program_in_the_documents_runs_as_it_is_pasted(url, run):
    [program] = [block for block in BLOCKS if "trio.run(main)" in block]
    question = '"Are there enough lamps for five rooms?"'
    assert (1, 1) == (program.count("http://127.0.0.1:7390"), program.count(question))
    pasted = program.replace("http://127.0.0.1:7390", url).replace(question, repr(LAMPS))
    pasted = pasted.replace("trio.run(main)", run)  # or on anyio's other engine

    with a_program(pasted, PROMPTCORNER_TOKEN=ADMIN) as running:
        said, complaint = running.communicate(timeout=EVENTUALLY_SECONDS)

    assert (0, "Three lamps.\n", "") == (running.returncode, said, complaint)


def test_the_first_example_in_the_documents_runs_as_it_is_pasted(url):
    pasted = BLOCKS[0].replace("http://127.0.0.1:7390", url)
    with a_program(f"token = {ADMIN!r}\n{pasted}") as running:
        said, complaint = running.communicate(timeout=EVENTUALLY_SECONDS)

    assert (0, "") == (running.returncode, complaint)
    assert 2 == len(said.splitlines())


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_every_example_in_the_documents_can_be_read_by_python(number):
    assert compile(BLOCKS[number], "docs/client.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


class Reference(BadNetwork):
    """A way to a server that knows no stream but the WebSocket."""

    async def _pass_on(self, client):
        head = await client.receive_some()
        if b"/stream/sse" in head.partition(b"\r\n")[0]:
            await client.send_all(NOT_FOUND)
            return
        async with await trio.open_tcp_stream(*self.target) as daemon:
            await daemon.send_all(head)
            async with trio.open_nursery() as both:
                both.start_soon(self._up, client, daemon)
                await self._down(daemon, client)
                both.cancel_scope.cancel()


NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
CUTS = 30
# Between two cuts: a message of a WebSocket is heard as a whole, and holds up to 256 events.
BYTES_PASSED = (1, 900, 20_000, 100_000)


def a_reference(url, **more):
    split = urlsplit(url)
    return Reference((split.hostname, split.port), **more)


async def test_a_server_without_server_sent_events_is_followed_over_a_websocket(url):
    reference = a_reference(url, is_bad=False)
    async with reference.open():
        async with AsyncClient(reference.url, ADMIN) as client:
            chat = await client.create(LAMPS, tools=[stock])
            seen = await waited(client, chat, stock)
            with pytest.raises(faults.Refused) as unknown:
                await client.wait(seen.history[0].created_by)

        def block():
            with Client(reference.url, ADMIN) as client:
                return client.wait(chat.id)

        again = await trio.to_thread.run_sync(block)

    assert ("Three lamps.", [("stock", "3", False)]) == (seen.answer, results(seen))
    assert seen.messages == again.messages
    assert 404 == unknown.value.status


async def test_over_a_websocket_that_breaks_nothing_is_lost_or_repeated(url, monkeypatch):
    monkeypatch.setattr(faults, "CAP_SECONDS", 0.05)
    reference = a_reference(url, bytes_passed=BYTES_PASSED)
    seen, pieces = Transcript(), []
    async with reference.open(), AsyncClient(url, ADMIN) as steady:
        chat = await steady.create("[[deltas: 100000]] [[delta-ms: 2]] go on and on")
        async with AsyncClient(reference.url, ADMIN) as client, client.follow(chat.id) as events:
            with trio.fail_after(3 * EVENTUALLY_SECONDS):
                async for event in events:
                    seen.apply(event)
                    note(event, pieces)
                    if reference.cuts >= CUTS and reference.is_bad:
                        reference.is_bad = False
                        await steady.do(asks.interrupt(chat.id))
                    if seen.rests_since():
                        break
        stored = await steady.do(asks.messages(chat.id))

    assert list(range(1, len(pieces) + 1)) == [seq for seq, _ in pieces]
    assert {message.id: message for message in stored.messages} == seen.messages


ODD = {
    "no schema": None,
    "a word": "none",
    "a list": {"type": "array", "items": {}},
    "odd properties": {"properties": {"a": "string", "b": True}, "required": ["a", "zz", 3]},
    "whole": {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/At"}},
        "required": ["at"],
        "$defs": {"At": {"type": "string"}},
        "additionalProperties": False,
    },
}


async def test_whatever_a_client_declares_the_provider_is_sent_an_object_with_properties(
    url, provider
):
    tools = [
        {"name": name.replace(" ", "-"), "description": None, "input_schema": schema}
        for name, schema in ODD.items()
    ]
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create("[[text: Fine.]]", unsafe_dynamic_tools=tools)
        assert "Fine." == (await waited(client, chat)).answer

    told = {
        tool["name"]: tool["input_schema"] for tool in turns(provider, chat)[0]["body"]["tools"]
    }
    nothing = {"type": "object", "properties": {}}
    assert [nothing] * 3 == [told[name] for name in ("no-schema", "a-word", "a-list")]
    odd = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}
    assert odd == told["odd-properties"]
    kept = {key: ODD["whole"][key] for key in ("type", "properties", "required", "$defs")}
    assert kept == told["whole"]


async def test_a_tool_of_the_name_of_one_that_runs_here_is_not_the_clients_to_run(url, provider):
    @tool(name="list_templates")
    async def shadowed():
        """Never called."""
        raise AssertionError("the daemon has one of this name")

    async with AsyncClient(url, ADMIN) as client:
        marker = '[[tool-calls: list_templates:{} stock:{"article": "lamps"}]] [[text: Both.]]'
        chat = await client.create(marker, tools=[shadowed, stock])
        seen = await waited(client, chat, shadowed, stock)

    assert "Both." == seen.answer
    [(first, said, is_error), (second, three, _)] = results(seen)
    assert ("list_templates", False, "stock", "3") == (first, is_error, second, three)
    assert "templates" in said
    names = [tool["name"] for tool in turns(provider, chat)[0]["body"]["tools"]]
    assert 1 == names.count("list_templates")


async def test_a_chat_that_plans_has_none_of_them_and_has_them_again_when_it_works(url, provider):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock], plan_mode="plan")
        planned = await waited(client, chat, stock)
        sent = await client.do(asks.send(chat.id, LAMPS, plan_mode=""))
        with trio.fail_after(EVENTUALLY_SECONDS):
            worked = await client.wait(chat.id, since=sent.message.id, tools=[stock])

    offered = [
        "stock" in [tool["name"] for tool in turn["body"]["tools"]]
        for turn in turns(provider, chat)
    ]
    assert [False, False, True, True] == offered
    [(_, refused, is_error)] = results(planned)
    assert is_error
    assert "there is no tool stock" in refused
    assert ("stock", "3", False) == results(worked)[-1]


async def test_agents_that_a_chat_spawns_have_none_of_them(url, provider):
    spawn = '{"type": "general", "prompt": "count", "title": "count"}'
    async with AsyncClient(url, ADMIN) as client:
        marker = f"[[tool-calls: spawn_agent:{spawn}]] [[text: Sent.]]"
        chat = await client.create(marker, tools=[stock])
        assert "Sent." == (await waited(client, chat, stock)).answer
        [child] = (await client.do(asks.get_chat(chat.id))).children
        assert "waiting" == (await waited(client, child)).status

    offered = [{tool["name"] for tool in turn["body"]["tools"]} for turn in turns(provider, chat)]
    [of_the_child] = [names for names in offered if "spawn_agent" not in names]
    assert "execute" in of_the_child
    assert "stock" not in of_the_child


KILLED_AFTER_SECONDS = (0.0, 0.006)  # from when a result is there: about when it is sent


@pytest.mark.timeout(240)
async def test_a_daemon_that_is_killed_as_the_result_is_sent_has_it_once(home, provider, database):
    settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
    returned, runs, seen = trio.Event(), 0, None

    @tool
    async def count() -> int:
        nonlocal runs
        runs += 1
        returned.set()
        return runs

    async def wait():
        nonlocal seen
        with trio.fail_after(4 * EVENTUALLY_SECONDS):
            seen = await client.wait(chat.id, tools=[count])

    async with trio.open_nursery() as nursery:
        with contextlib.ExitStack() as stack:
            daemon = stack.enter_context(a_daemon(home, **settings))
            address = daemon.wait_ready()["listen"]
            client = AsyncClient(f"http://{address}", ADMIN)
            rounds = len(KILLED_AFTER_SECONDS)
            chat = await client.create(
                f"[[tool-calls: count:{{}}]] [[tool-rounds: {rounds}]] [[text: Done.]]",
                tools=[count],
            )
            nursery.start_soon(wait)
            for seconds in KILLED_AFTER_SECONDS:
                with trio.fail_after(EVENTUALLY_SECONDS):
                    await returned.wait()
                await trio.sleep(seconds)
                daemon.process.kill()
                await trio.to_thread.run_sync(daemon.process.wait)
                returned = trio.Event()
                daemon = stack.enter_context(a_daemon(home, listen=address, **settings))
                await trio.to_thread.run_sync(daemon.wait_ready)
            with trio.fail_after(EVENTUALLY_SECONDS):
                while seen is None:
                    await trio.sleep(POLL_SECONDS)
            await client.aclose()

    assert ("Done.", rounds) == (seen.answer, runs)
    assert [("count", str(n), False) for n in range(1, rounds + 1)] == results(seen)
