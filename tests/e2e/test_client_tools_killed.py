"""Programs that answer for their tools, and daemons, are killed when it hurts most: every call is
answered once, and nothing is run twice that need not be.
"""

import contextlib
import signal

import pytest
import trio

from promptcorner_client import api, errors
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.tools import tool
from tests.e2e.clients import a_client
from tests.e2e.daemons import Daemon, a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS, eventually
from tests.e2e.tool_programs import (
    ADMIN,
    AWAY,
    LAMPS,
    MARKS,
    a_program,
    provider,
    results,
    stock,
    turns,
    url,
    waited,
    without_waiting,
)

__all__ = ["provider", "url", "without_waiting"]
pytestmark = MARKS

ENDINGS = {signal.SIGKILL: Daemon.kill, signal.SIGTERM: Daemon.stop}


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
                await trio.to_thread.run_sync(ENDINGS[how], first)
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
        first.kill()
    async with a_client(database) as store, store.pool.connection() as connection:
        await connection.execute(
            "UPDATE chats SET requires_action_deadline_at = now() - interval '1 hour'"
        )

    with a_daemon(home, **settings) as second:
        url = "http://" + second.wait_ready()["listen"]
        async with AsyncClient(url, ADMIN) as client:
            with trio.fail_after(EVENTUALLY_SECONDS):
                while (await client.request(api.get_chat(chat.id))).status != "waiting":
                    await trio.sleep(POLL_SECONDS)
            seen = await waited(client, chat, stock)
            with pytest.raises(errors.RequestRefused) as late:
                await client.request(api.tool_results(chat.id, a_result(asking)))

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
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.tools import tool
from promptcorner_client.transcript import Transcript

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


def has_begun(runs):
    """The line is there: the file alone may be there before it."""
    return runs.exists() and runs.read_text().endswith("\n")


async def test_a_program_that_is_killed_while_its_function_runs_is_followed_by_another(
    url, tmp_path
):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock])
    runs = tmp_path / "runs"
    told = {"URL": url, "TOKEN": ADMIN, "CHAT": str(chat.id), "RUNS": str(runs)}
    with a_program(PROGRAM, SECONDS="600", **told) as first:
        eventually(lambda: has_begun(runs), "the first program has begun")
        first.kill()
    with a_program(PROGRAM, SECONDS="0", **told) as second:
        said, complaint = second.communicate(timeout=EVENTUALLY_SECONDS)

    assert (0, "Three lamps.\n", "") == (second.returncode, said, complaint)
    assert "begun\nbegun\n" == runs.read_text()
    async with AsyncClient(url, ADMIN) as client:
        assert [("stock", "3", False)] == results(await waited(client, chat))


KILLED_AFTER_SECONDS = (0.0, 0.006)  # from when a result is there: about when it is sent


@pytest.mark.timeout(600)
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
                await trio.to_thread.run_sync(daemon.kill)
                returned = trio.Event()
                daemon = stack.enter_context(a_daemon(home, listen=address, **settings))
                await trio.to_thread.run_sync(daemon.wait_ready)
            with trio.fail_after(EVENTUALLY_SECONDS):
                while seen is None:
                    await trio.sleep(POLL_SECONDS)
            await client.aclose()

    assert ("Done.", rounds) == (seen.answer, runs)
    assert [("count", str(n), False) for n in range(1, rounds + 1)] == results(seen)


async def test_a_program_that_is_told_to_stop_ends_at_once_and_answers_nothing(url, tmp_path):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock])
        runs = tmp_path / "runs"
        told = {"URL": url, "TOKEN": ADMIN, "CHAT": str(chat.id), "RUNS": str(runs)}
        with a_program(PROGRAM, SECONDS="600", **told) as program:
            eventually(lambda: has_begun(runs), "the function has begun")
            program.send_signal(signal.SIGINT)
            _, complaint = program.communicate(timeout=EVENTUALLY_SECONDS)
        status = (await client.request(api.get_chat(chat.id))).status

    assert "KeyboardInterrupt" in complaint
    assert "Exception ignored" not in complaint
    assert "requires_action" == status
