"""The lease: held by beats, lost before others may take the chats, begun anew in another name."""

import logging
from contextlib import asynccontextmanager
from datetime import timedelta
from uuid import uuid4

import pytest
import trio
import trio.testing

from actors.chat.api import LookAgain
from actors.law.ids import ChatId, WorkerId
from actors.law.requests import Interrupt
from actors.law.store.hints import HintsLost
from actors.supervisor import api
from actors.supervisor.heartbeat import Heartbeat
from adapters.postgres.bus import Switchboard
from tests.actors.supervisor.stage import Cable, a_new_chat, a_process, a_store, settled
from tests.fakes.store import MemoryStore

LEASE = 30.0
FENCE = 25.0  # after the last beat that was sent and heard


@pytest.fixture
def causes(caplog):
    """Why actors of chats were stopped, so far."""
    caplog.set_level(logging.DEBUG)

    def told():
        ended = [r.fields for r in caplog.records if r.message == "child.ended"]
        return [fields["cause"] for fields in ended if fields["child"].startswith("chat/")]

    return told


@pytest.mark.parametrize("fault", ["cut", "stuck"])
async def test_without_a_beat_all_chats_are_let_go_before_the_lease_can_be_taken(
    fault, causes, autojump_clock
):
    async with a_process() as process:
        chats = [await a_new_chat(process.store) for _ in range(3)]
        await trio.sleep(6)
        last_beat = 5.0

        process.cable.state = fault
        await trio.sleep(last_beat + FENCE - 0.1 - trio.current_time())
        assert 3 == len(process.runs())
        await trio.sleep(0.2)

        assert [] == process.runs()
        assert {*chats} == {*process.ended_at}
        assert all(at == last_beat + FENCE for at in process.ended_at.values())
        assert ["LeaseExpired"] * 3 == causes()
        assert None is process.worker


async def test_when_the_store_is_back_chats_are_taken_anew_in_another_name(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await trio.sleep(1)
        former = process.worker
        process.cable.state = "cut"
        await trio.sleep(100)
        assert [] == process.runs()

        process.cable.state = "whole"
        await trio.sleep(10)

        [life] = process.alive
        assert (chat, process.worker) == (life.chat, life.me.worker)
        assert former != process.worker
        assert {process.worker} == set(process.store.workers)


async def test_a_few_beats_that_fail_in_a_row_change_nothing(autojump_clock):
    async with a_process() as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        [life] = process.alive

        for _ in range(5):
            process.cable.state = "cut"
            await trio.sleep(17)
            process.cable.state = "whole"
            await trio.sleep(6)

        assert [life] == process.alive
        assert 0 == process.supervisor.statistics().heartbeat.lost_count
        assert 0 < process.supervisor.statistics().heartbeat.failed_count


async def test_beats_that_fail_are_told_of_in_a_line_a_minute(autojump_clock, caplog):
    async with a_process() as process:
        await trio.sleep(1)
        process.cable.state = "cut"
        await trio.sleep(120)

        told = [r for r in caplog.records if r.message == "lease.failed"]
        assert 2 <= len(told) <= 5
        assert {"ConnectionError('no way to the store')"} == {r.fields["why"] for r in told}
        assert {None} == {record.exc_info for record in told}


async def test_a_beat_that_is_stuck_is_given_up_and_sent_again(autojump_clock):
    async with a_process() as process:
        await a_new_chat(process.store)
        await trio.sleep(4)
        process.cable.state = "stuck"
        await trio.sleep(4)
        process.cable.state = "whole"
        await trio.sleep(60)

        assert 1 == len(process.begun)
        assert 0 == process.supervisor.statistics().heartbeat.lost_count


async def test_a_beat_that_is_answered_late_counts_from_when_it_was_sent(autojump_clock):
    async with a_process() as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        process.cable.late["beat"] = 4.5
        await trio.sleep(60)
        assert 0 == process.supervisor.statistics().heartbeat.lost_count

        process.cable.state = "cut"
        await trio.sleep(40)

        [ended_at] = process.ended_at.values()
        assert ended_at == pytest.approx(process.cable.sent_at["beat"] + FENCE)


async def test_a_beat_that_comes_too_late_says_so_and_everything_is_let_go(causes, autojump_clock):
    """The machine was asleep: the database's clock went on, ours stood."""
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await trio.sleep(1)
        former = process.actor_of(chat).me

        process.store.clock.ahead = timedelta(seconds=1000)
        await trio.sleep(6)

        assert ["LeaseExpired"] == causes()
        now = process.actor_of(chat).me
        assert former.worker != now.worker
        assert {now.worker} == set(process.store.workers)


@pytest.mark.parametrize("fault", ["cut", "stuck"])
@pytest.mark.parametrize("lease", [3.0, 30.0])
async def test_a_neighbour_takes_over_within_the_lease_and_never_while_we_run(
    fault, lease, autojump_clock
):
    bus = Switchboard()
    store = a_store(bus)
    store.lease_seconds = lease
    async with (
        a_process(store, bus, cable=Cable(store), lease_seconds=lease) as one,
        a_process(store, bus, lease_seconds=lease, roots=0, children=0) as neighbour,
    ):
        chats = [await a_new_chat(store) for _ in range(5)]
        await trio.sleep(lease)
        assert 5 == len(one.runs())
        neighbour.supervisor.slots._limits = one.limits

        one.cable.state = fault
        cut_at = trio.current_time()
        await trio.sleep(lease + 1.1)

        assert sorted(chats) == sorted(neighbour.runs())
        for life in neighbour.alive:
            assert one.ended_at[life.chat] < life.began_at <= cut_at + lease + 1


@asynccontextmanager
async def a_pair(bus):
    """A process that runs three chats, and a neighbour that could run them."""
    store = a_store(bus)
    async with (
        a_process(store, bus, cable=Cable(store)) as one,
        a_process(store, bus, cable=Cable(store), roots=0, children=0) as neighbour,
    ):
        chats = [await a_new_chat(store) for _ in range(3)]
        await trio.sleep(2)
        neighbour.supervisor.slots._limits = one.limits
        yield one, neighbour, chats


def deaths(process, chats):
    return {process.row(chat).process_deaths_count for chat in chats}


async def test_a_store_that_was_away_from_all_processes_is_the_death_of_none(autojump_clock):
    """The neighbour is back first, and finds that the other's lease has run out, too."""
    async with a_pair(Switchboard()) as (one, neighbour, chats):
        one.cable.state = neighbour.cable.state = "cut"
        await trio.sleep(100)
        neighbour.cable.state = "whole"
        await trio.sleep(10)
        one.cable.state = "whole"
        await trio.sleep(10)

        assert sorted(chats) == sorted(neighbour.runs())
        assert {0} == deaths(neighbour, chats)


@pytest.mark.parametrize("was_away", [False, True])
async def test_a_process_that_loses_its_chats_while_the_store_is_there_is_a_death(
    was_away, autojump_clock
):
    async with a_pair(Switchboard()) as (one, neighbour, chats):
        if was_away:
            neighbour.cable.state = "cut"
            await trio.sleep(100)
            neighbour.cable.state = "whole"
            await trio.sleep(LEASE)
        one.cable.state = "cut"
        await trio.sleep(LEASE + 2)

        assert sorted(chats) == sorted(neighbour.runs())
        assert {1} == deaths(neighbour, chats)


async def test_an_old_actor_that_ends_late_is_not_in_the_way_of_the_new_one(autojump_clock):
    async with a_process() as process:
        chat = await a_new_chat(process.store)
        await trio.sleep(1)
        process.actor_of(chat).cleanup_seconds = 20
        process.store.clock.ahead = timedelta(seconds=1000)
        await trio.sleep(6)
        _, new = process.alive
        await trio.sleep(20)
        assert [new] == process.alive

        await process.store.apply(chat, [Interrupt()])
        await settled()

        assert [LookAgain()] == new.heard
        assert 1 == process.slots.statistics().roots


async def test_what_was_acquired_for_a_lease_that_is_lost_is_not_begun(autojump_clock):
    async with a_process() as process:
        await trio.sleep(1)
        process.cable.late["acquire"] = 40
        chat = await a_new_chat(process.store)
        await settled()
        assert process.row(chat).holder.worker == process.worker

        process.cable.failing.add("beat")
        await trio.sleep(41)

        assert [] == process.begun


async def test_a_claim_does_not_outlive_its_lease(autojump_clock):
    async with a_process(claim_seconds=1000) as process:
        await trio.sleep(1)
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        process.cable.state = "cut"
        await trio.sleep(40)

        assert None is process.slots.claim(is_root=True, now=trio.current_time())
        chat = await a_new_chat(process.store, then=claim.requests)
        assert api.hand_over(process.supervisor.address, process.stored(chat))
        await settled()
        assert [] == process.begun
        process.cable.state = "whole"
        await trio.sleep(10)

        assert [chat] == process.runs()
        assert 2 == process.row(chat).generation_attempt


async def test_a_lease_that_never_began_is_begun_as_soon_as_the_store_is_there(autojump_clock):
    cable = Cable(a_store(Switchboard()))
    cable.state = "cut"
    chat = await a_new_chat(cable._store)

    async with a_process(cable._store, cable=cable) as process:
        await trio.sleep(60)
        assert (None, []) == (process.worker, process.begun)
        cable.state = "whole"
        await trio.sleep(6)

        assert [chat] == process.runs()


async def test_workers_that_are_long_gone_are_swept_away(autojump_clock):
    async with a_process() as process:
        gone = WorkerId(uuid4())
        await process.store.beat(gone)
        await trio.sleep(299)
        assert gone in process.store.workers

        await trio.sleep(70)

        assert {process.worker} == set(process.store.workers)


async def test_when_another_process_has_died_whoever_waits_for_news_looks_for_himself(
    autojump_clock,
):
    heard = []
    async with a_process() as process:
        with process.bus.follow_chat(ChatId(uuid4()), heard.append):
            await process.store.beat(WorkerId(uuid4()))
            await trio.sleep(LEASE - 1)
            too_early = list(heard)
            await trio.sleep(100)

    assert [] == too_early
    assert [HintsLost()] == heard


async def test_a_process_that_has_left_in_good_order_has_told_all_it_did(autojump_clock):
    heard = []
    async with a_process() as process:
        with process.bus.follow_chat(ChatId(uuid4()), heard.append):
            other = WorkerId(uuid4())
            await process.store.beat(other)
            await trio.sleep(10)
            await process.store.leave(other)
            await trio.sleep(100)

    assert [] == heard


class Asleep(MemoryStore):
    """The machine slept while its beat of this number was on its way, and heard no deadline."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    async def beat(self, worker):
        answer = await super().beat(worker)
        self.number -= 1
        if self.number == 0:
            with trio.CancelScope(shield=True):
                await trio.sleep(LEASE + 10)
        return answer


@pytest.mark.parametrize("number", [1, 2])
async def test_a_beat_that_comes_back_when_its_lease_is_over_ends_it_at_once(
    number, autojump_clock, nursery
):
    told = []
    heartbeat = Heartbeat(
        Asleep(number),
        lease_seconds=LEASE,
        new_id=uuid4,
        begun=lambda worker: told.append(("begun", worker)),
        lost=lambda worker: told.append(("lost", worker)),
        others_died=lambda: None,
    )

    nursery.start_soon(heartbeat.run)
    await trio.sleep(100)

    assert ["begun", "lost", "begun"] == [what for what, _ in told]
    assert told[0][1] == told[1][1] != told[2][1]
    assert heartbeat.statistics().holds_seconds > 0
