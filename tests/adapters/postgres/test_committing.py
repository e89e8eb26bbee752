"""Group commit: what one change of a group may do to the others, and what nobody may do to it."""

import pytest
import trio
from psycopg.errors import InvalidTextRepresentation
from trio.testing import wait_all_tasks_blocked

from actors.law import requests as ask
from actors.law.parts.message import JsonText
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import Applied, StaleFence, fence_of
from adapters.postgres import committing
from adapters.postgres.driver.connection import DatabaseConnection
from tests.actors.law.chats import HOLDER, RETRY, assistant, result, send, step, tool, user
from tests.contracts.given import a_chat, a_held_chat, a_view, applied
from tests.patience import PATIENCE_SECONDS

NOT_JSON = JsonText('{"a": ')  # what a law-abiding caller never commits
RECORD = [ask.RecordRetryState(RETRY)]


@pytest.fixture
async def other(store):
    """A connection of somebody else, in a transaction of his own."""
    connection = await DatabaseConnection.open(store.conninfo)
    yield connection
    connection.close()


async def commit(store, chat, requests, answers):
    held, fence = await a_view(store, chat)
    answers[chat] = await store.ledger.commit(held, requests, fence=fence)


async def test_a_change_that_the_server_refuses_harms_no_neighbour(store):
    good, bad, also_good = [await a_held_chat(store) for _ in range(3)]
    before = await store.rows(bad)
    answers = {}

    async def commit_bad():
        with pytest.raises(InvalidTextRepresentation):
            await commit(store, bad, [step(tool(result("a", value=NOT_JSON)))], answers)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(commit_bad)
        nursery.start_soon(commit, store, good, [step(assistant("x"))], answers)
        nursery.start_soon(commit, store, also_good, [step(assistant("y"))], answers)

    assert [True, True] == [isinstance(answers[chat], Applied) for chat in (good, also_good)]
    assert before == await store.rows(bad)
    assert await store.leaves_nothing_behind()


async def test_a_locked_chat_does_not_hold_up_its_neighbours(store, other):
    """They are in one group: all of them wait when the committer looks."""
    chats = [await a_held_chat(store) for _ in range(5)]
    views = {chat: await a_view(store, chat) for chat in chats}
    locked, *free = chats
    answers = {}

    async def commit_held(chat):
        held, fence = views[chat]
        answers[chat] = await store.ledger.commit(held, [step(assistant("x"))], fence=fence)

    async with other.transaction() as tx, trio.open_nursery() as nursery:
        await tx.run([("SELECT id FROM chats WHERE id = %(id)s FOR UPDATE", {"id": locked})])
        with trio.fail_after(PATIENCE_SECONDS):
            async with trio.open_nursery() as neighbours:
                nursery.start_soon(commit_held, locked)
                for chat in free:
                    neighbours.start_soon(commit_held, chat)

        assert set(free) == answers.keys()
        nursery.start_soon(tx.commit)

    assert isinstance(answers[locked], Applied)
    assert {made.change.added for made in answers.values()} == {(assistant("x"),)}
    assert 1 == len({answers[chat].at for chat in free})


async def test_whoever_writes_a_child_does_not_keep_its_root_from_being_written(store, other):
    """His transaction holds the root's key, as every writer of the child does."""
    root = await a_held_chat(store)
    child = await a_chat(store, parent=root)
    key = ("SELECT id FROM chats WHERE id = %(id)s FOR KEY SHARE", {"id": root})

    async with other.transaction() as tx:
        await tx.run([key, key])
        held, fence = await a_view(store, root)
        committed = await applied(store.ledger.commit(held, [step(assistant("x"))], fence=fence))
        sent = await applied(store.ledger.apply(root, [send("q"), ask.FinishTurn()]))
        done = await applied(store.ledger.apply(root, [ask.FinishTurn()]))
        await applied(store.ledger.apply(child, [ask.FinishTurn()]))
        family = await store.ledger.archive_family(root, archived=True)

    assert [2, 3, 4] == [made.chat.snapshot_version for made in (committed, sent, done)]
    assert [root, child] == [made.chat.id for made in family]
    assert (await store.rows(root)).chat == family[0].chat


async def test_an_asker_who_is_cancelled_leaves_a_whole_group(store):
    """His change stands or not; if it stands it is told of. The others are not disturbed."""
    chats = [await a_held_chat(store) for _ in range(6)]
    views = {chat: await a_view(store, chat) for chat in chats}
    gives_up, *stay = chats
    answers, scope = {}, trio.CancelScope()
    store.told.clear()

    async def commit_held(chat):
        held, fence = views[chat]
        answers[chat] = await store.ledger.commit(held, [step(assistant("x"))], fence=fence)

    async def commit_and_give_up():
        with scope:
            await commit_held(gives_up)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(commit_and_give_up)
        for chat in stay:
            nursery.start_soon(commit_held, chat)
        await trio.lowlevel.checkpoint()
        scope.cancel()

    await store.until("SELECT count(*) = 0 FROM pg_stat_activity WHERE wait_event = 'relation'")
    moved = {hint.chat for hint in store.told if isinstance(hint, ChatMoved)}
    written = {chat for chat in chats if len((await store.rows(chat)).messages) == 2}
    assert written == moved >= set(stay) == answers.keys()
    assert await store.leaves_nothing_behind()


async def test_an_asker_cancelled_while_his_group_is_on_its_way_has_committed(store, other):
    chat, neighbour = await a_held_chat(store), await a_held_chat(store)
    held, fence = await a_view(store, chat)
    held_too, fence_too = await a_view(store, neighbour)
    store.told.clear()
    scope, answers = trio.CancelScope(), []

    async def give_up():
        with scope:
            await store.ledger.commit(held, [step(assistant("x"))], fence=fence)

    async def stay():
        made = await store.ledger.commit(held_too, [step(assistant("y"))], fence=fence_too)
        answers.append(made)

    async with other.transaction() as tx, trio.open_nursery() as nursery:
        await tx.run([("LOCK TABLE messages IN SHARE MODE", ())])  # the group waits here
        nursery.start_soon(give_up)
        nursery.start_soon(stay)
        await store.until("SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'relation'")
        scope.cancel()
        await wait_all_tasks_blocked()
        await tx.commit()

    assert scope.cancelled_caught
    assert {chat, neighbour} == {hint.chat for hint in store.told}
    assert [user("hello"), assistant("x")] == [m.body for m in await store.reading.history(chat)]
    assert isinstance(answers[0], Applied)


async def give_up_a_commit(store, held, fence, said):
    scope = trio.CancelScope()

    async def give_up():
        with scope:
            await store.ledger.commit(held, [step(assistant(said))], fence=fence)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(give_up)
        await wait_all_tasks_blocked()
        scope.cancel()


async def test_what_a_cancelled_asker_committed_keeps_out_what_he_commits_next(store):
    chat = await a_held_chat(store)
    held, fence = await a_view(store, chat)
    await give_up_a_commit(store, held, fence, "first")
    await store.until(f"SELECT count(*) = 2 FROM messages WHERE chat_id = '{chat}'")

    second = await store.ledger.commit(held, [step(assistant("second"))], fence=fence)

    assert isinstance(second, StaleFence)
    assert [user("hello"), assistant("first")] == [
        m.body for m in await store.reading.history(chat)
    ]


async def test_of_two_commits_of_a_cancelled_asker_one_stands(store):
    """They go out on two connections, and the server may meet the second one first."""
    chat = await a_held_chat(store)
    held, fence = await a_view(store, chat)
    await give_up_a_commit(store, held, fence, "first")

    second = await store.ledger.commit(held, [step(assistant("second"))], fence=fence)

    stands = "second" if isinstance(second, Applied) else "first"
    assert [user("hello"), assistant(stands)] == [m.body for m in await store.reading.history(chat)]
    assert await store.leaves_nothing_behind()


async def test_a_group_is_as_large_as_the_load(store):
    chats = [await a_held_chat(store) for _ in range(40)]
    views = [await a_view(store, chat) for chat in chats]
    answers = []

    async def commit_held(held, fence):
        answers.append(await store.ledger.commit(held, RECORD, fence=fence))

    async with trio.open_nursery() as nursery:
        for view in views:
            nursery.start_soon(commit_held, *view)

    groups = {made.at for made in answers}
    assert 40 == len(answers)
    assert len(groups) <= 2 * committing.WRITERS


async def test_many_commits_of_the_same_chats_lose_nothing_and_double_nothing(store):
    """Each is made from the last answer; whoever has moved on looks again."""
    chats = [await a_chat(store, then=[ask.Acquire(HOLDER)]) for _ in range(3)]
    told = len(store.told)
    commits = 12

    async def worker(chat, name):
        held, _ = await a_view(store, chat)
        done = 0
        while done < commits:
            fence = fence_of(held.chat)
            answer = await store.ledger.commit(
                held, [step(assistant(f"{name}.{done}"))], fence=fence
            )
            if isinstance(answer, Applied):
                held, done = answer.stored, done + 1
            else:
                held, _ = await a_view(store, chat)

    async with trio.open_nursery() as nursery:
        for chat in chats:
            for name in "ab":
                nursery.start_soon(worker, chat, name)

    expected = {f"{name}.{n}" for name in "ab" for n in range(commits)}
    for chat in chats:
        _, *history = await store.reading.history(chat)
        assert expected == {m.body.parts[0].text for m in history}
        assert len(expected) == len(history)
        assert 1 + len(expected) == (await store.rows(chat)).chat.snapshot_version
        moved = [hint for hint in store.told[told:] if isinstance(hint, ChatMoved)]
        snapshots = [hint.snapshot_version for hint in moved if hint.chat == chat]
        assert list(range(2, 2 + len(expected))) == sorted(snapshots)
