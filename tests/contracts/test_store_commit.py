"""The short way: whoever holds a chat commits from what he knows, and is told if he knew wrong."""

import pytest
import trio

from actors.law import requests as ask
from actors.law.closing import unanswered_calls
from actors.law.parts.message import FilePart
from actors.law.refusals import FilesUnavailable, NotAllowed
from actors.law.states import Status
from actors.law.store.ports import Applied, StaleFence, fence_of
from tests.actors.law.chats import (
    ANN,
    BROKEN,
    DYNAMIC,
    HOLDER,
    OTHER_HOLDER,
    RETRY,
    answer,
    assistant,
    call,
    result,
    send,
    step,
    submit,
    tool,
    user,
)
from tests.adapters.postgres.stores import new_chat_id, new_file_ids
from tests.contracts.given import a_held_chat, a_view, applied, stays


async def test_a_commit_writes_what_the_law_decides(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    said = (assistant("thinking", call("a")), tool(result("a")))

    made = await applied(world.ledger.commit(held, [step(*said)], fence=fence))

    rows = await world.rows(chat)
    assert made.chat == rows.chat
    assert list(zip(made.message_ids, said, strict=True)) == [
        (m.id, m.body) for m in rows.messages[1:]
    ]
    assert (2, 2, 0) == (
        rows.chat.snapshot_version,
        rows.chat.history_version,
        rows.chat.generation_attempt,
    )


async def test_the_next_commit_starts_from_the_last_answer(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    made = await applied(world.ledger.commit(held, [ask.RecordRetryState(RETRY)], fence=fence))

    for request in [
        ask.RecordGenerationAttempt(),
        step(assistant(call("a"))),
        ask.RecordGenerationAttempt(),
        ask.RecordRetryState(RETRY),
        step(tool(result("a"))),
        step(assistant("done")),
        ask.FinishTurn(),
    ]:
        made = await applied(world.ledger.commit(made.stored, [request], fence=fence_of(made.chat)))

    view = await world.reading.view(chat)
    assert (9, Status.WAITING) == (view.chat.snapshot_version, view.chat.status)
    assert view.chat == made.chat
    assert () == unanswered_calls(view.tail) == unanswered_calls(made.stored.tail)
    assert view.queue == made.stored.queue


@pytest.mark.parametrize(
    "first",
    [
        [ask.Acquire(HOLDER)],
        [ask.RecordGenerationAttempt()],
        [],
        [ask.RecordRetryState(RETRY)],
        [send("more")],
    ],
)
async def test_a_commit_can_start_from_any_answer(world, first):
    """The call that is open when the bundle comes is known to whoever goes on from its answer."""
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [step(assistant(call("a"))), send("next")]))
    made = await applied(world.ledger.apply(chat, first))

    finished = await applied(
        world.ledger.commit(made.stored, [ask.FinishTurn()], fence=fence_of(made.chat))
    )

    closing, _ = finished.change.added
    assert ["a"] == [part.id for part in closing.parts]
    assert closing == (await world.rows(chat)).messages[-2].body


async def test_a_commit_from_an_old_view_is_made_if_its_fence_stands(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    await applied(world.ledger.apply(chat, [send("meanwhile")]))

    made = await applied(
        world.ledger.commit(held, [step(assistant("x")), ask.FinishTurn()], fence=fence)
    )

    rows = await world.rows(chat)
    assert [user("hello"), assistant("x"), user("meanwhile")] == [m.body for m in rows.messages]
    assert (made.chat, ()) == (rows.chat, rows.queue)


@pytest.mark.parametrize(
    "meanwhile",
    [
        ask.Interrupt(),
        ask.Acquire(OTHER_HOLDER),
        step(assistant("y")),
        ask.RecordGenerationAttempt(),
    ],
)
async def test_a_commit_from_an_old_view_has_moved_on_if_its_fence_fell(world, meanwhile):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    await applied(world.ledger.apply(chat, [meanwhile]))

    async with stays(world, chat) as before:
        moved = await world.ledger.commit(held, [step(assistant("x"))], fence=fence)

    assert StaleFence(fence, before.chat) == moved


async def test_a_commit_that_the_law_refuses_is_refused(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)

    async with stays(world, chat):
        refused = await world.ledger.commit(held, [ask.CancelRequiresAction()], fence=fence)

    assert isinstance(refused, NotAllowed)


async def test_what_was_refused_from_an_old_view_may_be_right_by_now(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    made = await applied(world.ledger.apply(chat, [send("one")]))

    deleted = await world.ledger.commit(held, [ask.DeleteQueued(made.queued_ids[0])], fence=fence)

    assert isinstance(deleted, Applied)
    assert () == (await world.rows(chat)).queue


async def test_a_commit_may_give_the_chat_back(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)

    made = await applied(
        world.ledger.commit(
            held, [step(assistant("x")), ask.FinishTurn(), ask.Abandon()], fence=fence
        )
    )

    assert (None, Status.WAITING) == (made.chat.holder, made.chat.status)
    assert made.chat == (await world.rows(chat)).chat


async def test_a_commit_that_needs_the_time_is_dated_by_the_database(world):
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    held, fence = await a_view(world, chat)

    made = await applied(
        world.ledger.commit(
            held, [step(assistant(call("a", DYNAMIC))), ask.EnterRequiresAction()], fence=fence
        )
    )

    assert 300 == (made.chat.requires_action_deadline_at - made.at).total_seconds()
    assert made.chat == (await world.rows(chat)).chat


async def test_a_commit_may_edit(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    [first] = await world.reading.history(chat)

    made = await applied(
        world.ledger.commit(held, [ask.EditMessage(first.id, send("new").message)], fence=fence)
    )

    assert [user("new")] == [m.body for m in await world.reading.history(chat)]
    assert made.chat == (await world.rows(chat)).chat


async def test_a_commit_links_files_that_its_view_has_not_heard_of(world):
    linked, new, lost = new_file_ids(3)
    await world.add_files(linked, new)
    chat = await a_held_chat(world, files=(linked,))
    held, fence = await a_view(world, chat)

    both = [step(assistant(FilePart("t", file_id=linked), FilePart("t", file_id=new)))]
    made = await applied(world.ledger.commit(held, both, fence=fence))
    again = await applied(
        world.ledger.commit(
            made.stored, [step(assistant(FilePart("t", file_id=new)))], fence=fence_of(made.chat)
        )
    )
    refused = await world.ledger.commit(
        again.stored, [step(assistant(FilePart("t", file_id=lost)))], fence=fence_of(again.chat)
    )

    assert frozenset({linked, new}) == (await world.rows(chat)).files
    assert FilesUnavailable((lost,)) == refused


async def test_commits_of_many_chats_at_once_keep_to_themselves(world):
    chats = [await a_held_chat(world) for _ in range(20)]
    answers = {}

    async def commit(n, chat):
        held, fence = await a_view(world, chat)
        if n % 4 == 0:
            await world.ledger.apply(chat, [ask.Interrupt()])
        requests = (
            [ask.FinishError(BROKEN)] if n % 4 == 1 else [step(assistant(f"{n}"), user(f"{n}"))]
        )
        answers[n] = await world.ledger.commit(held, requests, fence=fence)

    async with trio.open_nursery() as nursery:
        for n, chat in enumerate(chats):
            nursery.start_soon(commit, n, chat)

    for n, chat in enumerate(chats):
        rows = await world.rows(chat)
        if n % 4 == 0:
            assert isinstance(answers[n], StaleFence)
            assert [user("hello")] == [m.body for m in rows.messages]
        else:
            assert answers[n].chat == rows.chat
            said = [] if n % 4 == 1 else [assistant(f"{n}"), user(f"{n}")]
            assert said == [m.body for m in rows.messages[1:]]
            assert answers[n].message_ids == tuple(m.id for m in rows.messages[1:])


async def test_two_commits_of_one_chat_at_once_are_made_one_after_the_other(world):
    """From the same view: the first moves the history, so the second has moved on."""
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    answers = []

    async def commit(text):
        answers.append(await world.ledger.commit(held, [step(assistant(text))], fence=fence))

    async with trio.open_nursery() as nursery:
        for text in ("a", "b", "c"):
            nursery.start_soon(commit, text)

    assert ["Applied", "StaleFence", "StaleFence"] == sorted(type(a).__name__ for a in answers)
    rows = await world.rows(chat)
    assert 2 == len(rows.messages)
    assert 2 == rows.chat.snapshot_version


async def test_both_of_two_commits_are_made_if_the_fence_of_the_second_still_stands(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    answers = []

    async def commit(retry):
        answers.append(
            await applied(world.ledger.commit(held, [ask.RecordRetryState(retry)], fence=fence))
        )

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(commit, RETRY)

    assert {2, 3, 4} == {made.chat.snapshot_version for made in answers}
    assert 4 == (await world.rows(chat)).chat.snapshot_version


async def test_a_clients_answer_is_the_tail_that_the_next_step_starts_from(world):
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    await applied(
        world.ledger.apply(chat, [step(assistant(call("a", DYNAMIC))), ask.EnterRequiresAction()])
    )
    made = await applied(world.ledger.apply(chat, [submit(answer("a"))]))

    done = await applied(
        world.ledger.commit(
            made.stored, [step(assistant("b")), ask.FinishTurn()], fence=fence_of(made.chat)
        )
    )

    assert Status.WAITING is done.chat.status
    assert [assistant("b")] == list(done.change.added)


async def test_a_new_chat_that_was_taken_can_be_committed_to_at_once(world):
    request = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user("u"),))
    made = await applied(world.ledger.create(request, [ask.Acquire(HOLDER)]))

    done = await applied(
        world.ledger.commit(
            made.stored, [step(assistant("b")), ask.FinishTurn()], fence=fence_of(made.chat)
        )
    )

    assert done.chat == (await world.rows(made.chat.id)).chat
