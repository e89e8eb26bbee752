"""A message to a chat that this process has left at rest is decided from what the process knows.
Whatever others have done meanwhile is found out before anything is written."""

import pytest
import trio

from actors.law.chat import Role
from actors.law.requests import SetArchived
from adapters.access.changes import ChatSender
from adapters.rehearsal.behaviour import Behaviour
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.routes.daemon import a_daemon
from tests.adapters.chats.routes.ground import message
from tests.adapters.postgres.stores import open_store
from tests.patience import PATIENCE_SECONDS

SPOKEN = [(Role.USER, "hello"), (Role.ASSISTANT, "done")]


@pytest.fixture
async def daemon(fresh):
    async with a_daemon(fresh, Behaviour(text="done", delta_ms=1)) as daemon:
        yield daemon


@pytest.fixture
async def elsewhere(daemon, fresh):
    """The store of a process of whose news the daemon hears nothing."""
    async with open_store(fresh, emptied=False) as store:
        yield store


@pytest.fixture
async def chat(daemon):
    """A chat that the daemon has left at rest."""
    chat = await daemon.begin("hello")
    assert await daemon.at_rest(chat) == SPOKEN
    await left_at_rest(daemon, chat)
    return chat


async def left_at_rest(daemon, chat):
    """The chat as the daemon knows it, which learns of its own commit a moment after all others
    can see it."""
    with trio.fail_after(PATIENCE_SECONDS):
        while (known := daemon.chats.store.histories.at_rest(chat)) is None:
            await trio.sleep(0.002)
    return known


async def test_a_message_puts_it_to_work(daemon, chat):
    sent = await daemon.ask("POST", f"{chat}/messages", message("go on"))

    assert 200 == sent.status
    assert not sent.said["queued"]
    assert await daemon.at_rest(chat) == [*SPOKEN, (Role.USER, "go on"), (Role.ASSISTANT, "done")]


async def test_a_message_that_is_named_is_sent_once(daemon, chat):
    key = (("idempotency-key", "one"),)

    first, second = [
        await daemon.ask("POST", f"{chat}/messages", message("go on"), headers=key)
        for _ in range(2)
    ]

    assert first.said["message"]["id"] == second.said["message"]["id"]
    assert 4 == len(await daemon.at_rest(chat))


async def test_nobody_else_may_send_one(daemon, chat):
    sent = await daemon.ground.ask(BOB, "POST", f"{chat}/messages", message("go on"))

    assert 404 == sent.status
    assert await daemon.at_rest(chat) == SPOKEN


async def test_what_is_known_of_it_is_given_to_its_owner_alone(daemon, chat):
    store = daemon.chats.store
    sending = ChatSender(store.ledger, daemon.chats.supervisor, histories=store.histories)

    assert chat == sending.at_rest(chat, ANN).chat.id
    assert sending.at_rest(chat, BOB) is None


async def test_one_that_was_archived_elsewhere_takes_none(daemon, elsewhere, chat):
    await elsewhere.ledger.apply(chat, [SetArchived(True)])

    sent = await daemon.ask("POST", f"{chat}/messages", message("go on"))

    assert (400, "chat is archived") == (sent.status, sent.said["message"])


async def test_one_that_is_gone_is_not_found(daemon, elsewhere, chat):
    await elsewhere.execute("DELETE FROM chats WHERE id = %(chat)s", chat=chat)

    sent = await daemon.ask("POST", f"{chat}/messages", message("go on"))

    assert 404 == sent.status


async def test_one_that_has_moved_on_elsewhere_takes_it_all_the_same(daemon, elsewhere, chat):
    await elsewhere.ledger.apply(chat, [])

    sent = await daemon.ask("POST", f"{chat}/messages", message("go on"))

    assert 200 == sent.status
    assert 4 == len(await daemon.at_rest(chat))
    assert ANN == (await left_at_rest(daemon, chat)).chat.owner_id
