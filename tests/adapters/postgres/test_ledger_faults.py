"""The ledger when the network fails at any byte, and when its caller gives up at any moment.

Each operation is first made undisturbed, and the bytes that pass are counted. Then it is made
again and again, and something happens after so many of them. What is stored afterwards has to be
all of it or nothing, and what was answered and told has to be just that.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest
import trio

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Applied, StaleFence
from actors.law.transitions import bundle
from adapters.postgres.driver.faults import (
    AnswerLost,
    DatabaseFault,
    OutcomeUnknown,
    PoolExhausted,
)
from adapters.postgres.driver.timeouts import Timeouts
from tests.actors.law.chats import (
    ANN,
    HOLDER,
    OTHER_HOLDER,
    assistant,
    call,
    edit,
    send,
    step,
    user,
)
from tests.adapters.postgres.stores import new_chat_id, open_store
from tests.contracts.given import a_chat, a_held_chat, a_view, applied
from tests.fakes.severed_network import severed_network
from tests.patience import PATIENCE_SECONDS

POINTS = 7  # moments of each kind at which something happens to an operation
SAID = [step(assistant("x", call("a"))), send("q"), send("r")]


@dataclass
class Operation:
    """Something to be made over the network, on `chats`. `members`: the answer, chat by chat."""

    chats: list
    make: Any  # of a ledger: its answer


async def an_apply(store):
    chat = await a_held_chat(store)
    return Operation([chat], lambda ledger: ledger.apply(chat, SAID))


async def a_create(_):
    id = new_chat_id()
    request = ask.CreateChat(ask.NewChat(id, ANN), (user("a"), user("b")))
    return Operation([id], lambda ledger: ledger.create(request))


async def a_commit(store):
    chat = await a_held_chat(store)
    held, fence = await a_view(store, chat)
    return Operation([chat], lambda ledger: ledger.commit(held, SAID, fence=fence))


async def a_commit_that_gives_back(store):
    chat = await a_held_chat(store)
    held, fence = await a_view(store, chat)
    requests = [step(assistant("x")), ask.FinishTurn(), ask.Abandon()]
    return Operation([chat], lambda ledger: ledger.commit(held, requests, fence=fence))


async def a_waking(store):
    chat = await a_chat(store, done=True)
    resting = await store.reading.view(chat)
    requests = [send("q"), ask.TakeUp(HOLDER)]
    return Operation([chat], lambda ledger: ledger.wake(resting, requests))


async def a_waking_without_a_place(store):
    chat = await a_chat(store, done=True)
    resting = await store.reading.view(chat)
    return Operation([chat], lambda ledger: ledger.wake(resting, [send("q")]))


async def a_family(store):
    root = await a_chat(store, done=True)
    children = [await a_chat(store, parent=root, done=True) for _ in range(2)]
    return Operation([root, *children], lambda ledger: ledger.archive_family(root, archived=True))


OPERATIONS = [
    an_apply,
    a_create,
    a_commit,
    a_commit_that_gives_back,
    a_waking,
    a_waking_without_a_place,
    a_family,
]
every_operation = pytest.mark.parametrize("an_operation", OPERATIONS)


@pytest.fixture
async def network(migrated):
    async with severed_network(migrated) as network:
        yield network


@pytest.fixture
async def far(store, network):
    """The store, over the network. One connection: who would take a second one is found out."""
    async with open_store(
        store.conninfo,
        through=network.conninfo,
        size=1,
        wait_seconds=2.0,
        emptied=False,
        timeouts=Timeouts(lock_seconds=0.3),  # a server in the dark keeps its locks for long
    ) as far:
        yield far


async def bytes_of(an_operation, store, far, network):
    """How many pass, either way, when it is made on a connection that has made it before."""
    for _ in range(2):
        operation = await an_operation(store)
        network.release()
        await operation.make(far.ledger)
    return network.to_server, network.to_client


def points(count):
    return sorted({round(count * n / (POINTS - 1)) for n in range(POINTS)} | {count - 1})


async def check(operation, before, answer, store, far):
    """Wholly or not at all, and told of if and only if it stands. Whether it does."""
    after = [await store.rows(chat) for chat in operation.chats]
    if before == after:
        assert [] == far.told
        assert answer is None
        return False
    with trio.fail_after(PATIENCE_SECONDS):  # another task tells of it, as the caller has gone
        while len(moved := [hint for hint in far.told if isinstance(hint, ChatMoved)]) < len(after):
            await trio.sleep(0.002)
    assert operation.chats == [hint.chat for hint in moved]
    assert [rows.chat.snapshot_version for rows in after] == [h.snapshot_version for h in moved]
    if answer is not None:
        members = answer if isinstance(answer, tuple) else (answer,)
        for rows, made in zip(after, members, strict=True):
            said = [m for m in rows.messages if m.revision == made.chat.snapshot_version]
            assert made.chat == rows.chat
            assert made.message_ids == tuple(m.id for m in said)
            assert made.change.added == tuple(m.body for m in said)
            assert made.queued_ids == tuple(row.id for row in rows.queue)
    return True


@pytest.mark.slow
@pytest.mark.parametrize("tell_server", [True, False])
@every_operation
async def test_a_cut_at_any_byte_leaves_all_or_nothing(
    store, far, network, an_operation, tell_server
):
    to_server, to_client = await bytes_of(an_operation, store, far, network)
    plans = [{"to_server": n} for n in points(to_server)]
    plans += [{"to_client": n} for n in points(to_client)]
    stood = []

    for plan in plans:
        await (await an_operation(store)).make(far.ledger)
        operation = await an_operation(store)
        before = [await store.rows(chat) for chat in operation.chats]
        far.told.clear()
        network.cut_after(**plan, tell_server=tell_server)
        answer = None
        try:
            answer = await operation.make(far.ledger)
        except DatabaseFault as fault:
            assert not isinstance(fault, OutcomeUnknown), plan
        network.release()

        stood.append(await check(operation, before, answer, store, far))
        assert (0, 0) == (far.pool.statistics().lent, far.pool.statistics().waiting)
        if stood[-1]:
            assert answer is not None, "it stands, and its caller was told that it does not"

    assert any(stood)


@pytest.mark.slow
@every_operation
async def test_a_caller_who_gives_up_at_any_byte_leaves_all_or_nothing(
    store, far, network, an_operation
):
    to_server, to_client = await bytes_of(an_operation, store, far, network)
    plans = [{"to_server": n} for n in points(to_server)]
    plans += [{"to_client": n} for n in points(to_client)]
    stood = set()

    for plan in plans:
        await (await an_operation(store)).make(far.ledger)
        operation = await an_operation(store)
        before = [await store.rows(chat) for chat in operation.chats]
        far.told.clear()
        network.hold_after(**plan)
        answers, caller, struck = [], trio.CancelScope(), trio.CancelScope()

        async def make(operation=operation, answers=answers, caller=caller, struck=struck):
            with caller:
                answers.append(await operation.make(far.ledger))
            struck.cancel()  # no byte is held behind the last one

        async with trio.open_nursery() as nursery:
            nursery.start_soon(make)
            with struck:
                await network.struck.wait()
            caller.cancel()
            network.release()

        await until_idle(far)
        [*_, answer] = [None, *answers]
        stood.add(await check(operation, before, answer, store, far))

    assert True in stood


@every_operation
async def test_a_caller_who_gave_up_before_has_done_nothing(store, an_operation):
    operation = await an_operation(store)
    before = [await store.rows(chat) for chat in operation.chats]
    store.told.clear()

    with trio.CancelScope() as scope:
        scope.cancel()
        await operation.make(store.ledger)

    assert not await check(operation, before, None, store, store)
    assert await store.leaves_nothing_behind()


@every_operation
async def test_no_connection_free_is_an_answer_and_nothing_is_done(store, an_operation):
    operation = await an_operation(store)
    before = [await store.rows(chat) for chat in operation.chats]
    async with open_store(store.conninfo, size=1, wait_seconds=0.01, emptied=False) as poor:
        async with poor.pool.connection():
            with pytest.raises(PoolExhausted):
                await operation.make(poor.ledger)
            assert not await check(operation, before, None, store, poor)

        await operation.make(poor.ledger)

    assert await check(operation, before, None, store, poor)


def made_of(resting, requests):
    """The change that a waking makes of a chat, which is not written."""
    chat = replace(resting.chat, snapshot_version=resting.chat.snapshot_version + 1)
    change = bundle(replace(resting, chat=chat), requests)
    assert isinstance(change, Change)
    return change


def words_of(rows):
    """Return the texts of all messages, and of those that wait in the queue."""
    said = [*(each.body for each in rows.messages), *(each.message for each in rows.queue)]
    return [getattr(part, "text", "") for each in said for part in each.parts]


async def write_a_step(store, chat):
    """Write a step behind it, as the holder of the chat does."""
    held, fence = await a_view(store, chat)
    await applied(store.ledger.commit(held, [step(assistant("a"))], fence=fence))


@pytest.mark.parametrize("is_written_since", [False, True])
@pytest.mark.parametrize("place", [[], [ask.TakeUp(HOLDER)]], ids=["without a place", "taken up"])
async def test_a_lost_waking_is_found(store, place, is_written_since):
    chat = await a_chat(store, done=True)
    resting = await store.reading.view(chat)
    woken = await applied(store.ledger.wake(resting, [send("q"), *place]))
    if not place:
        await applied(store.ledger.apply(chat, [ask.TakeUp(HOLDER)]))
    if is_written_since:
        await write_a_step(store, chat)
    before = await store.rows(chat)

    found = await applied(store.ledger.apply(chat, [send("q"), *place], lost=woken.change))

    assert woken.message_ids == found.message_ids
    assert before == await store.rows(chat)


@pytest.mark.parametrize("others", [[], [ask.TakeUp(OTHER_HOLDER)]], ids=["waits", "taken up"])
@pytest.mark.parametrize("place", [[], [ask.TakeUp(HOLDER)]], ids=["without a place", "with one"])
async def test_a_lost_waking_is_not_taken_for_that_of_another_process(store, place, others):
    chat = await a_chat(store, done=True)
    resting = await store.reading.view(chat)
    ours = [send("q"), *place]
    lost = made_of(resting, ours)
    theirs = await applied(store.ledger.wake(resting, [send("theirs"), *others]))

    found = await store.ledger.apply(chat, [send("q")], lost=lost)

    assert isinstance(found, Applied)
    assert found.message_ids != theirs.message_ids
    assert "q" in words_of(await store.rows(chat))


async def test_a_lost_waking_that_was_not_written_is_made_behind_what_others_sent(store):
    chat = await a_chat(store, done=True)
    lost = made_of(await store.reading.view(chat), [send("q")])
    await applied(store.ledger.apply(chat, [send("theirs")]))

    await applied(store.ledger.apply(chat, [send("q")], lost=lost))

    assert "q" in words_of(await store.rows(chat))


async def test_a_lost_waking_whose_message_is_gone_is_in_doubt_and_told(store):
    chat = await a_chat(store, done=True)
    resting = await store.reading.view(chat)
    woken = await applied(store.ledger.wake(resting, [send("q")]))
    [message] = woken.message_ids
    await applied(store.ledger.apply(chat, [edit("other words", id=message)]))
    before = await store.rows(chat)
    store.told.clear()

    with pytest.raises(AnswerLost, match="it cannot be told if it was committed"):
        await store.ledger.apply(chat, [send("q")], lost=woken.change)

    assert before == await store.rows(chat)
    [moved] = [hint for hint in store.told if isinstance(hint, ChatMoved)]
    assert before.chat.snapshot_version == moved.snapshot_version


async def test_a_server_process_that_is_killed_while_it_waits_for_a_lock_wrote_nothing(store):
    chat = await a_held_chat(store)
    before = await store.rows(chat)
    store.told.clear()
    faults = []

    async def apply():
        try:
            await store.ledger.apply(chat, SAID)
        except DatabaseFault as fault:
            faults.append(fault)

    async with store.pool.connection() as connection, connection.transaction() as tx:
        await tx.run([("SELECT FROM chats WHERE id = %(id)s FOR UPDATE", {"id": chat})])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(apply)
            waits = "datname = current_database() AND wait_event_type = 'Lock'"
            await store.until(f"SELECT count(*) = 1 FROM pg_stat_activity WHERE {waits}")
            await store.execute(
                f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {waits}"
            )

    assert 1 == len(faults)
    assert ([], before) == (store.told, await store.rows(chat))
    assert await store.leaves_nothing_behind()


async def test_of_two_workers_who_commit_from_one_view_one_has_moved_on(store):
    chat = await a_held_chat(store)
    held, fence = await a_view(store, chat)
    answers = []

    async def commit(ledger, text):
        answers.append(await ledger.commit(held, [step(assistant(text))], fence=fence))

    async with open_store(store.conninfo, emptied=False) as other, trio.open_nursery() as nursery:
        nursery.start_soon(commit, store.ledger, "mine")
        nursery.start_soon(commit, other.ledger, "theirs")

    assert {Applied, StaleFence} == {type(answer) for answer in answers}
    assert 2 == len((await store.rows(chat)).messages)


async def test_eight_empty_bundles_at_once_are_eight_snapshots(store):
    chat = await a_chat(store)

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(store.ledger.apply, chat, [])

    assert 9 == (await store.rows(chat)).chat.snapshot_version


async def test_a_family_is_archived_while_its_members_commit(store):
    """Each waits for the other at most; none of them fails."""
    root = await a_held_chat(store, done=True)
    children = [await a_held_chat(store, parent=root, done=True) for _ in range(4)]
    done = []

    async def commit(chat):
        for _ in range(10):
            held, fence = await a_view(store, chat)
            await store.ledger.commit(held, [], fence=fence)
            await applied(store.ledger.apply(chat, []))
        done.append(chat)

    async def archive():
        for n in range(10):
            assert isinstance(await store.ledger.archive_family(root, archived=n % 2 == 0), tuple)
        done.append("archived")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(archive)
        nursery.start_soon(archive)
        for chat in [root, *children]:
            nursery.start_soon(commit, chat)

    assert 7 == len(done)
    assert await store.leaves_nothing_behind()


async def until_idle(store):
    with trio.fail_after(PATIENCE_SECONDS):
        while store.pool.statistics().lent:
            await trio.sleep(0.002)
