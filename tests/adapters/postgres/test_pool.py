"""Pool: bounded, fair, and no slot is lost, whatever is cancelled or cut wherever."""
# ruff: noqa: PT012  what raises is the end of a block, not a call in it

from functools import partial

import pytest
import trio
import trio.lowlevel
import trio.testing

from adapters.postgres.driver.faults import DatabaseBusy, DatabaseFault, DatabaseGone, PoolExhausted
from adapters.postgres.driver.pool import Pool
from tests.adapters.postgres.conftest import cancel_when_it_sleeps, standing
from tests.patience import PATIENCE_SECONDS

SLEEP = ("SELECT pg_sleep(100)", ())


async def all_slots_are_there(pool):
    """Everything that can be lent is lent at the same time, and works."""
    async with trio.open_nursery() as nursery:
        inside = 0
        everybody = trio.Event()

        async def borrow():
            nonlocal inside
            async with pool.connection() as connection:
                inside += 1
                if inside == pool.statistics().size:
                    everybody.set()
                with trio.fail_after(PATIENCE_SECONDS):
                    await everybody.wait()
                assert await connection.execute("SELECT 1") == [(1,)]
                assert await connection.execute("SELECT pg_current_xact_id_if_assigned()") == [
                    (None,)
                ]

        for _ in range(pool.statistics().size):
            nursery.start_soon(borrow)
    now = pool.statistics()
    assert (0, now.size, 0) == (now.lent, now.idle, now.waiting)


async def test_connections_are_opened_on_demand_and_used_again(pool):
    for _ in range(3):
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")

    assert (pool.statistics().opened, pool.statistics().idle, pool.statistics().lent) == (1, 1, 0)


async def test_the_one_used_last_is_lent_first(pool):
    async with pool.connection() as first, pool.connection() as second:
        pass
    async with pool.connection() as again:
        assert again is first
        async with pool.connection() as other:
            assert other is second


async def test_waiters_are_served_in_their_order(database, no_leaks):
    """One slot: of two tasks that get theirs at once, trio runs either first."""
    pool = Pool(database, size=1)
    served = []

    async def borrow(number):
        async with pool.connection():
            served.append(number)

    async with trio.open_nursery() as nursery, pool.connection():
        for number in range(6):
            nursery.start_soon(borrow, number)
            await trio.testing.wait_all_tasks_blocked()

    assert served == [0, 1, 2, 3, 4, 5]
    waits = pool.statistics().waits
    assert 6 == waits.count
    assert waits.sum_seconds > 0
    assert pool.statistics().opened == 1
    await pool.drain(seconds=1)


async def test_what_ends_work_is_served_before_what_begins_some(database, no_leaks):
    pool = Pool(database, size=1)
    served = []

    async def borrow(name, *, ahead):
        async with pool.connection(ahead=ahead):
            served.append(name)

    async with trio.open_nursery() as nursery, pool.connection():
        for name in ("begin 1", "end 1", "begin 2", "end 2"):
            nursery.start_soon(partial(borrow, name, ahead=name.startswith("end")))
            await trio.testing.wait_all_tasks_blocked()

    assert served == ["end 1", "end 2", "begin 1", "begin 2"]
    await pool.drain(seconds=1)


async def test_one_ahead_that_gives_up_leaves_its_slot_to_the_others(database, no_leaks):
    pool = Pool(database, size=1)
    gives_up = trio.CancelScope()

    async def borrow():
        with gives_up:
            async with pool.connection(ahead=True):
                pass

    async with trio.open_nursery() as nursery:
        async with pool.connection():
            nursery.start_soon(borrow)
            await trio.testing.wait_all_tasks_blocked()
            gives_up.cancel()
        await all_slots_are_there(pool)

    await pool.drain(seconds=1)


async def test_who_waits_too_long_is_told_what_to_do(pool, rushing_clock):
    async with pool.connection(), pool.connection(), trio.open_nursery() as nursery:
        nursery.start_soon(jump, rushing_clock, 1.0)
        with (
            standing(rushing_clock),
            pytest.raises(
                PoolExhausted,
                match=r"^postgres pool: no connection free in 1 s \(2 of 2 lent, 0 more waiting\);"
                r" make the pool larger, or hold connections for a shorter time$",
            ),
        ):
            async with pool.connection():
                pass

    await all_slots_are_there(pool)


async def jump(clock, seconds):
    await trio.testing.wait_all_tasks_blocked()
    clock.jump(seconds)


async def test_a_cancelled_waiter_gives_its_place_away(pool):
    async with pool.connection(), pool.connection():
        with trio.move_on_after(0.02) as scope:
            async with pool.connection():
                pass

    assert scope.cancelled_caught
    await all_slots_are_there(pool)


async def test_a_waiter_cancelled_as_its_turn_comes_loses_no_slot(pool):
    async with trio.open_nursery() as nursery:
        scope = trio.move_on_after(5)

        async def wait():
            with scope:
                async with pool.connection():
                    await trio.lowlevel.checkpoint()

        async with pool.connection():
            async with pool.connection():
                nursery.start_soon(wait)
                await trio.testing.wait_all_tasks_blocked()
            scope.cancel()

    await all_slots_are_there(pool)


async def test_cancelled_while_connecting(pool, network):
    network.hold()
    with trio.move_on_after(0.05) as scope:
        async with pool.connection():
            pass
    network.release()

    assert scope.cancelled_caught
    await all_slots_are_there(pool)


async def test_cancelled_while_a_statement_runs(pool, witness):
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            async with pool.connection() as connection:
                nursery.start_soon(cancel_when_it_sleeps, witness, connection, scope)
                await connection.run([SLEEP])

    assert scope.cancelled_caught
    assert (pool.statistics().idle, pool.statistics().closed) == (1, {})
    await all_slots_are_there(pool)


@pytest.mark.slow
async def test_the_way_is_cut_at_any_byte_from_connecting_to_the_end(pool, network):
    async def use():
        async with pool.connection() as connection:
            await connection.commit([("SELECT 1", ())])

    network.cut_after()
    await use()
    whole = {"to_server": network.to_server, "to_client": network.to_client}
    faults = 0

    for way, length in whole.items():
        for count in range(0, length, 11):
            for connection in list(pool._idle):
                connection.connection.close()  # begin with connecting
            network.cut_after(**{way: count})
            try:
                await use()
            except DatabaseFault:
                faults += 1
            network.release()
            assert pool.statistics().lent == 0

    assert faults > 20
    await all_slots_are_there(pool)


async def test_a_connection_that_broke_is_replaced(pool, network):
    with pytest.raises(DatabaseGone):
        async with pool.connection() as connection:
            network.cut()
            await connection.execute("SELECT 1")

    assert pool.statistics().closed == {"broken": 1}
    await all_slots_are_there(pool)


async def test_an_idle_connection_the_server_closed_is_noticed_before_it_is_lent(pool, witness):
    async with pool.connection() as connection:
        await witness.execute("SELECT pg_terminate_backend(%s, 30000)", (connection.backend,))
        ended = connection

    async with pool.connection() as connection:
        assert ended is not connection  # whose server process may have the number of the other
        assert await connection.execute("SELECT 1") == [(1,)]
    assert pool.statistics().closed == {"dead": 1}


async def test_an_idle_connection_with_a_notice_to_tell_is_kept(pool, witness):
    async with pool.connection() as connection:
        await connection.execute("LISTEN news")
        known = connection.backend
    await witness.execute("NOTIFY news")

    async with pool.connection() as connection:
        assert known == connection.backend


async def test_a_connection_that_is_old_is_replaced(database, no_leaks):
    pool = Pool(database, size=1, lifetime_seconds=0.0)
    async with pool.connection() as connection:
        first = connection
    async with pool.connection() as connection:
        assert first is not connection

    assert pool.statistics().closed == {"old": 1}
    await pool.drain(seconds=1)


async def test_a_server_that_is_away_costs_no_slot(pool, network):
    network.refusing = True
    for _ in range(5):
        with pytest.raises(DatabaseGone):
            async with pool.connection():
                pass
    network.refusing = False

    await all_slots_are_there(pool)


async def test_an_exception_of_the_borrower_passes_and_the_connection_is_kept(pool):
    with pytest.raises(KeyError):
        async with pool.connection() as connection, connection.transaction() as tx:
            await tx.run([("CREATE TABLE t (n int)", ())])
            raise KeyError

    assert (pool.statistics().idle, pool.statistics().closed) == (1, {})


async def test_draining_waits_for_what_is_lent(pool):
    async with trio.open_nursery() as nursery:

        async def borrow(task_status):
            async with pool.connection() as connection:
                task_status.started()
                assert await connection.execute("SELECT pg_sleep(0.05)::text") == [("",)]

        await nursery.start(borrow)
        await pool.drain(seconds=5)

        assert pool.statistics().closed == {"drained": 1}
    with pytest.raises(DatabaseGone, match=r"^postgres pool: closed$"):
        async with pool.connection():
            pass


async def test_draining_does_not_wait_for_ever(pool):
    async with trio.open_nursery() as nursery:

        async def borrow(task_status):
            with pytest.raises(DatabaseGone):
                async with pool.connection() as connection:
                    task_status.started()
                    await connection.run([SLEEP])

        await nursery.start(borrow)
        await pool.drain(seconds=0.05)

    assert pool.statistics().closed == {"broken": 1}


async def test_who_waits_when_draining_begins_is_told(pool):
    async with trio.open_nursery() as nursery:

        async def wait():
            with pytest.raises(DatabaseGone, match=r"^postgres pool: closed$"):
                async with pool.connection():
                    pass

        async with pool.connection(), pool.connection():
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(pool.drain, 1.0)
            await trio.testing.wait_all_tasks_blocked()


@pytest.mark.slow
async def test_a_crowd_that_is_cancelled_at_random_loses_nothing(pool, network):
    """Hundreds of short borrowings, cancelled and cut all the time."""

    async def borrow(number):
        with trio.move_on_after(number % 13 * 0.001):
            try:
                async with pool.connection() as connection, connection.transaction() as tx:
                    await tx.run([("SELECT pg_sleep(0.002)", ())])
            except (DatabaseGone, DatabaseBusy):
                pass

    async with trio.open_nursery() as nursery:
        for number in range(400):
            nursery.start_soon(borrow, number)
            if number % 20 == 0:
                await trio.sleep(0.005)
            if number % 100 == 99:
                network.cut()

    await all_slots_are_there(pool)
