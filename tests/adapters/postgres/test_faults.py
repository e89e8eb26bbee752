"""What goes wrong with the database, as the caller is told it; and what state it leaves."""

import psycopg
import pytest
import trio
import trio.testing

from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import (
    DatabaseBusy,
    DatabaseFull,
    DatabaseGone,
    DatabaseRefused,
)
from tests.patience import PATIENCE_SECONDS

SLEEP = ("SELECT pg_sleep(10)", ())


@pytest.mark.parametrize(
    ("address", "fault", "words"),
    [
        ("dbname=nowhere", DatabaseRefused, 'database "nowhere" does not exist'),
        ("user=nobody_we_know", DatabaseRefused, 'role "nobody_we_know" does not exist'),
        ("host=/nowhere", DatabaseGone, "No such file or directory"),
        ("host=127.0.0.1 port=1", DatabaseGone, "Connection refused"),
        ("host=nowhere.invalid", DatabaseGone, "failed to resolve host"),
    ],
)
async def test_why_one_cannot_connect(database, no_leaks, address, fault, words):
    with pytest.raises(fault, match=words) as caught:
        await DatabaseConnection.open(f"{database} {address}")

    assert isinstance(caught.value.__cause__, psycopg.Error)


async def test_too_many_connections_is_worth_a_retry(database, witness):
    name = psycopg.conninfo.conninfo_to_dict(database)["dbname"]
    await witness.execute("CREATE ROLE crowded LOGIN")
    await witness.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 0")

    with pytest.raises(DatabaseRefused, match="too many connections for database") as caught:
        await DatabaseConnection.open(f"{database} user=crowded")
    await witness.execute("DROP ROLE crowded")

    assert caught.value.retryable


async def test_a_deadlock_is_busy_and_the_connection_usable(connection, witness):
    await connection.script(
        "CREATE TABLE t (n int PRIMARY KEY, m int); INSERT INTO t VALUES (1), (2)"
    )
    ends, has_first = [], {connection: trio.Event(), witness: trio.Event()}

    async def both(mine, first, second):
        try:
            async with mine.transaction() as tx:
                await tx.run([("UPDATE t SET m = 1 WHERE n = %s", (first,))])
                has_first[mine].set()
                for event in has_first.values():
                    await event.wait()
                await tx.run([("UPDATE t SET m = 1 WHERE n = %s", (second,))])
            ends.append("committed")
        except DatabaseBusy as fault:
            ends.append(type(fault.__cause__).__name__)

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(both, connection, 1, 2)
            nursery.start_soon(both, witness, 2, 1)

    assert sorted(ends) == ["DeadlockDetected", "committed"]
    assert await connection.execute("SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    ("state", "words", "fault"),
    [
        ("53100", "could not extend file: No space left on device", DatabaseFull),
        ("58030", "could not write to file: No space left on device", DatabaseFull),
        ("58030", "could not write to file: Disk quota exceeded", DatabaseFull),
        ("58030", "could not read block: Input/output error", DatabaseBusy),
        ("53200", "out of memory", DatabaseBusy),
    ],
)
async def test_what_the_server_has_no_room_for_is_not_stored(connection, state, words, fault):
    raising = f"DO $$ BEGIN RAISE EXCEPTION '{words}' USING ERRCODE = '{state}'; END $$"

    with pytest.raises(DatabaseBusy, match=words) as caught:
        await connection.execute(raising)

    assert fault is type(caught.value)
    assert await connection.execute("SELECT 1") == [(1,)]


async def test_a_bug_passes_as_it_is(connection):
    with pytest.raises(psycopg.errors.UndefinedTable):
        await connection.execute("SELECT * FROM nothing")

    assert await connection.execute("SELECT 1") == [(1,)]


async def test_a_killed_backend_says_why(connection, witness):
    async with trio.open_nursery() as nursery:

        async def kill():
            await trio.testing.wait_all_tasks_blocked(0.01)
            await witness.execute("SELECT pg_terminate_backend(%s)", (connection.backend,))

        nursery.start_soon(kill)
        with pytest.raises(
            DatabaseGone, match=r"^postgres/\d+: terminating connection due to admin"
        ):
            await connection.execute(*SLEEP)

    assert connection.closed
    with pytest.raises(DatabaseGone, match=r"^postgres/\d+: closed$"):
        await connection.execute("SELECT 1")


async def test_a_table_that_changed_under_a_prepared_statement_costs_the_connection(
    connection, witness
):
    await connection.execute("CREATE TABLE t (n int)")
    await connection.execute("TABLE t")
    await witness.execute("ALTER TABLE t ADD COLUMN m int")

    with pytest.raises(DatabaseGone, match="cached plan must not change result type"):
        await connection.execute("TABLE t")

    assert connection.closed


async def test_closed_by_another_task_it_is_gone(connection):
    async with trio.open_nursery() as nursery:

        async def close():
            await trio.testing.wait_all_tasks_blocked(0.01)
            connection.close()

        nursery.start_soon(close)
        with pytest.raises(DatabaseGone, match=r"^postgres/\d+: closed$"):
            await connection.execute(*SLEEP)
