"""News: told after the commit, once for each bundle, and never of what was not committed."""

import pytest
import trio

from actors.law import requests as ask
from actors.law.chat import Verdict
from actors.law.parts.message import FilePart
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, ListChange, OpenApprovalsChanged, WorkWaits
from tests.actors.law.chats import (
    ANN,
    BROKEN,
    DYNAMIC,
    HOLDER,
    LOCAL,
    OTHER_HOLDER,
    assistant,
    call,
    result,
    send,
    step,
    tool,
    user,
)
from tests.adapters.postgres.stores import new_chat_id, new_file_ids
from tests.contracts.given import a_chat, a_held_chat, a_view, applied

CREATED, STATUS = ListChange.CREATED, ListChange.STATUS


def moved(chat, became=None, *, by_holder=False):
    holder = chat.holder
    return ChatMoved(
        chat.id,
        chat.snapshot_version,
        chat.history_version,
        chat.queue_version,
        chat.retry_state_version,
        chat.generation_attempt,
        chat.status,
        chat.archived,
        holder and holder.worker,
        holder and holder.runner,
        chat.owner_id,
        by_holder,
        became,
    )


async def test_a_new_chat_is_told_of_and_has_work(world):
    request = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user("u"),))

    made = await applied(world.ledger.create(request))

    assert [moved(made.chat, CREATED), WorkWaits(made.chat.id, 1)] == world.told


async def test_a_new_chat_that_is_taken_at_once_waits_for_nobody(world):
    request = ask.CreateChat(ask.NewChat(new_chat_id(), ANN), (user("u"),))

    made = await applied(world.ledger.create(request, [ask.Acquire(HOLDER)]))

    assert [moved(made.chat, CREATED)] == world.told


async def test_a_bundle_is_told_of_once_with_what_holds_at_its_end(world):
    chat = await a_chat(world)
    world.told.clear()

    made = await applied(
        world.ledger.apply(chat, [ask.FinishTurn(), ask.SetArchived(True), ask.SetArchived(False)])
    )

    assert [moved(made.chat, STATUS)] == world.told
    assert moved((await world.rows(chat)).chat, STATUS) == world.told[0]


async def test_a_commit_is_told_of_once(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    await world.leases.beat(HOLDER.worker)
    world.told.clear()

    made = await applied(world.ledger.commit(held, [step(assistant("x"))], fence=fence))

    assert [moved(made.chat, by_holder=True)] == world.told


ASKS = (ask.CallToApprove("a", LOCAL, "{}"),)
OF_ITS_HOLDER = {  # what leads there, what its holder commits then, and how lists show it
    "a step that waits for a client": (
        [],
        [step(assistant(call("c", DYNAMIC))), ask.EnterRequiresAction()],
        ListChange.ACTION,
    ),
    "an interruption": ([ask.Interrupt()], [ask.FinishInterruption()], STATUS),
    "an interruption with an open call": (
        [step(assistant(call("a"))), ask.Interrupt()],
        [ask.FinishInterruption()],
        STATUS,
    ),
    "an interruption that gives the chat back": (
        [step(assistant(call("a"))), ask.Interrupt()],
        [ask.FinishInterruption(gives_back=True)],
        STATUS,
    ),
    "consent that came too late": (
        [step(assistant(call("a"))), ask.EnterRequiresAction(ASKS, -1)],
        [ask.ExpireApprovals()],
        STATUS,
    ),
    "a client that came too late": (
        [step(assistant(call("c", DYNAMIC))), ask.EnterRequiresAction()],
        [ask.CancelRequiresAction()],
        STATUS,
    ),
}


@pytest.mark.parametrize("name", OF_ITS_HOLDER)
async def test_whatever_a_holder_commits_is_told_as_its_own(world, name):
    leads_there, requests, became = OF_ITS_HOLDER[name]
    chat = await a_held_chat(world, tools=(DYNAMIC,))
    await applied(world.ledger.apply(chat, leads_there))
    held, fence = await a_view(world, chat)
    await world.leases.beat(HOLDER.worker)
    world.told.clear()

    made = await applied(world.ledger.commit(held, requests, fence=fence))

    assert moved(made.chat, became, by_holder=True) == world.told[0]


async def test_what_a_holder_commits_is_its_own_though_it_knew_less_than_is_stored(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    await world.leases.beat(HOLDER.worker)
    await applied(world.ledger.apply(chat, [send("meanwhile")]))
    world.told.clear()

    made = await applied(world.ledger.commit(held, [step(assistant("x"))], fence=fence))

    assert [moved(made.chat, by_holder=True)] == world.told


async def test_a_commit_that_brings_a_file_is_its_holders_own(world):
    [file] = new_file_ids(1)
    await world.add_files(file)
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    await world.leases.beat(HOLDER.worker)
    world.told.clear()

    said = step(assistant(FilePart("text/plain", file_id=file)))
    made = await applied(world.ledger.commit(held, [said], fence=fence))

    assert [moved(made.chat, by_holder=True)] == world.told


async def test_a_commit_that_gives_the_chat_back_tells_that_work_waits(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    world.told.clear()

    made = await applied(world.ledger.commit(held, [ask.Abandon()], fence=fence))

    assert [moved(made.chat, by_holder=True), WorkWaits(chat, 2)] == world.told


async def test_the_empty_bundle_is_told_of_too(world):
    chat = await a_chat(world, done=True)
    world.told.clear()

    made = await applied(world.ledger.apply(chat, []))

    assert [moved(made.chat)] == world.told


async def test_nobody_is_called_to_a_chat_without_work(world):
    chat = await a_chat(world)
    world.told.clear()

    await applied(world.ledger.apply(chat, [ask.FinishError(BROKEN)]))

    assert [ChatMoved] == [type(hint) for hint in world.told]


@pytest.mark.parametrize(
    ("status", "became", "request_"),
    [
        (Status.RUNNING, None, None),
        (Status.INTERRUPTING, STATUS, ask.Interrupt()),
        (Status.RUNNING, STATUS, send("q")),
    ],
)
async def test_an_unowned_chat_at_work_calls_for_a_worker(world, status, became, request_):
    chat = await a_chat(world)
    world.told.clear()

    made = await applied(world.ledger.apply(chat, [] if request_ is None else [request_]))

    assert status is made.chat.status
    assert [moved(made.chat, became), WorkWaits(chat, 2)] == world.told


async def test_a_chat_whose_worker_beats_calls_for_nobody(world):
    chat = await a_held_chat(world)
    await world.leases.beat(HOLDER.worker)
    await world.pass_time(25)  # and what the machine takes
    world.told.clear()

    await applied(world.ledger.apply(chat, [send("q")]))

    assert [ChatMoved] == [type(hint) for hint in world.told]


async def test_a_chat_whose_worker_has_been_silent_for_a_lease_calls_for_another(world):
    chat = await a_held_chat(world)
    await world.leases.beat(HOLDER.worker)
    await world.pass_time(31)
    world.told.clear()

    await applied(world.ledger.apply(chat, []))

    assert [ChatMoved, WorkWaits] == [type(hint) for hint in world.told]


async def test_a_chat_whose_worker_has_left_calls_for_another(world):
    chat = await a_held_chat(world)
    await world.leases.beat(HOLDER.worker)
    await world.leases.leave(HOLDER.worker)
    world.told.clear()

    await applied(world.ledger.apply(chat, []))

    assert [ChatMoved, WorkWaits] == [type(hint) for hint in world.told]


async def test_a_chat_that_is_taken_calls_for_nobody_else(world):
    chat = await a_held_chat(world)
    world.told.clear()

    await applied(world.ledger.apply(chat, [ask.Acquire(OTHER_HOLDER)]))

    assert [ChatMoved] == [type(hint) for hint in world.told]


async def test_a_request_for_compaction_calls_for_a_worker_once(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [step(assistant("hi")), ask.FinishTurn()]))
    await world.leases.beat(HOLDER.worker)
    world.told.clear()

    made = await applied(world.ledger.apply(chat, [ask.RequestCompaction()]))

    assert [moved(made.chat, STATUS), WorkWaits(chat, 3)] == world.told


async def test_who_watches_a_family_hears_when_other_consent_is_asked_for(world):
    root = await a_chat(world, done=True)
    chat = await a_held_chat(world, parent=root)
    calls = [call("a"), call("b")]
    await applied(world.ledger.apply(chat, [step(assistant(*calls))]))
    asks = ask.EnterRequiresAction(tuple(ask.CallToApprove(c.id, c.name, "{}") for c in calls))
    told, became = [], []

    for request in (
        asks,
        send("later"),
        ask.DecideApproval("a", Verdict.ALLOW_ONCE, ANN),
        ask.DecideApproval("b", Verdict.DENY, ANN),
        ask.RecordGenerationAttempt(),
        step(*[tool(result("a"))]),
    ):
        world.told.clear()
        await applied(world.ledger.apply(chat, [request]))
        told.append([hint for hint in world.told if isinstance(hint, OpenApprovalsChanged)])
        became.append(world.told[0].became)

    assert [ListChange.ACTION, STATUS, ListChange.ACTION, STATUS] == became[:4]
    changed = [OpenApprovalsChanged(chat, root)]
    assert [changed, [], changed, changed, [], []] == told


LISTED = [
    ("put into the archive", [ask.FinishTurn(), ask.SetArchived(True)], ListChange.DELETED),
    ("given an error", [ask.FinishError(BROKEN)], STATUS),
    ("waiting for its client", [ask.EnterRequiresAction()], ListChange.ACTION),
    ("steered", [send("now", busy=ask.BusyBehaviour.STEER)], STATUS),
    ("at its next step", [step(assistant("x"))], STATUS),  # somebody else's, not its holder's
    ("tried again", [ask.RecordGenerationAttempt()], None),
    ("given back", [ask.Abandon()], None),
]


@pytest.mark.parametrize(("what", "requests", "became"), LISTED)
async def test_a_hint_says_what_lists_show_otherwise(world, what, requests, became):
    chat = await a_held_chat(world, tools=[DYNAMIC])
    await applied(world.ledger.apply(chat, [step(assistant(call("c", DYNAMIC)))]))
    world.told.clear()

    await applied(world.ledger.apply(chat, requests))

    assert became is world.told[0].became


async def test_what_is_only_taken_out_of_the_queue_or_moved_in_it_is_no_news_for_lists(world):
    chat = await a_held_chat(world)
    made = await applied(world.ledger.apply(chat, [send("a"), send("b")]))
    a, b = made.queued_ids
    world.told.clear()

    for request in (ask.ReorderQueued((b, a)), ask.DeleteQueued(a)):
        await applied(world.ledger.apply(chat, [request]))

    moves = [hint for hint in world.told if isinstance(hint, ChatMoved)]
    assert [None, None] == [hint.became for hint in moves]


async def test_the_next_message_of_a_queue_is_news_though_the_chat_goes_on_running(world):
    chat = await a_held_chat(world)
    await applied(world.ledger.apply(chat, [send("next")]))
    held, fence = await a_view(world, chat)
    world.told.clear()

    made = await applied(
        world.ledger.commit(held, [step(assistant("x")), ask.FinishTurn()], fence=fence)
    )

    assert (Status.RUNNING, STATUS) == (made.chat.status, world.told[0].became)


async def test_a_hint_that_cannot_be_told_holds_up_no_other_and_is_reported(world):
    root = await a_chat(world, done=True)
    children = []
    for _ in range(3):
        children.append(await a_chat(world, parent=root, done=True))
        await world.pass_time(1)
    first, second, _ = children
    world.told.clear()
    world.telling.failing = lambda hint: hint.chat in (first, second)

    made = await world.ledger.archive_family(root, archived=True)

    assert [root, *children] == [hint.chat for hint in world.telling.tried[-4:]]
    assert [root, children[-1]] == [hint.chat for hint in world.told]
    assert [first, second] == [untold.hint.chat for untold in made[0].untold]
    assert (await world.rows(first)).chat.archived


async def test_a_commit_stands_though_nobody_could_be_told(world):
    chat = await a_held_chat(world)
    held, fence = await a_view(world, chat)
    world.telling.failing = lambda _: True

    made = await applied(world.ledger.commit(held, [step(assistant("x"))], fence=fence))

    assert [chat] == [untold.hint.chat for untold in made.untold][:1]
    assert made.chat == (await world.rows(chat)).chat


async def test_a_cancelled_caller_has_changed_nothing_and_told_nobody(world):
    chat = await a_chat(world)
    before = await world.rows(chat)
    world.told.clear()

    with trio.move_on_after(0):
        await world.ledger.apply(chat, [ask.FinishTurn()])

    assert before == await world.rows(chat)
    assert [] == world.told
