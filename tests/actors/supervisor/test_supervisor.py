"""The supervisor: chats in, chat actors out, news to them; whatever ends, ends in good order."""

from itertools import pairwise

import pytest
import trio
import trio.testing

from actors.chat.api import LookAgain
from actors.law.requests import Acquire, FinishTurn, Interrupt
from actors.law.states import Status
from actors.law.store.hints import HintsLost
from actors.supervisor import api
from actors.supervisor.decide import CRASHES_MAX, FAULT
from adapters.postgres.bus import Switchboard
from tests.actors.law.chats import OTHER_HOLDER, send
from tests.actors.supervisor.stage import Cable, a_new_chat, a_process, a_store, settled

# taking


async def test_a_chat_that_waits_when_the_process_starts_is_taken_at_once(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    chat = await a_new_chat(store)

    async with a_process(store, bus) as process:
        [life] = process.alive

        assert (chat, process.worker) == (life.chat, life.me.worker)
        assert life.me == process.row(chat).holder
        assert life.held.stored.chat == process.row(chat)
        assert (True, None) == (life.held.attempt_begun, life.held.history)
        assert {process.worker} == set(store.workers)


async def test_a_new_chat_is_taken_on_the_hint_of_its_commit(autojump_clock):
    async with a_process(poll_seconds=3600) as process:
        chat = await a_new_chat(process.store)
        await settled()

        assert [chat] == process.runs()
        assert 0 == trio.current_time()


async def test_a_chat_is_taken_though_every_hint_was_lost(autojump_clock):
    deaf = Switchboard()
    store = a_store(Switchboard())

    async with a_process(store, deaf) as process:
        chat = await a_new_chat(store)
        await trio.sleep(1.5)

        assert [chat] == process.runs()


async def test_an_interrupted_chat_is_taken_without_a_begun_attempt(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    chat = await a_new_chat(store)
    await store.apply(chat, [Interrupt()])

    async with a_process(store, bus) as process:
        [life] = process.alive

        assert not life.held.attempt_begun
        assert 0 == process.row(chat).generation_attempt


async def test_hints_doubled_and_late_start_no_second_actor(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        for _ in range(20):
            api.look_for_work(process.supervisor.address)
            await settled()
        api.hand_over(process.supervisor.address, process.begun[0].held.stored)
        await trio.sleep(60)

        assert [chat] == [life.chat for life in process.begun]


@pytest.mark.slow
async def test_a_thousand_chats_at_once_are_all_taken_in_batches(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    chats = {await a_new_chat(store) for _ in range(1000)}

    async with a_process(store, bus, batch=100) as process:
        assert chats == set(process.runs())
        assert 11 >= process.supervisor.statistics().searches_count


async def test_when_the_pool_is_full_the_rest_waits_and_comes_as_places_become_free(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    first, second, third = [await a_new_chat(store) for _ in range(3)]

    async with a_process(store, bus, roots=2, poll_seconds=3600) as process:
        taken = set(process.runs())
        await process.alive[0].finish()
        await settled()

        assert 2 == len(taken)
        assert {first, second, third} == taken | set(process.runs())
        assert 0 == trio.current_time()


async def test_a_full_pool_of_roots_holds_up_no_child_and_no_interrupted_root(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    root = await a_new_chat(store, then=[FinishTurn()])
    for _ in range(3):
        await a_new_chat(store)

    async with a_process(store, bus, roots=1) as process:
        child = await a_new_chat(store, parent=root)
        queued = [chat for chat, kept in store.chats.items() if kept.chat.holder is None]
        queued.remove(root)
        await store.apply(queued[0], [Interrupt()])
        await settled()

        assert {child, queued[0]} <= set(process.runs())
        assert 3 == len(process.runs())


async def test_without_work_a_minute_costs_a_search_a_second_and_four_comparisons(autojump_clock):
    async with a_process() as process:
        process.cable.called.clear()
        await trio.sleep(60.5)

        assert 60 == process.cable.called.count("acquire")
        assert 4 == process.cable.called.count("held")
        assert 12 == process.cable.called.count("beat")


# a sender's claim


async def test_a_sender_acquires_the_chat_for_this_process_in_his_own_transaction(autojump_clock):
    async with a_process(poll_seconds=3600) as process:
        process.cable.called.clear()
        claim = process.slots.claim(is_root=True, now=trio.current_time())

        chat = await a_new_chat(process.store, then=claim.requests)
        api.hand_over(process.supervisor.address, process.stored(chat))
        await settled()

        [life] = process.alive
        assert (chat, claim.holder, True) == (life.chat, life.me, life.held.attempt_begun)
        assert [] == process.cable.called


async def test_news_between_the_sender_s_commit_and_the_start_is_not_missed(autojump_clock):
    async with a_process(poll_seconds=3600) as process:
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        chat = await a_new_chat(process.store, then=claim.requests)
        stored = process.stored(chat)

        await process.store.apply(chat, [Interrupt()])
        api.hand_over(process.supervisor.address, stored)
        await settled()

        assert [LookAgain()] == process.actor_of(chat).heard


async def test_a_claim_that_nobody_uses_is_over_after_a_while(autojump_clock):
    async with a_process(roots=1) as process:
        process.slots.claim(is_root=True, now=trio.current_time())
        chat = await a_new_chat(process.store)
        await trio.sleep(25)
        assert [] == process.runs()

        await trio.sleep(10)

        assert [chat] == process.runs()


async def test_a_sender_who_dies_over_his_claim_leaves_a_chat_that_is_found(autojump_clock):
    async with a_process() as process:
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        chat = await a_new_chat(process.store, then=claim.requests)

        await trio.sleep(30 + 15 + 15 + 2)

        assert [chat] == process.runs()
        assert claim.holder != process.actor_of(chat).me
        assert 2 == process.row(chat).generation_attempt


async def test_a_slow_sender_s_chat_is_not_mistaken_for_lost(autojump_clock):
    async with a_process() as process:
        await trio.sleep(14)
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        chat = await a_new_chat(process.store, then=claim.requests)
        stored = process.stored(chat)
        await trio.sleep(29)

        api.hand_over(process.supervisor.address, stored)
        await trio.sleep(20)

        [life] = process.begun
        assert (claim.holder, claim.holder) == (life.me, process.row(chat).holder)


# news


async def test_news_of_a_chat_reaches_its_actor_and_no_other(autojump_clock):
    async with a_process() as process:
        chat, other = await a_new_chat(process.store), await a_new_chat(process.store)
        await settled()

        await process.store.apply(chat, [Interrupt()])
        await settled()

        assert [LookAgain()] == process.actor_of(chat).heard
        assert [] == process.actor_of(other).heard


async def test_old_news_does_not_reach_the_actor(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await settled()
        await process.store.apply(chat, [Interrupt()])
        await settled()
        heard = list(process.actor_of(chat).heard)

        for moved in await process.store.held(process.worker):
            process.bus.hear(moved)
        await trio.sleep(40)

        assert heard == process.actor_of(chat).heard


async def test_lost_news_is_found_by_the_next_comparison(autojump_clock):
    deaf = Switchboard()
    store = a_store(Switchboard())

    async with a_process(store, deaf) as process:
        chat = await a_new_chat(store)
        await trio.sleep(2)
        await store.apply(chat, [Interrupt()])
        await trio.sleep(15)

        assert [LookAgain()] == process.actor_of(chat).heard


async def test_after_a_deaf_time_everything_is_compared_at_once(autojump_clock):
    deaf = Switchboard()
    store = a_store(Switchboard())

    async with a_process(store, deaf) as process:
        chat = await a_new_chat(store)
        await trio.sleep(2.5)
        await store.apply(chat, [Interrupt()])
        another = await a_new_chat(store)

        deaf.hear(HintsLost())
        await settled()

        assert [LookAgain()] == process.actor_of(chat).heard
        assert {chat, another} == set(process.runs())


@pytest.mark.parametrize("how", ["gone", "taken"])
async def test_an_actor_whose_chat_is_not_ours_any_more_is_told_to_look(how, autojump_clock):
    deaf = Switchboard()
    store = a_store(Switchboard())

    async with a_process(store, deaf) as process:
        chat, other = await a_new_chat(store), await a_new_chat(store)
        await trio.sleep(2)
        if how == "gone":
            del store.chats[chat]
        else:
            store.chats[chat].chat = store.chats[other].chat
        await trio.sleep(15)

        assert [LookAgain()] == process.actor_of(chat).heard
        assert [] == process.actor_of(other).heard


async def test_what_a_slow_search_has_taken_is_not_mistaken_for_lost(autojump_clock):
    async with a_process() as process:
        process.cable.late["acquire"] = 14
        await trio.sleep(9)
        chat = await a_new_chat(process.store)
        await trio.sleep(26)

        [life] = process.begun
        assert (chat, 1) == (life.chat, process.row(chat).generation_attempt)
        assert [life] == process.alive


# ends


async def test_a_chat_that_was_given_back_leaves_its_place_before_its_actor_has_ended(
    autojump_clock,
):
    """Its next message may come at once: the chat would stand in its own way."""
    async with a_process(roots=1, poll_seconds=3600) as process:
        chat = await a_new_chat(process.store)
        await settled()
        life = process.actor_of(chat)
        life.cleanup_seconds = 5.0

        await life.finish()
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        await process.store.apply(chat, [send("again"), *claim.requests])
        api.hand_over(process.supervisor.address, process.stored(chat))
        await settled()

        assert [chat, chat] == process.runs()
        assert 1 == process.slots.statistics().roots
        await trio.sleep(10)

        assert [chat] == process.runs()
        assert 1 == process.slots.statistics().roots


async def test_the_place_of_a_chat_that_was_given_back_is_for_one_that_waits(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    first, second = [await a_new_chat(store) for _ in range(2)]

    async with a_process(store, bus, roots=1, ending=0, poll_seconds=3600) as process:
        [life] = process.alive
        life.cleanup_seconds = 5.0
        await life.finish()
        await settled()

        assert {first, second} == {each.chat for each in process.alive}
        assert 0 == trio.current_time()


async def test_one_that_came_when_there_was_no_room_at_all_is_taken_as_soon_as_there_is(
    autojump_clock,
):
    async with a_process(roots=1, children=1, ending=0, poll_seconds=3600) as process:
        assert process.slots.claim(is_root=False, now=trio.current_time()) is not None
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        first = await a_new_chat(process.store, then=claim.requests)
        api.hand_over(process.supervisor.address, process.stored(first))
        await settled()
        second = await a_new_chat(process.store)
        await settled()
        assert [first] == process.runs()

        await process.actor_of(first).finish()
        await settled()

        assert ([second], 0) == (process.runs(), trio.current_time())


async def test_a_chat_at_rest_frees_its_place_and_is_not_taken_again(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await settled()
        await process.actor_of(chat).finish()
        await trio.sleep(60)

        assert ([], 1) == (process.runs(), len(process.begun))
        assert 0 == process.slots.statistics().roots


async def test_a_crash_disturbs_no_other_chat_and_the_chat_is_taken_up_again(autojump_clock):
    async with a_process() as process:
        chat, other = await a_new_chat(process.store), await a_new_chat(process.store)
        await settled()
        [first, second] = process.alive

        process.actor_of(chat).crash(KeyError("x"))
        await settled()
        assert [other] == process.runs()
        await trio.sleep(1)

        assert {chat, other} == set(process.runs())
        assert process.actor_of(other) in (first, second)
        assert 2 == process.row(chat).generation_attempt


async def test_a_chat_that_crashes_again_and_again_rests_longer_and_is_stopped_in_the_end(
    autojump_clock,
):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        for count in range(1, CRASHES_MAX + 2):
            await process.has_begun(count)
            process.actor_of(chat).crash(KeyError("x"))
        await trio.sleep(300)

        began = [life.began_at for life in process.begun]
        rests = [after - before for before, after in pairwise(began)]
        assert rests[0] < 2
        assert 50 < rests[-1] < 65
        assert [] == process.runs()
        _is_parked(process, chat)


async def test_a_chat_that_came_to_rest_has_its_crashes_forgiven(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        for count in range(1, 5):
            await process.has_begun(count)
            process.actor_of(chat).crash(KeyError("x"))
        await process.has_begun(5)
        await process.actor_of(chat).finish()
        await process.store.apply(chat, [send("again")])
        await process.has_begun(6)

        process.actor_of(chat).crash(KeyError("x"))
        await trio.sleep(0.3)

        assert [chat] == process.runs()


@pytest.mark.parametrize("status", [Status.RUNNING, Status.INTERRUPTING])
async def test_a_broken_chat_is_stopped_in_its_error_state_and_not_handed_round(
    status, caplog, autojump_clock
):
    bus = Switchboard()
    store = a_store(bus)
    async with a_process(store, bus) as process, a_process(store, bus) as neighbour:
        chat = await a_new_chat(store)
        if status is Status.INTERRUPTING:
            await store.apply(chat, [Interrupt()])
        await settled()
        [life] = process.alive + neighbour.alive

        life.crash(AssertionError("what cannot be"))
        await trio.sleep(60)

        assert 1 == len(process.begun + neighbour.begun)
        _is_parked(process, chat)
        assert "chat.parked" in [r.message for r in caplog.records if r.levelname == "ERROR"]


def _is_parked(process, chat):
    row = process.row(chat)
    assert (Status.ERROR, FAULT, None) == (row.status, row.last_error, row.holder)


async def test_a_chat_that_cannot_be_read_is_held_and_run_by_nobody(caplog, autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    async with a_process(store, bus) as process, a_process(store, bus, batch=1) as neighbour:
        process.cable.torn = neighbour.cable.torn = {chat := await a_new_chat(store)}
        await trio.sleep(100)

        assert [] == process.begun + neighbour.begun
        assert 1 == store.chats[chat].chat.generation_attempt
        assert 1 == [r.message for r in caplog.records].count("chat.stuck")


async def test_a_chat_that_the_law_cannot_stop_is_held_and_run_by_nobody(caplog, autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await settled()
        process.cable.broken.add("apply")
        process.actor_of(chat).crash(AssertionError("what cannot be"))
        await trio.sleep(100)

        assert 1 == len(process.begun)
        assert process.begun[0].me == process.row(chat).holder
        assert 1 == process.supervisor.statistics().kept_away
        assert "chat.stuck" in [r.message for r in caplog.records if r.levelname == "ERROR"]


async def test_a_chat_is_given_back_when_the_store_is_there_again(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await settled()
        process.cable.failing |= {"view"}
        process.actor_of(chat).crash(KeyError("x"))
        await trio.sleep(20)
        assert [] == process.runs()

        process.cable.failing.clear()
        await trio.sleep(12)

        assert [chat] == process.runs()


async def test_a_chat_that_another_has_taken_over_is_not_disturbed(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await settled()
        process.actor_of(chat).crash(KeyError("x"))
        await settled()
        await process.store.apply(chat, [Acquire(OTHER_HOLDER)])
        await process.store.beat(OTHER_HOLDER.worker)
        await trio.sleep(20)

        assert OTHER_HOLDER == process.row(chat).holder


async def test_a_chat_that_moves_while_it_is_given_back_is_given_back_all_the_same(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await settled()
        process.cable.early["apply"] = 1
        process.actor_of(chat).crash(KeyError("x"))
        await trio.sleep(0.7)
        await process.store.apply(chat, [Interrupt()])
        await trio.sleep(2)

        assert [chat] == process.runs()


async def test_a_supervisor_that_crashes_begins_anew_and_has_its_chats_at_once(autojump_clock):
    async with a_process() as process:
        chats = {await a_new_chat(process.store) for _ in range(3)}
        await settled()
        former = process.worker

        process.crashes_next = True
        chats.add(await a_new_chat(process.store))
        await trio.sleep(0.5)

        assert chats == set(process.runs())
        assert former != process.worker
        assert {process.worker} == set(process.store.workers)
        assert 4 == process.slots.statistics().roots


async def test_a_search_that_fails_is_made_again_by_the_poll(autojump_clock):
    async with a_process() as process:
        process.cable.failing |= {"acquire", "held"}
        chat = await a_new_chat(process.store)
        await trio.sleep(40)
        assert [] == process.runs()

        process.cable.failing.clear()
        await trio.sleep(1.1)

        assert [chat] == process.runs()
        assert process.supervisor.statistics().failed_count > 30


async def test_a_store_that_is_away_is_told_of_in_a_line_a_minute(caplog, autojump_clock):
    async with a_process() as process:
        process.cable.failing |= {"acquire"}
        await trio.sleep(90.5)
        process.cable.failing.clear()
        await trio.sleep(2)
        process.cable.failing |= {"acquire"}
        await trio.sleep(2)

        told = [r for r in caplog.records if r.message == "supervisor.unanswered"]
        assert [1, 61, 1] == [record.fields["count"] for record in told]
        assert {"ConnectionError('no way to the store')"} == {r.fields["why"] for r in told}
        assert [None] * 3 == [record.exc_info for record in told]


@pytest.mark.slow
async def test_two_processes_share_the_chats_and_none_runs_twice(autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    async with (
        a_process(store, bus, cable=Cable(store), batch=3) as one,
        a_process(store, bus, batch=3) as other,
    ):
        chats = [await a_new_chat(store) for _ in range(50)]
        await trio.sleep(60)

        assert sorted(chats) == sorted(one.runs() + other.runs())
        assert 50 == len(one.begun + other.begun)
