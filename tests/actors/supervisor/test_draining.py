"""The way out: nothing more is taken, steps end, the rest is cut, the chats are free at once."""

import logging

import pytest
import trio
import trio.testing

from actors.chat.api import DrainNow
from actors.law.states import Status
from actors.law.store.hints import WorkWaits
from actors.supervisor import api
from adapters.postgres.bus import Switchboard
from runtime.ends import Finished
from runtime.errors import ActorGone
from tests.actors.supervisor.stage import STUCK_SECONDS, a_new_chat, a_process, a_store, settled


class Ears:
    """What a neighbour hears."""

    def __init__(self, bus):
        self.bus, self.heard = bus, []

    def __enter__(self):
        self._following = self.bus.follow(self.heard.append, WorkWaits)
        self._following.__enter__()
        return self

    def __exit__(self, *error):
        self._following.__exit__(*error)

    def waits(self):
        return {hint.chat for hint in self.heard}


async def test_steps_in_flight_end_and_the_chats_are_free(autojump_clock):
    async with a_process(step_seconds=3) as process:
        chats = {await a_new_chat(process.store) for _ in range(2)}
        await trio.sleep(1)

        with Ears(process.bus) as ears:
            process.drain()
            await trio.sleep(2.9)
            assert chats == set(process.runs())
            assert all([DrainNow()] == life.heard for life in process.alive)
            await trio.sleep(0.2)

        assert [Finished()] == process.ends
        assert {(Status.RUNNING, None)} == {_status_and_holder(process, chat) for chat in chats}
        assert {} == process.store.workers
        assert chats == ears.waits()


async def test_what_does_not_end_in_time_is_cut_and_free_at_once(caplog, autojump_clock):
    caplog.set_level(logging.DEBUG)
    async with a_process(step_seconds=1000) as process:
        chats = {await a_new_chat(process.store) for _ in range(2)}
        await trio.sleep(1)

        with Ears(process.bus) as ears:
            process.drain()
            await trio.sleep(29.9)
            assert 2 == len(process.runs())
            await trio.sleep(0.2)

        assert ([], [Finished()]) == (process.runs(), process.ends)
        ended = [r.fields for r in caplog.records if r.message == "child.ended"]
        chat_causes = [f["cause"] for f in ended if f["child"].startswith("chat/")]
        assert ["Shutdown"] * 2 == chat_causes
        assert {} == process.store.workers
        assert 1 == len(ears.waits() & chats)


async def test_told_again_it_cuts_everything_now(autojump_clock):
    async with a_process(step_seconds=1000) as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        process.drain()
        await trio.sleep(2)
        assert 1 == len(process.runs())

        process.drain()
        await settled()

        assert ([], [Finished()]) == (process.runs(), process.ends)
        assert {} == process.store.workers


async def test_once_gone_it_hears_no_more(autojump_clock):
    async with a_process() as process:
        process.drain()
        await settled()
        process.supervisor.mailbox.close()

        with pytest.raises(ActorGone):
            process.drain()
        assert not api.hand_over(process.supervisor.address, None)


@pytest.mark.parametrize("step_seconds", [1, 1000])
async def test_a_neighbour_goes_on_at_once(step_seconds, autojump_clock):
    bus = Switchboard()
    store = a_store(bus)
    async with a_process(store, bus, step_seconds=step_seconds, drain_seconds=5) as one:
        chat = await a_new_chat(store)
        await trio.sleep(1)
        assert [chat] == one.runs()

        async with a_process(store, bus, poll_seconds=3600) as neighbour:
            one.drain()
            await trio.sleep(min(step_seconds, 5) + 0.01)

            assert ([], [chat]) == (one.runs(), neighbour.runs())
            assert 2 == neighbour.row(chat).generation_attempt


async def test_while_it_drains_nothing_is_taken(autojump_clock):
    async with a_process(step_seconds=10) as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        process.drain()
        await settled()

        late = await a_new_chat(process.store)
        await trio.sleep(5)

        assert None is process.row(late).holder
        assert None is process.slots.claim(is_root=True, now=trio.current_time())


async def test_a_chat_that_a_sender_acquired_for_us_meanwhile_is_given_back(autojump_clock):
    async with a_process(step_seconds=10) as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        claim = process.slots.claim(is_root=True, now=trio.current_time())
        process.drain()
        await settled()

        chat = await a_new_chat(process.store, then=claim.requests)
        api.hand_over(process.supervisor.address, process.stored(chat))
        await settled()

        assert _status_and_holder(process, chat) == (Status.RUNNING, None)
        assert 1 == len(process.begun)


async def test_a_search_under_way_gives_back_what_it_found(autojump_clock):
    async with a_process(step_seconds=10) as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        process.cable.late["acquire"] = 2
        chat = await a_new_chat(process.store)
        await settled()
        assert process.worker == process.row(chat).holder.worker

        process.drain()
        await trio.sleep(3)

        assert _status_and_holder(process, chat) == (Status.RUNNING, None)


async def test_the_lease_is_held_while_steps_end(autojump_clock):
    async with a_process(step_seconds=100, drain_seconds=120) as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        worker = process.worker
        process.drain()
        await trio.sleep(99)

        assert {worker} == set(process.store.workers)
        assert not (await process.store.beat(worker)).expired


async def test_a_beat_on_its_way_does_not_bring_the_lease_back(autojump_clock):
    async with a_process() as process:
        process.cable.early["beat"] = 3
        await trio.sleep(6)

        process.drain()
        await trio.sleep(10)

        assert [Finished()] == process.ends
        assert {} == process.store.workers


@pytest.mark.parametrize("fault", ["cut", "stuck"])
async def test_without_the_store_it_ends_all_the_same(fault, autojump_clock):
    async with a_process() as process:
        await a_new_chat(process.store)
        await trio.sleep(1)
        process.cable.state = fault

        process.drain()
        await trio.sleep(1 + 5 + 2 * STUCK_SECONDS + 0.1)

        assert [Finished()] == process.ends


async def test_with_nothing_to_do_it_ends_at_once(autojump_clock):
    async with a_process() as process:
        process.drain()
        await settled()

        assert [Finished()] == process.ends
        assert {} == process.store.workers
        assert 0 == trio.current_time()


def _status_and_holder(process, chat):
    return process.row(chat).status, process.row(chat).holder
