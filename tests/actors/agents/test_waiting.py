"""Waiting for children: nothing is missed between following and reading, and nothing is polled."""

from dataclasses import replace
from uuid import UUID

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.agents.ports import FamilyMember
from actors.agents.waiting import LAST_LOOK_SECONDS, wait_for
from actors.law.ids import ChatId
from actors.law.states import Status
from actors.law.store.hints import HintsLost, hints_of_chat
from adapters.postgres.bus import Switchboard
from tests.actors.law.chats import NOW, a_chat

PARENT = ChatId(UUID(int=1))
CHAT = a_chat().chat


class Stage:
    """Children that settle when they are told to; whoever looks takes a while."""

    def __init__(self, count):
        self.children = [ChatId(UUID(int=10 + n)) for n in range(count)]
        self.status = dict.fromkeys(self.children, Status.RUNNING)
        self.bus = Switchboard()
        self.looks = 0
        self.look_seconds = 0.1
        self.is_away = False
        self.snapshot = CHAT.snapshot_version

    async def with_reports(self, of, wanted):
        self.looks += 1
        found = dict(self.status)
        if self.is_away:
            raise OSError("the store is away")
        await trio.sleep(self.look_seconds)
        return [
            FamilyMember(id, of, "t", "", found[id], False, None, NOW, NOW)
            for id in wanted
            if id in found
        ]

    def move(self, child, status, *, tells=True):
        """What is told of it; or would be."""
        self.status[child] = status
        self.snapshot += 1
        now = replace(CHAT, id=child, status=status, snapshot_version=self.snapshot)
        moved, *_ = hints_of_chat(now, holder_is_fresh=True)
        if tells:
            self.bus.tell(moved)
        return moved

    async def wait(self, children=None, *, seconds=60, any_of_them=False):
        return await wait_for(
            PARENT,
            self.children if children is None else children,
            family=self,
            bus=self.bus,
            seconds=seconds,
            any_of_them=any_of_them,
        )


async def test_one_look_before_and_one_after(autojump_clock):
    stage = Stage(3)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        for child in stage.children:
            await trio.sleep(1)
            stage.move(child, Status.WAITING)

    assert 2 == stage.looks


async def test_what_settles_during_a_look_is_not_missed(autojump_clock):
    stage = Stage(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        await trio.sleep(0.05)  # the look has read, and has not come back
        stage.move(stage.children[0], Status.WAITING)

    assert trio.current_time() < 5


async def test_a_child_that_goes_on_is_waited_for_again(autojump_clock):
    stage, found = Stage(2), []
    first, second = stage.children

    async def wait():
        found.extend(await stage.wait())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(1)
        stage.move(first, Status.WAITING)
        stage.move(first, Status.RUNNING)
        stage.move(second, Status.WAITING)
        await trio.sleep(1)
        assert [] == found
        stage.move(first, Status.ERROR)

    assert [Status.ERROR, Status.WAITING] == [child.status for child in found]


async def test_news_that_a_look_has_overtaken_counts_no_more(autojump_clock):
    stage = Stage(1)
    [child] = stage.children
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        await trio.sleep(1)
        stage.move(child, Status.WAITING)
        stage.move(child, Status.RUNNING, tells=False)  # its news got lost
        await trio.sleep(30)
        assert 2 == stage.looks
        stage.move(child, Status.WAITING)

    assert 3 == stage.looks


async def test_news_that_comes_late_does_not_bring_back_what_was(autojump_clock):
    stage = Stage(2)
    first, second = stage.children
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        await trio.sleep(1)
        late = stage.move(first, Status.RUNNING, tells=False)
        stage.move(first, Status.WAITING)
        await trio.sleep(1)
        stage.bus.tell(late)
        await trio.sleep(1)
        stage.move(second, Status.WAITING)

    assert trio.current_time() < 5


async def test_when_the_time_is_over_there_is_a_last_look(autojump_clock):
    stage = Stage(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        await trio.sleep(30)
        stage.move(stage.children[0], Status.WAITING, tells=False)  # its news got lost

    assert 60.1 == pytest.approx(trio.current_time(), abs=0.2)
    assert 2 == stage.looks


async def test_doubt_makes_look(autojump_clock):
    stage = Stage(1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        await trio.sleep(5)
        stage.move(stage.children[0], Status.WAITING, tells=False)
        stage.bus.hear(HintsLost())

    assert trio.current_time() < 6


async def test_a_stranger_among_them_is_told_of_at_once(autojump_clock):
    stage = Stage(2)

    found = await stage.wait([*stage.children, PARENT])

    assert stage.children == [child.id for child in found]
    assert trio.current_time() < 1


async def test_the_time_is_kept_by_a_store_that_hangs_too(autojump_clock):
    stage = Stage(1)
    stage.look_seconds = 10_000

    assert await stage.wait(seconds=30) is None
    assert 30 + LAST_LOOK_SECONDS == pytest.approx(trio.current_time(), abs=0.1)


async def test_a_store_that_hangs_at_last_leaves_what_was_known(autojump_clock):
    stage, found = Stage(1), []

    async def wait():
        found.extend(await stage.wait(seconds=30))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(5)
        stage.look_seconds = 10_000

    assert [Status.RUNNING] == [child.status for child in found]


async def test_a_store_that_is_away_for_a_moment_is_asked_again(autojump_clock):
    stage = Stage(1)
    stage.is_away = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.wait)
        await trio.sleep(1)
        stage.is_away = False
        stage.move(stage.children[0], Status.WAITING)

    assert trio.current_time() < 5


MOVES = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([Status.WAITING, Status.RUNNING, Status.ERROR])),
    max_size=12,
)


@settings(max_examples=60)
@given(MOVES, st.booleans(), st.lists(st.sampled_from([0.0, 0.03, 0.2]), min_size=12, max_size=12))
def test_whoever_waits_is_woken_whatever_the_order(moves, any_of_them, pauses):
    async def life():
        stage = Stage(3)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: stage.wait(any_of_them=any_of_them))
            for (child, status), pause in zip(moves, pauses, strict=False):
                await trio.sleep(pause)
                stage.move(stage.children[child], status)
            await trio.sleep(1)
            for child in stage.children:
                stage.move(child, Status.WAITING)
        assert trio.current_time() - began < 10

    clock = trio.testing.MockClock(autojump_threshold=0)
    began = 0.0

    async def timed():
        nonlocal began
        began = trio.current_time()
        await life()

    trio.run(timed, clock=clock)
