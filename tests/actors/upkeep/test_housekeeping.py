"""The housekeeper: passes, batches, its lease, and what goes wrong."""

import uuid
from collections import deque
from functools import partial

import pytest
import trio

from actors.law.store.ports import StoreUnavailable
from actors.upkeep.housekeeping import (
    CHORE_SECONDS_MAX,
    LOOK_SECONDS,
    PASS_SECONDS,
    START_SECONDS,
    Batch,
    ChoreReport,
    Housekeeper,
    HousekeepingLease,
    HousekeepingLost,
)


class House:
    """The lease in memory: what several processes share."""

    def __init__(self):
        self.holder, self.epoch, self.ended_at = None, 0, None
        self.reports, self.busy, self.away = [], False, False

    async def take(self, holder, *, rest_seconds):
        await trio.lowlevel.checkpoint()
        if self.away:
            raise StoreUnavailable("away")
        is_due = self.ended_at is None or self.ended_at <= trio.current_time() - rest_seconds
        if self.holder is not None or not is_due:
            return None
        self.holder, self.epoch = holder, self.epoch + 1
        return HousekeepingLease(holder, self.epoch)

    async def is_busy(self):
        await trio.lowlevel.checkpoint()
        return self.busy

    async def leave(self, lease, report):
        await trio.lowlevel.checkpoint()
        if self.epoch == lease.epoch:
            self.holder = None
            if report is not None:
                self.ended_at = trio.current_time()
                self.reports.append(report)


class Dust:
    """A chore: so much to remove, `seconds` for each, in a house."""

    def __init__(self, house, count, *, name="dust", seconds=0.0):
        self.house, self.left, self.name, self.seconds = house, count, name, seconds
        self.batches, self.faults = [], deque()

    async def batch(self, lease, most):
        if self.faults:
            fault = self.faults.popleft()
            if fault is not None:
                raise fault
        if (self.house.holder, self.house.epoch) != (lease.holder, lease.epoch):
            return HousekeepingLost()
        count = min(self.left, most)
        await trio.sleep(count * self.seconds)
        self.left -= count
        self.batches.append((trio.current_time(), count))
        return Batch(count, 10 * count, is_last=not self.left)

    async def due(self):
        await trio.lowlevel.checkpoint()
        return self.left


def keeper(house, *chores):
    return Housekeeper(house, chores, id=uuid.uuid4(), start_seconds=0)


async def running(seconds, *keepers):
    with trio.move_on_after(seconds):
        async with trio.open_nursery() as nursery:
            for each in keepers:
                nursery.start_soon(each.run)


async def test_a_pass_removes_all_that_is_due_in_batches(autojump_clock):
    house = House()
    dust = Dust(house, 12_345, seconds=1e-4)

    await running(1e4, keeper(house, dust))

    assert 0 == dust.left
    assert 5 < len(dust.batches)
    assert [ChoreReport("dust", 12_345, 123_450)] == list(house.reports[0].chores)


async def test_a_pass_begins_at_once_and_then_an_hour_after_the_last_one(autojump_clock):
    house, began = House(), trio.current_time()
    dust = Dust(house, 0)

    await running(2.5 * PASS_SECONDS, keeper(house, dust))

    at = [round((at - began) / PASS_SECONDS, 1) for at, _ in dust.batches]
    assert [0.0, 1.0, 2.0] == at


async def test_a_process_that_starts_has_other_things_to_do(autojump_clock):
    house, began = House(), trio.current_time()
    dust = Dust(house, 1)

    await running(2 * START_SECONDS, Housekeeper(house, [dust], id=uuid.uuid4()))

    assert [began + START_SECONDS] == [at for at, _ in dust.batches]


async def test_of_several_processes_one_keeps_house(autojump_clock):
    house = House()
    dust = Dust(house, 1000, seconds=0.5)
    keepers = [keeper(house, dust) for _ in range(3)]

    await running(1800, *keepers)

    assert 1 == house.epoch == len(house.reports)
    assert [1000] == [
        each.statistics().removed_count["dust"]
        for each in keepers
        if each.statistics().removed_count
    ]


async def test_what_was_asked_for_begins_at_once(autojump_clock):
    house = House()
    dust, kept = Dust(house, 5), None
    kept = keeper(house, dust)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(kept.run)
        await trio.sleep(10)
        dust.left = 7
        began = trio.current_time()
        await kept.ask().wait()
        assert trio.current_time() < began + 1
        nursery.cancel_scope.cancel()

    assert [5, 7] == [report.chores[0].count for report in house.reports]


async def test_a_process_that_lost_its_lease_removes_nothing_more(autojump_clock):
    house = House()
    dust = Dust(house, 10_000, seconds=0.01)
    kept = keeper(house, dust)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(running, 60, kept))
        await trio.sleep(20)
        house.epoch, house.holder = house.epoch + 1, uuid.uuid4()
        left = dust.left - dust.batches[-1][1]  # the batch under way may end

    assert dust.left >= left > 0
    assert 1 == kept.statistics().lost_count
    assert [] == house.reports


@pytest.mark.parametrize("fault", [StoreUnavailable("away"), ValueError("a bug")])
async def test_what_fails_is_tried_in_the_next_pass_and_the_rest_goes_on(autojump_clock, fault):
    house = House()
    bad, good = Dust(house, 10, name="bad"), Dust(house, 10, name="good")
    bad.faults.append(fault)
    kept = keeper(house, bad, good)

    await running(2 * LOOK_SECONDS, kept)

    first, second = house.reports
    assert [0, 10] == [each.count for each in first.chores]
    assert first.left
    assert type(fault).__name__ in first.chores[0].error
    assert [10, 0] == [each.count for each in second.chores]
    assert {"bad": 1} == kept.statistics().failed_count


async def test_an_assertion_is_not_swallowed(autojump_clock):
    house = House()
    dust = Dust(house, 10)
    dust.faults.append(AssertionError("the rule is broken"))

    with pytest.raises((AssertionError, ExceptionGroup)):
        await running(10, keeper(house, dust))


async def test_no_chore_keeps_the_others_from_their_turn(autojump_clock):
    house = House()
    endless = Dust(house, 10**9, name="endless", seconds=0.01)
    good = Dust(house, 10, name="good")

    await running(1.5 * CHORE_SECONDS_MAX, keeper(house, endless, good))

    assert 0 == good.left


async def test_while_chats_are_at_work_it_rests_far_longer_than_it_works(autojump_clock):
    house = House()
    house.busy = True
    dust = Dust(house, 10**6, seconds=1e-4)

    await running(600, keeper(house, dust))

    assert 0.004 < sum(count for _, count in dust.batches) * 1e-4 / 600 < 0.006
    assert max(count for _, count in dust.batches[1:]) <= 50  # five milliseconds


async def test_a_store_that_is_away_is_asked_again(autojump_clock):
    house = House()
    house.away = True
    dust = Dust(house, 5)
    kept = keeper(house, dust)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(running, 3 * LOOK_SECONDS, kept))
        await trio.sleep(LOOK_SECONDS * 1.5)
        house.away = False

    assert 0 == dust.left


async def test_a_pass_that_is_cut_short_lets_go_of_the_lease(autojump_clock):
    house = House()
    dust = Dust(house, 10_000, seconds=1.0)

    await running(5, keeper(house, dust))

    assert house.holder is None
    assert [] == house.reports


async def test_a_survey_says_what_is_due_and_removes_nothing():
    house = House()
    dust = Dust(house, 42)

    assert [ChoreReport("dust", 42)] == await keeper(house, dust).survey()
    assert 42 == dust.left
