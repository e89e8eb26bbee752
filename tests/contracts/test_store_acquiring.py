"""Acquiring: chats that wait are taken in their order, as far as there is room, and by one only."""

from dataclasses import replace
from itertools import count
from uuid import UUID

import pytest
import trio

from actors.law import requests as ask
from actors.law.change import Change
from actors.law.chat import KnownFiles, StoredChat
from actors.law.ids import Holder, RunnerId, WorkerId
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import AcquireLimits, fence_of
from actors.law.transitions import bundle
from tests.actors.law.chats import (
    BROKEN,
    DYNAMIC,
    HOLDER,
    OTHER_HOLDER,
    RETRY,
    assistant,
    call,
    edit,
    send,
    step,
)
from tests.adapters.postgres.stores import new_file_ids
from tests.contracts.given import a_chat, applied

ME, OTHER = WorkerId(UUID(int=41)), OTHER_HOLDER.worker
ROOMY = AcquireLimits(at_most=100, roots=100, children=100)
RUNNERS = count(1)


def room(at_most=100, *, roots=100, children=100):
    return AcquireLimits(at_most=at_most, roots=roots, children=children)


async def a_waiting_chat(world, status=Status.RUNNING, *, of=None):
    """A chat that nobody holds, with work of this kind; older than the next one."""
    if status is Status.REQUIRES_ACTION:
        chat = await a_chat(world, parent=of, tools=[DYNAMIC])
        asks = step(assistant(call("a", DYNAMIC)))
        await applied(world.ledger.apply(chat, [asks, ask.EnterRequiresAction()]))
    else:
        chat = await a_chat(world, parent=of)
    if status is Status.INTERRUPTING:
        await applied(world.ledger.apply(chat, [ask.Interrupt()]))
    await world.pass_time(1)
    return chat


async def an_idle_root(world):
    return await a_chat(world, done=True)


async def holds(world, chat, worker):
    """`worker` has taken the chat; whether it still beats is another question."""
    holder = Holder(worker, RunnerId(UUID(int=next(RUNNERS))))
    await applied(world.ledger.apply(chat, [ask.Acquire(holder)]))
    return holder


async def acquired(world, wanted=ROOMY, *, worker=ME):
    """The chats that were taken, in their order."""
    await world.leases.beat(worker)
    taken = await world.leases.acquire(worker, wanted)
    assert all(isinstance(one, StoredChat) for one in taken)
    return [stored.chat.id for stored in taken]


# what is taken


@pytest.mark.parametrize(
    "status", [Status.RUNNING, Status.INTERRUPTING, Status.REQUIRES_ACTION], ids=str
)
async def test_a_chat_with_work_and_nobody_who_does_it_is_taken(world, status):
    chat = await a_waiting_chat(world, status)

    assert [chat] == await acquired(world)
    assert ME == (await world.rows(chat)).chat.holder.worker


@pytest.mark.parametrize("held", [False, True])
async def test_chats_without_work_are_left_alone(world, held):
    chats = [await a_chat(world, done=True), await a_chat(world, then=[ask.FinishError(BROKEN)])]
    for _ in range(2):
        chats.append(await a_chat(world, done=True))
        await applied(world.ledger.apply(chats[-1], [ask.SetArchived(True)]))
    await world.write_past_the_law(chats[-1], status=Status.RUNNING)
    for chat in chats if held else ():
        await world.write_past_the_law(chat, holder=OTHER_HOLDER)  # who does not beat

    assert [] == await acquired(world)


async def test_a_chat_whose_holder_beats_is_left_alone(world):
    await world.leases.beat(OTHER)
    chat = await a_waiting_chat(world)
    await holds(world, chat, OTHER)

    before = await world.rows(chat)
    assert [] == await acquired(world)
    assert before == await world.rows(chat)


@pytest.mark.parametrize("status", [Status.RUNNING, Status.INTERRUPTING], ids=str)
async def test_a_chat_whose_holder_missed_its_lease_is_taken_by_another_runner(world, status):
    await world.leases.beat(OTHER)
    chat = await a_waiting_chat(world, status)
    former = await holds(world, chat, OTHER)
    await world.pass_time(31)

    assert [chat] == await acquired(world)
    now = (await world.rows(chat)).chat.holder
    assert ME == now.worker
    assert former.runner != now.runner


async def test_a_chat_whose_holder_has_left_is_taken_at_once(world):
    await world.leases.beat(OTHER)
    chat = await a_waiting_chat(world)
    await holds(world, chat, OTHER)
    await world.leases.leave(OTHER)

    assert [chat] == await acquired(world)


# how its holder went


async def after_holders_that(world, end, chat, *, times=1, count_deaths=True):
    """The chat, taken by ME after so many others have held it and `end(worker)` came over each."""
    for _ in range(times):
        worker = WorkerId(UUID(int=500 + next(RUNNERS)))
        await world.leases.beat(worker)
        [stored] = await world.leases.acquire(worker, ROOMY)
        assert chat == stored.chat.id
        await end(worker, stored)
    await world.leases.beat(ME)
    [stored] = await world.leases.acquire(ME, ROOMY, count_deaths=count_deaths)
    return stored.chat


async def test_processes_that_die_in_an_attempt_are_counted(world):
    async def die(worker, stored):
        await world.pass_time(31)

    chat = await after_holders_that(world, die, await a_waiting_chat(world), times=2)

    assert (2, 3) == (chat.process_deaths_count, chat.generation_attempt)
    assert chat == (await world.rows(chat.id)).chat


async def test_a_lease_that_ran_out_is_not_counted_where_it_may_be_no_death(world):
    async def stay_away(worker, stored):
        await world.pass_time(31)

    chat = await a_waiting_chat(world)
    chat = await after_holders_that(world, stay_away, chat, times=2, count_deaths=False)

    assert (1, 3) == (chat.process_deaths_count, chat.generation_attempt)
    assert chat == (await world.rows(chat.id)).chat


async def test_a_death_is_counted_however_long_ago_it_was(world):
    async def die(worker, stored):
        await world.pass_time(10 * 30 + 1)
        await world.leases.sweep()

    chat = await after_holders_that(world, die, await a_waiting_chat(world))

    assert 1 == chat.process_deaths_count


async def test_a_worker_that_died_is_forgotten_once_its_chats_are_taken(world):
    async def die(worker, stored):
        await world.pass_time(10 * 30 + 1)

    await after_holders_that(world, die, await a_waiting_chat(world))

    assert 1 == await world.leases.sweep()


async def test_processes_that_hand_the_chat_over_are_not_counted(world):
    async def hand_over(worker, stored):
        fence = fence_of(stored.chat)
        await applied(world.ledger.commit(stored, [ask.Abandon()], fence=fence))

    chat = await after_holders_that(world, hand_over, await a_waiting_chat(world), times=2)

    assert (0, 3) == (chat.process_deaths_count, chat.generation_attempt)


async def test_processes_that_leave_in_the_midst_of_an_attempt_are_not_counted(world):
    async def leave(worker, stored):
        await world.leases.leave(worker)

    chat = await after_holders_that(world, leave, await a_waiting_chat(world), times=2)

    assert (0, 3) == (chat.process_deaths_count, chat.generation_attempt)


async def test_a_process_that_dies_in_a_pause_between_attempts_is_not_counted(world):
    async def die_in_a_pause(worker, stored):
        retry = [ask.RecordRetryState(RETRY)]
        await applied(world.ledger.commit(stored, retry, fence=fence_of(stored.chat)))
        await world.pass_time(31)

    chat = await after_holders_that(world, die_in_a_pause, await a_waiting_chat(world))

    assert (0, 1) == (chat.process_deaths_count, chat.provider_failures_count)


@pytest.mark.parametrize("status", [Status.INTERRUPTING, Status.REQUIRES_ACTION], ids=str)
async def test_a_process_that_dies_where_no_attempt_is_under_way_is_not_counted(world, status):
    async def die(worker, stored):
        await world.pass_time(31)

    chat = await after_holders_that(world, die, await a_waiting_chat(world, status))

    assert 0 == chat.process_deaths_count


async def test_a_step_that_is_committed_ends_the_counting(world):
    async def die(worker, stored):
        await world.pass_time(31)

    chat = await after_holders_that(world, die, await a_waiting_chat(world), times=2)
    viewed = await world.reading.view(chat.id)
    retry = ask.RecordRetryState(RETRY)
    await applied(world.ledger.commit(viewed, [retry], fence=fence_of(chat)))
    viewed = await world.reading.view(chat.id)
    said = step(assistant("so"))
    made = await applied(world.ledger.commit(viewed, [said], fence=fence_of(chat)))

    assert (2, 1) == (viewed.chat.process_deaths_count, viewed.chat.provider_failures_count)
    assert (0, 0) == (made.chat.process_deaths_count, made.chat.provider_failures_count)


async def test_of_many_workers_those_that_are_gone_lose_their_chats(world):
    workers = [WorkerId(UUID(int=number)) for number in range(1, 8)]
    chats = {worker: await a_waiting_chat(world) for worker in workers}
    for worker, chat in chats.items():
        await holds(world, chat, worker)
    for worker in workers[1::2]:
        await world.leases.beat(worker)

    assert {chats[worker] for worker in workers[0::2]} == {*await acquired(world)}


async def test_every_chat_has_a_runner_of_its_own(world):
    chats = [await a_waiting_chat(world) for _ in range(5)]
    await acquired(world)
    await world.leases.leave(ME)
    first = {(await world.rows(chat)).chat.holder.runner for chat in chats}

    await acquired(world, worker=OTHER)

    second = {(await world.rows(chat)).chat.holder.runner for chat in chats}
    assert 10 == len(first | second)


async def test_a_worker_without_a_lease_takes_nothing(world):
    chat = await a_waiting_chat(world)
    never = await world.leases.acquire(ME, ROOMY)
    await world.leases.beat(ME)
    await world.pass_time(31)

    late = await world.leases.acquire(ME, ROOMY)

    assert ((), ()) == (never, late)
    assert None is (await world.rows(chat)).chat.holder


async def test_a_chat_is_taken_once(world):
    chat = await a_waiting_chat(world)

    assert [chat] == await acquired(world)
    assert [] == await acquired(world)
    assert [] == await acquired(world, worker=OTHER)


# what comes of it


@pytest.mark.parametrize(
    "status", [Status.RUNNING, Status.INTERRUPTING, Status.REQUIRES_ACTION], ids=str
)
@pytest.mark.parametrize("files", [0, 2])
async def test_what_is_written_is_what_the_law_says(world, status, files):
    linked = new_file_ids(files)
    await world.add_files(*linked)
    chat = await a_chat(world, tools=[DYNAMIC], files=linked)
    asks = step(assistant("well", call("a", DYNAMIC)))
    following = {
        Status.RUNNING: [ask.RecordGenerationAttempt(), ask.RecordRetryState(RETRY)],
        Status.INTERRUPTING: [ask.RecordRetryState(RETRY), ask.Interrupt()],
        Status.REQUIRES_ACTION: [ask.EnterRequiresAction()],
    }[status]
    said = [send("one"), send("two", busy=ask.BusyBehaviour.STEER), send('"q"\0\\u0000 ü\n')]
    await applied(world.ledger.apply(chat, [asks, *following, *said]))
    await world.pass_time(1)
    before = await world.rows(chat)
    viewed = await world.reading.view(chat)
    await world.leases.beat(ME)

    [stored] = await world.leases.acquire(ME, ROOMY)

    after, holder = await world.rows(chat), stored.chat.holder
    lawful = lawfully(viewed, holder)
    assert lawful.chat == after.chat
    assert replace(lawful.after, now=stored.now, files=KnownFiles()) == replace(
        stored, files=KnownFiles()
    )
    assert stored.files.linked == frozenset(linked)
    assert before.times[0] == after.times[0]
    assert before.times[1] < after.times[1]
    assert (before.messages, before.queue, before.files) == (
        after.messages,
        after.queue,
        after.files,
    )


def lawfully(viewed, holder):
    """What the law makes of a chat that is acquired."""
    chat = replace(viewed.chat, snapshot_version=viewed.chat.snapshot_version + 1)
    begins = chat.status is Status.RUNNING and chat.retry_state is None
    requests = [ask.Acquire(holder), *([ask.RecordGenerationAttempt()] if begins else [])]
    made = bundle(replace(viewed, chat=chat), requests)
    assert isinstance(made, Change)
    return made


@pytest.mark.parametrize(("pauses", "attempts"), [(False, 2), (True, 1)])
async def test_a_pause_before_an_attempt_is_not_cut_short(world, pauses, attempts):
    pause = [ask.RecordRetryState(RETRY)] if pauses else []
    chat = await a_chat(world, then=[ask.RecordGenerationAttempt(), *pause])
    await world.leases.beat(ME)

    [stored] = await world.leases.acquire(ME, ROOMY)

    assert (chat, attempts) == (stored.chat.id, stored.chat.generation_attempt)
    assert (RETRY if pauses else None) == stored.chat.retry_state


async def test_its_tail_is_what_still_stands_of_the_last_answer(world):
    await world.leases.beat(ME)
    chat = await a_chat(world, then=[step(assistant("old")), ask.FinishTurn()])
    answered, edited, plain = chat, await a_chat(world), await a_chat(world)
    await applied(world.ledger.apply(answered, [send("and now?")]))
    for said in ("one", "two"):
        then = [step(assistant(said)), ask.FinishTurn(), send("next")]
        await applied(world.ledger.apply(edited, then))
    last = (await world.rows(edited)).messages[-3]
    await applied(world.ledger.apply(edited, [edit("else", id=last.id)]))

    taken = {stored.chat.id: stored for stored in await world.leases.acquire(ME, ROOMY)}

    for id in (answered, edited, plain):
        viewed = await world.reading.view(id)
        assert (viewed.tail, viewed.queue) == (taken[id].tail, taken[id].queue)
    assert [1, 1, 0] == [len(taken[id].tail) for id in (answered, edited, plain)]


async def test_a_retry_that_there_is_not_is_not_forgotten_anew(world):
    await world.leases.beat(ME)
    chat = await a_waiting_chat(world)
    before = (await world.rows(chat)).chat

    [stored] = await world.leases.acquire(ME, ROOMY)

    assert before.retry_state_version == stored.chat.retry_state_version
    assert stored.chat == (await world.rows(chat)).chat


async def test_a_chat_that_is_taken_is_told_of_once_and_calls_for_nobody(world):
    await world.leases.beat(ME)
    chat = await a_waiting_chat(world)
    world.told.clear()

    [stored] = await world.leases.acquire(ME, ROOMY)

    [told] = world.told
    assert isinstance(told, ChatMoved)
    assert (chat, stored.chat.snapshot_version, ME) == (
        told.chat,
        told.snapshot_version,
        told.worker_id,
    )
    assert (stored.chat.generation_attempt, stored.chat.holder.runner) == (
        told.generation_attempt,
        told.runner_id,
    )


async def test_its_holder_goes_on_from_what_it_was_given(world):
    await world.leases.beat(ME)
    chat = await a_waiting_chat(world)
    [stored] = await world.leases.acquire(ME, ROOMY)

    made = await applied(
        world.ledger.commit(stored, [step(assistant("x"))], fence=fence_of(stored.chat))
    )

    assert stored.chat.snapshot_version + 1 == made.chat.snapshot_version
    assert made.chat == (await world.rows(chat)).chat


# in which order, and how many


async def test_what_is_to_be_ended_comes_first_and_takes_no_room(world):
    running = await a_waiting_chat(world)
    await a_waiting_chat(world)
    client = await a_waiting_chat(world, Status.REQUIRES_ACTION)
    interrupted = await a_waiting_chat(world, Status.INTERRUPTING)

    assert [interrupted, client, running] == await acquired(world, room(roots=1))


async def test_roots_and_children_come_in_turns_the_oldest_first(world):
    root = await an_idle_root(world)
    old = [await a_waiting_chat(world) for _ in range(2)]
    young = [await a_waiting_chat(world, of=root) for _ in range(2)]

    assert [old[0], young[0], old[1], young[1]] == await acquired(world)


async def test_a_full_pool_does_not_hide_the_other(world):
    root = await an_idle_root(world)
    for _ in range(5):
        await a_waiting_chat(world)
    child = await a_waiting_chat(world, of=root)

    assert [child] == await acquired(world, room(1, roots=0))


async def test_no_more_are_taken_than_there_is_room_for(world):
    root = await an_idle_root(world)
    roots = [await a_waiting_chat(world) for _ in range(4)]
    children = [await a_waiting_chat(world, of=root) for _ in range(4)]

    taken = await acquired(world, room(roots=2, children=1))

    assert [roots[0], children[0], roots[1]] == taken


@pytest.mark.parametrize("status", [Status.RUNNING, Status.INTERRUPTING], ids=str)
async def test_of_three_each_pass_takes_as_many_as_it_may(world, status):
    chats = [await a_waiting_chat(world, status) for _ in range(3)]

    passes = [await acquired(world, room(1)) for _ in range(4)]

    assert [*[[chat] for chat in chats], []] == passes


async def test_without_room_nothing_is_taken(world):
    await a_waiting_chat(world, Status.INTERRUPTING)

    assert [] == await acquired(world, room(0))


async def test_a_chat_that_is_refused_comes_when_there_is_room_the_oldest_first(world):
    old, young = await a_waiting_chat(world), await a_waiting_chat(world)
    refused = await acquired(world, room(roots=0))

    later = [await acquired(world, room(roots=1)), await acquired(world, room(roots=1))]

    assert [[], [old], [young]] == [refused, *later]


async def test_a_message_that_is_queued_sends_its_chat_to_the_end(world):
    older, newer = await a_waiting_chat(world), await a_waiting_chat(world)
    await applied(world.ledger.apply(older, [send("me too")]))

    assert [newer, older] == await acquired(world)


async def test_a_chat_that_waits_for_room_is_ended_when_it_is_interrupted(world):
    chat = await a_waiting_chat(world)
    assert [] == await acquired(world, room(roots=0))
    await applied(world.ledger.apply(chat, [ask.Interrupt()]))

    assert [chat] == await acquired(world, room(roots=0))


# who else is there


async def test_of_two_workers_one_takes_the_chat(world):
    chats = {await a_waiting_chat(world) for _ in range(8)}
    taken = []

    async def take(worker):
        taken.extend(await acquired(world, worker=worker))

    async with trio.open_nursery() as nursery:
        for worker in (ME, OTHER) * 4:
            nursery.start_soon(take, worker)

    assert len(chats) == len(taken)
    assert chats == set(taken)


async def test_what_a_worker_holds_is_told_with_its_versions(world):
    await world.leases.beat(ME)
    mine, another = await a_waiting_chat(world), await a_waiting_chat(world)
    await acquired(world, room(1))
    await holds(world, another, HOLDER.worker)

    [moved] = await world.leases.held(ME)

    chat = (await world.rows(mine)).chat
    assert (mine, chat.snapshot_version, chat.generation_attempt, chat.status) == (
        moved.chat,
        moved.snapshot_version,
        moved.generation_attempt,
        moved.status,
    )
    assert chat.holder == Holder(moved.worker_id, moved.runner_id)
    assert () == await world.leases.held(OTHER)
