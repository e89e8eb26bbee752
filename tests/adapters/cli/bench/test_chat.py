"""A chat of a load, against a daemon that answers what it is told to."""

import json
from functools import partial

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from adapters.cli.bench.plan import LoadTarget
from adapters.cli.bench.processes.chat import BenchChat, StageFailed, open_watchers
from tests.patience import PATIENCE_SECONDS

WAITING = json.dumps([{"type": "status", "status": {"status": "waiting"}}]).encode()
RUNNING = json.dumps([{"type": "status", "status": {"status": "running"}}]).encode()


def target_at(url):
    return LoadTarget(url=url, token="t", organization="", model=None, provider=None)


async def answers(status, stream):
    """Answer each request with this status and nothing else."""
    while await stream.receive_some(65_536):
        await stream.send_all(b"HTTP/1.1 %d Said\r\nContent-Length: 0\r\n\r\n" % status)


@pytest.fixture
async def chat_of(nursery):
    """Return a chat of a daemon that answers with a status, in a turn that has begun."""
    made = []
    async with open_watchers() as watchers:

        async def make(status):
            [listener] = await nursery.start(
                partial(trio.serve_tcp, partial(answers, status), 0, host="127.0.0.1")
            )
            port = listener.socket.getsockname()[1]
            chat = BenchChat(target_at(f"http://127.0.0.1:{port}"), watchers)
            made.append(chat)
            chat.talk.begin(0.0)
            chat.hear([RUNNING], 1.0)
            return chat

        yield make
        for chat in made:
            await chat.close()
    nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("status", "is_timed"), [(200, True), (409, False)])
async def test_an_interrupt_is_timed_unless_the_turn_was_over_before(chat_of, status, is_timed):
    chat = await chat_of(status)
    found = []

    async def interrupt():
        found.append(await chat.interrupt())

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(interrupt)
            await wait_all_tasks_blocked()
            chat.hear([WAITING], 2.0)

    assert [is_timed] == [seconds is not None for seconds in found]


async def test_an_interrupt_that_is_refused_has_failed(chat_of):
    chat = await chat_of(500)

    with pytest.raises(StageFailed, match="answered 500"):
        await chat.interrupt()
