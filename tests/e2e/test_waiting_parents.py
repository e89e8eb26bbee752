"""A process that is told to stop while a parent of its only waits for an agent: it does not use its
time for steps that run, another process goes on with the wait, and the report comes once.
"""

import contextlib
import signal
import time
from collections import Counter

import pytest
import trio

from actors.law.chat import Role
from actors.law.parts.message import ToolCallPart, ToolResultPart
from tests.e2e.clients import AT_REST, a_client
from tests.e2e.daemons import a_daemon
from tests.e2e.delegating import REPORT, a_model
from tests.e2e.processes import EVENTUALLY_SECONDS, free_ports

pytestmark = pytest.mark.slow

DRAIN_SECONDS = 60
# It takes a second or two; a machine that is busy, more. Less than half of the drain proves that
# nobody waited for its end.
AT_ONCE_SECONDS = DRAIN_SECONDS / 2 - 5


@pytest.fixture
def port():
    return free_ports()


@pytest.fixture
def settings(port, database):
    return {
        "DATABASE_URL": database,
        "OPENAI_COMPAT_BASE_URL": f"http://127.0.0.1:{port}/v1",
        "PROMPTCORNER_DRAIN_SECONDS": str(DRAIN_SECONDS),
        "PROMPTCORNER_LEASE_SECONDS": "30",
    }


async def parts_of(client, chat, kind):
    return [
        part
        for row in await client.history(chat)
        for part in row.body.parts
        if isinstance(part, kind)
    ]


async def waits_for_its_agent(client, parent):
    with trio.fail_after(EVENTUALLY_SECONDS):
        while "wait_agent" not in [p.name for p in await parts_of(client, parent, ToolCallPart)]:
            await trio.sleep(0.05)


async def stopped(daemon):
    """Its exit code, and how long that took."""
    told_at = time.monotonic()
    daemon.process.send_signal(signal.SIGTERM)
    code = await trio.to_thread.run_sync(daemon.process.wait)
    return code, time.monotonic() - told_at


async def test_a_parent_that_waits_goes_on_elsewhere_at_once(home, port, settings):
    with contextlib.ExitStack() as stack:
        leaving = stack.enter_context(
            a_daemon(home, **settings, PROMPTCORNER_CHILD_CHATS="0")  # the agent runs elsewhere
        )
        leaving.wait_ready()
        async with a_model(port) as model, a_client(settings["DATABASE_URL"]) as client:
            model.hold("child")
            parent = await client.create("delegate")
            await waits_for_its_agent(client, parent)
            staying = stack.enter_context(a_daemon(home, **settings))
            staying.wait_ready()
            await model.asked("child")

            code, seconds = await stopped(leaving)
            at_stop = (await client.view(parent)).chat
            model.let_go()
            await client.until(parent, *AT_REST)

            assert 0 == code
            assert seconds < AT_ONCE_SECONDS
            assert str(at_stop.holder and at_stop.holder.worker) not in leaving.workers()
            assert 0 == at_stop.process_deaths_count
            assert Counter(spawn=1, wait=1, child=1, answer=1) == model.count
            results = await parts_of(client, parent, ToolResultPart)
            assert ["spawn_agent", "wait_agent"] == [result.name for result in results]
            assert not any(result.is_error for result in results)
            [*_, (role, said)] = await client.said(parent)
            assert (Role.ASSISTANT.value, f"heard: {REPORT}") == (role, said)
            assert 0 == (await stopped(staying))[0]
