"""The turns of those that wait for a connection: in virtual time, and of a ledger's requests."""

import math

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.law.requests import Interrupt
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from adapters.postgres.driver.turns import AHEAD_IN_A_ROW_MAX, Patience, Turns, is_next_ahead
from tests.actors.law.chats import send
from tests.adapters.postgres.stores import open_store
from tests.contracts.given import a_chat

PATIENCE = Patience(stalled=10.0, busy=60.0)


@pytest.mark.parametrize(
    ("since", "moved_at", "ends_at"),
    [
        (100, 0, 110),  # nothing has moved since long before: nobody else was there
        (100, 100, 110),
        (100, 109, 119),  # the others get on
        (100, 149, 159),
        (100, 150, 160),
        (100, 159, 160),  # they do, but no client waits for longer
    ],
)
def test_one_waits_as_long_as_the_others_get_on_and_a_client_may_wait(since, moved_at, ends_at):
    assert ends_at == PATIENCE.ends_at(since, moved_at)


@pytest.mark.parametrize(
    ("ahead", "others", "in_a_row", "is_ahead"),
    [
        (0, 0, 0, False),
        (0, 5, 0, False),
        (1, 0, 99, True),
        (1, 5, 0, True),
        (1, 5, AHEAD_IN_A_ROW_MAX - 1, True),
        (1, 5, AHEAD_IN_A_ROW_MAX, False),
    ],
)
def test_who_ends_work_is_next_but_not_for_ever(ahead, others, in_a_row, is_ahead):
    assert is_ahead == is_next_ahead(ahead, others, in_a_row)


class Crowd:
    """Tasks that each keep a slot for some seconds."""

    def __init__(self, slots, patience=PATIENCE):
        self.turns = Turns(slots, patience)
        self.served, self.refused = {}, {}  # by name: at which second

    async def comes(self, name, *, keeps, ahead=False):
        if not await self.turns.take(ahead=ahead):
            self.refused[name] = trio.current_time()
            return
        self.served[name] = trio.current_time()
        try:
            await trio.sleep(keeps)
        finally:
            self.turns.give_back()


async def a_crowd_of(count, crowd, nursery, *, keeps, ahead=False, name="beginning"):
    for number in range(count):
        nursery.start_soon(lambda n=number: crowd.comes((name, n), keeps=keeps, ahead=ahead))
        await wait_all_tasks_blocked()


async def test_nobody_is_refused_while_the_others_get_on(autojump_clock):
    """Fifty seconds is five times as long as a database may be silent."""
    crowd = Crowd(slots=2)
    async with trio.open_nursery() as nursery:
        await a_crowd_of(100, crowd, nursery, keeps=1.0)

    assert {} == crowd.refused
    in_order = [("beginning", number) for number in range(100)]
    assert in_order == sorted(crowd.served, key=lambda name: (crowd.served[name], name))
    assert 49 == max(crowd.served.values())


async def test_beyond_what_a_client_waits_the_rest_is_refused(autojump_clock):
    crowd = Crowd(slots=1)
    async with trio.open_nursery() as nursery:
        await a_crowd_of(100, crowd, nursery, keeps=1.4)

    assert 43 == len(crowd.served)
    assert {60.0} == set(crowd.refused.values())
    assert 0 == crowd.turns.waiting
    assert crowd.turns.take_nowait()


async def test_when_nothing_moves_all_are_told_soon(autojump_clock):
    crowd = Crowd(slots=1)
    async with trio.open_nursery() as nursery:
        await a_crowd_of(1, crowd, nursery, keeps=300, name="stuck")
        await a_crowd_of(9, crowd, nursery, keeps=1.0)

    assert (1, 9) == (len(crowd.served), len(crowd.refused))
    assert {10.0} == set(crowd.refused.values())


async def test_those_that_end_work_come_first_and_the_others_are_not_starved(autojump_clock):
    """Both queues are never empty, so that one in four is of the others."""
    crowd = Crowd(slots=1, patience=Patience(stalled=10, busy=math.inf))
    async with trio.open_nursery() as nursery:
        await a_crowd_of(20, crowd, nursery, keeps=1.0)
        await a_crowd_of(60, crowd, nursery, keeps=1.0, ahead=True, name="end")

    order = [name for name, _ in sorted(crowd.served, key=crowd.served.get)]
    assert ["beginning", "end", "end", "end", "beginning", "end", "end", "end"] == order[:8]
    assert (15, 45) == (order[:60].count("beginning"), order[:60].count("end"))


async def test_a_turn_that_comes_as_its_task_is_cancelled_is_the_next_one_s(autojump_clock):
    crowd = Crowd(slots=1)
    async with trio.open_nursery() as nursery:
        assert crowd.turns.take_nowait()
        gives_up = trio.CancelScope()

        async def gives_up_at_its_turn():
            with gives_up:
                await crowd.comes("first", keeps=1.0)
                await trio.lowlevel.checkpoint()

        nursery.start_soon(gives_up_at_its_turn)
        await wait_all_tasks_blocked()
        nursery.start_soon(lambda: crowd.comes("second", keeps=1.0))
        await wait_all_tasks_blocked()
        gives_up.cancel()
        crowd.turns.give_back()

    assert "second" in crowd.served
    assert 0 == crowd.turns.waiting
    assert crowd.turns.take_nowait()
    assert not crowd.turns.take_nowait()


async def test_an_interrupt_does_not_wait_behind_a_crowd_that_begins(store):
    at_work = await a_chat(store)
    at_rest = [await a_chat(store, done=True) for _ in range(5)]
    async with open_store(store.conninfo, size=1, emptied=False) as narrow:
        async with trio.open_nursery() as nursery, narrow.pool.connection():
            for chat in at_rest:
                nursery.start_soon(narrow.ledger.apply, chat, [send("q")])
            await wait_all_tasks_blocked()
            nursery.start_soon(narrow.ledger.apply, at_work, [Interrupt()])
            await wait_all_tasks_blocked()

        first, *others = [hint for hint in narrow.told if isinstance(hint, ChatMoved)]

    assert (at_work, Status.INTERRUPTING) == (first.chat, first.status)
    assert set(at_rest) == {hint.chat for hint in others}
