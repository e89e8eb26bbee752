"""The daemon dies or stops in mid-message and is started again: every watcher, by whatever rules it
comes back, ends with what is stored.
"""

import signal

import httpx2
import pytest
import trio

from tests.e2e.daemons import Daemon, a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import a_provider
from tests.e2e.watchers import HEADER, KINDS
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

TOKEN = "a-token-of-the-first-admin-for-these-tests"
CHATS = "/api/experimental/chats"
SLOWLY = {"delta_ms": 40, "deltas": 6000}  # longer than any test waits
QUICKLY = {"delta_ms": 5, "deltas": 60}
AT_ONCE = "[[text: At once.]] and then?"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": TOKEN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
}

ENDINGS = {signal.SIGKILL: Daemon.kill, signal.SIGTERM: Daemon.stop}


@pytest.fixture
def provider():
    with a_provider() as provider:
        yield provider


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
async def test_watchers_of_a_daemon_that_is_restarted_end_with_what_is_stored(
    home, provider, database, how
):
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    provider.behave(**SLOWLY)
    with a_daemon(home, **settings) as first:
        address = first.wait_ready()["listen"]
        url = f"http://{address}"
        async with httpx2.AsyncClient(
            base_url=url, headers={HEADER: TOKEN}, timeout=PATIENCE_SECONDS
        ) as client:
            chat = await begun(client)
        watchers = [kind(url, TOKEN, chat) for kind in KINDS for _ in range(2)]
        async with trio.open_nursery() as nursery:
            for watcher in watchers:
                nursery.start_soon(watcher.watch)
            await all_of(watchers, lambda state: len(state.parts) > 5 and state.queue)

            await trio.to_thread.run_sync(ENDINGS[how], first)
            provider.behave(**QUICKLY)

            with a_daemon(home, listen=address, **settings) as second:
                await trio.to_thread.run_sync(second.wait_ready)
                late = KINDS[0](url, TOKEN, chat)
                nursery.start_soon(late.watch)
                await all_of([*watchers, late], lambda state: state.status == "waiting")

                stored = (await asked(url, f"{CHATS}/{chat}/messages"))["messages"]
                nursery.cancel_scope.cancel()

    assert ["assistant", "user", "assistant", "user"] == [one["role"] for one in stored]
    assert "At once." == stored[0]["content"][0]["text"]
    for watcher in watchers:
        assert watcher.told_of(stored) == watcher.state.messages, watcher
        assert ([], []) == (watcher.state.parts, watcher.state.queue), watcher
        assert ["running", "waiting"] == changes(watcher.state.statuses), watcher
    assert late.told_of(stored) == late.state.messages
    told = {code for watcher in watchers for code in watcher.closed}
    assert (how == signal.SIGTERM) == (1001 in told), told


async def begun(client):
    """A chat that answers slowly, with a message behind it."""
    [organization] = (await client.get("/api/v2/users/me")).json()["organization_ids"]
    new = {"organization_id": organization, "content": [{"type": "text", "text": "tell me"}]}
    chat = (await client.post(CHATS, json=new)).json()["id"]
    more = {"content": [{"type": "text", "text": AT_ONCE}]}
    sent = await client.post(f"{CHATS}/{chat}/messages", json=more)
    assert sent.json()["queued"]
    return chat


async def all_of(watchers, condition):
    for watcher in watchers:
        await watcher.until(condition, EVENTUALLY_SECONDS)


def changes(statuses):
    """Without what was only said again."""
    pairs = zip(["", *statuses], statuses, strict=False)
    return [status for before, status in pairs if status != before]


async def asked(url, path):
    async with httpx2.AsyncClient(
        base_url=url, headers={HEADER: TOKEN}, timeout=PATIENCE_SECONDS
    ) as client:
        return (await client.get(path)).json()
