"""Leases: one row for each worker, fresh as long as it beats."""

from datetime import timedelta

from tests.actors.law.chats import HOLDER, OTHER_HOLDER

MINE, OTHER = HOLDER.worker, OTHER_HOLDER.worker


async def test_the_first_beat_begins_a_lease(world):
    beat = await world.leases.beat(MINE)

    assert not beat.expired
    assert {MINE} == await world.workers()


async def test_a_beat_in_time_holds_on(world):
    first = await world.leases.beat(MINE)
    await world.pass_time(25)  # and what the machine takes

    beat = await world.leases.beat(MINE)

    assert not beat.expired
    assert first.at <= beat.at < first.at + timedelta(seconds=35)


async def test_a_beat_after_the_lease_says_that_it_had_run_out(world):
    await world.leases.beat(MINE)
    await world.pass_time(31)

    late = await world.leases.beat(MINE)
    again = await world.leases.beat(MINE)

    assert [True, False] == [late.expired, again.expired]


async def test_a_beat_tells_who_is_gone_without_having_left(world):
    await world.leases.beat(OTHER)
    before = await world.leases.beat(MINE)
    await world.pass_time(31)

    after = await world.leases.beat(MINE)
    await world.leases.leave(OTHER)
    left = await world.leases.beat(MINE)

    assert [frozenset(), {OTHER}, frozenset()] == [before.gone, after.gone, left.gone]


async def test_a_worker_that_left_is_gone_and_may_leave_twice(world):
    await world.leases.beat(MINE)
    await world.leases.beat(OTHER)

    await world.leases.leave(MINE)
    await world.leases.leave(MINE)

    assert {OTHER} == await world.workers()
    assert not (await world.leases.beat(MINE)).expired


async def test_workers_that_are_long_gone_are_swept_away(world):
    await world.leases.beat(OTHER)
    await world.pass_time(200)
    await world.leases.beat(MINE)
    await world.pass_time(101)

    assert 1 == await world.leases.sweep()
    assert 0 == await world.leases.sweep()
    assert {MINE} == await world.workers()


async def test_a_worker_that_only_missed_some_beats_is_kept(world):
    await world.leases.beat(MINE)
    await world.pass_time(290)

    assert 0 == await world.leases.sweep()
    assert (await world.leases.beat(MINE)).expired
