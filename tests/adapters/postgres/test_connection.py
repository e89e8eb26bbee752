"""Connection: statements and their rows, one trip for many, cancellation, deadlines, faults."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import psycopg
import pytest
import trio

from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseBusy, DatabaseGone
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.driver.values import Json, parse
from tests.adapters.postgres.conftest import cancel_when_it_sleeps, rushing, until

SLEEP = ("SELECT pg_sleep(100)", ())
LOCK, UNLOCK = "SELECT pg_advisory_lock(1)::text", "SELECT pg_advisory_unlock(1)"
WAITS = "SELECT pid FROM pg_locks WHERE pid = %s AND locktype = 'advisory' AND NOT granted"


async def until_it_waits(witness, connection):
    """Wait until a statement of this connection waits for the lock that the witness holds."""

    async def waits():
        return await witness.execute(WAITS, (connection.backend,))

    await until(waits)


# statements and rows


async def test_a_statement_gives_its_rows(connection):
    assert await connection.execute("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS two") == [
        (1, "a"),
        (2, "b"),
    ]


async def test_a_statement_without_rows_gives_none(connection):
    assert await connection.execute("CREATE TABLE t (n int)") == []


async def test_parameters_are_named_or_counted(connection):
    named = await connection.execute(
        "SELECT %(a)s::int, %(b)s, %(a)s::int", {"b": "two", "a": 1, "unused": 3}
    )
    counted = await connection.execute("SELECT %s::int, %s, 7 %% 4", (1, "two"))

    assert named == [(1, "two", 1)]
    assert counted == [(1, "two", 3)]


def test_a_lone_percent_sign_is_refused():
    with pytest.raises(AssertionError, match="a lone % in a statement"):
        parse("SELECT 7 % %s")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("uuid", uuid4()),
        ("int8", 2**62),
        ("int4", -7),
        ("bool", False),
        ("float8", 0.1),
        ("numeric", Decimal("1.50")),
        ("text", 'quo\'te "double" back\\slash ünïcödé'),
        ("bytea", bytes(range(256))),
        ("timestamptz", datetime(2026, 2, 3, 4, 5, 6, 7, tzinfo=UTC)),
        ("interval", timedelta(days=1, seconds=2)),
        ("uuid[]", [uuid4(), uuid4(), None]),
        ("int8[]", [1, -2, 2**62]),
        ("text[]", ["", "NULL", 'a"b', "c\\d", "{e,f}", None]),
        ("bool[]", [True, False]),
        ("int4[]", []),
        ("int4[]", [[1, 2], [3, 4]]),
        ("timestamptz[]", [datetime(2026, 2, 3, tzinfo=UTC)]),
        ("bytea[]", [b"\x00\\", b""]),
        ("text", None),
    ],
)
async def test_a_value_comes_back_as_it_went(connection, kind, value):
    assert [(value,)] == await connection.execute(f"SELECT %s::{kind}", (value,))


@pytest.mark.parametrize("value", ["a\0b", ["a", "a\0b"], [Json(b'"a\0b"')], [["\0"]]])
async def test_text_that_postgres_cannot_hold_is_refused_and_not_cut(connection, value):
    with pytest.raises(psycopg.DataError):
        await connection.execute("SELECT %s", (value,))

    assert [(1,)] == await connection.execute("SELECT 1")


async def test_a_time_comes_back_in_utc_whatever_the_zone_of_the_session(connection):
    await connection.execute("SET TIME ZONE 'Asia/Tokyo'")

    [(at,)] = await connection.execute("SELECT '2026-02-03 04:05+09'::timestamptz")

    assert datetime(2026, 2, 2, 19, 5, tzinfo=UTC) == at
    assert UTC.utcoffset(None) == at.utcoffset()


async def test_json_goes_as_text_or_bytes_and_comes_back_raw(connection):
    [row] = await connection.execute(
        "SELECT %s::jsonb, %s::json, %s::jsonb[]", ('{"a":1}', Json(b'{"b": 2}'), [Json(b"[]")])
    )

    assert row == (b'{"a": 1}', b'{"b": 2}', [b"[]"])


async def test_an_enum_comes_back_as_a_string(connection):
    await connection.execute("CREATE TYPE mood AS ENUM ('glad', 'sad')")

    assert await connection.execute("SELECT %s::mood", ("sad",)) == [("sad",)]


async def test_many_statements_give_the_rows_of_each(connection):
    answers = await connection.run(
        [("SELECT 1", ()), ("SELECT 2 WHERE false", ()), ("SELECT 3", ())]
    )

    assert answers == [[(1,)], [], [(3,)]]


async def test_statements_of_one_run_are_one_transaction(connection):
    await connection.execute("CREATE TABLE t (n int PRIMARY KEY)")

    with pytest.raises(psycopg.errors.UniqueViolation):
        await connection.run([("INSERT INTO t VALUES (1)", ())] * 2)

    assert await connection.execute("SELECT count(*) FROM t") == [(0,)]


async def test_a_read_is_one_snapshot_and_writes_nothing(connection, witness):
    await connection.execute("CREATE TABLE t (n int)")
    await witness.execute(LOCK)

    async def write_in_its_midst():
        await until_it_waits(witness, connection)
        await witness.execute("INSERT INTO t VALUES (1)")
        await witness.execute(UNLOCK)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write_in_its_midst)
        before, _, after = await connection.read(
            [("SELECT count(*) FROM t", ()), (LOCK, ()), ("TABLE t", ())]
        )
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        await connection.read([("INSERT INTO t VALUES (2)", ())])

    assert before == [(0,)]
    assert after == []
    assert await connection.execute("TABLE t") == [(1,)]


async def test_a_repeated_statement_is_prepared_once_whatever_its_parameters(connection):
    for value in (1, 2**40, None, "7"):
        await connection.run([("SELECT %s::text::int8", (value,))] * 2)

    assert await connection.execute(
        "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT $1::text::int8'"
    ) == [(1,)]


async def test_a_statement_whose_preparation_was_skipped_is_prepared_later(connection):
    with pytest.raises(psycopg.errors.DivisionByZero):
        await connection.run([("SELECT 1/0", ()), ("SELECT 'skipped'", ())])

    assert await connection.execute("SELECT 'skipped'") == [("skipped",)]


async def test_the_least_recently_used_prepared_statement_is_closed(connection, monkeypatch):
    monkeypatch.setattr("adapters.postgres.driver.libpq.PREPARED_MAX", 5)

    for number in range(50):
        await connection.execute(f"SELECT {number}")
        await connection.execute("SELECT 'often'")

    [(count,)] = await connection.execute("SELECT count(*) FROM pg_prepared_statements")
    assert count <= 8
    assert await connection.execute("SELECT 'often'") == [("often",)]


async def test_more_than_the_sockets_hold_passes_both_ways(connection):
    big = "x" * 3_000_000

    answers = await connection.run([("SELECT %s", (big,))] * 4)

    assert [[(big,)]] * 4 == answers


async def test_a_script_is_one_transaction(connection):
    with pytest.raises(psycopg.errors.DivisionByZero):
        await connection.script("CREATE TABLE t (n int); SELECT 1/0;")
    await connection.script("CREATE TABLE t (n int); INSERT INTO t VALUES (7);")

    assert await connection.execute("TABLE t") == [(7,)]


async def test_a_script_that_leaves_a_transaction_open_is_rolled_back(connection):
    await connection.script("BEGIN; CREATE TABLE t (n int);")

    assert await connection.execute("SELECT to_regclass('t')::text") == [(None,)]


async def test_copy_is_refused_and_closes(connection):
    with pytest.raises(AssertionError, match="COPY does not go through here"):
        await connection.script("COPY (SELECT 1) TO STDOUT")

    assert connection.closed


async def test_two_tasks_on_one_connection_are_a_bug(connection, witness):
    await witness.execute(LOCK)

    async def second():
        await until_it_waits(witness, connection)
        with pytest.raises(AssertionError, match="two tasks use one connection"):
            await connection.execute("SELECT 2")
        await witness.execute(UNLOCK)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(second)
        assert await connection.execute(LOCK) == [("",)]


# cancellation


@pytest.mark.parametrize("count", [1, 3])
async def test_cancelled_it_stops_on_the_server_and_is_usable(connection, witness, count):
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(cancel_when_it_sleeps, witness, connection, scope)
            await connection.run([SLEEP] * count)

    assert scope.cancelled_caught
    assert (
        await witness.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid = %s AND state = 'active'",
            (connection.backend,),
        )
        == []
    )
    assert await connection.execute("SELECT 1") == [(1,)]


async def test_cancelled_script_is_stopped_and_usable(connection, witness):
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(cancel_when_it_sleeps, witness, connection, scope)
            await connection.script("CREATE TABLE t (n int); SELECT pg_sleep(100);")

    assert await connection.execute("SELECT to_regclass('t')::text") == [(None,)]


@pytest.mark.slow
async def test_a_cancel_never_hits_a_later_statement(connection):
    for number in range(300):
        with trio.move_on_after(number % 7 * 0.0003):
            await connection.run([("SELECT pg_sleep(0.001)", ())] * 3)

        assert [(number,)] == await connection.execute("SELECT %s::int", (number,))


async def test_cancelled_before_it_began_it_sends_nothing(connection):
    await connection.execute("CREATE SEQUENCE s")

    with trio.move_on_after(0) as scope:
        scope.cancel()
        await connection.execute("SELECT nextval('s')")
        await trio.lowlevel.checkpoint()

    assert scope.cancelled_caught
    assert not connection.closed


async def test_cancelled_on_a_dead_network_it_closes(network, rushing_clock):
    connection = await DatabaseConnection.open(network.conninfo)
    network.hold()

    with rushing(rushing_clock), trio.move_on_after(1) as scope:
        await connection.execute("SELECT 1")

    assert scope.cancelled_caught
    assert connection.closed


# deadlines


async def test_the_server_enforces_the_timeouts(database, no_leaks):
    given = Timeouts(statement_seconds=0.3, lock_seconds=0.2, idle_in_transaction_seconds=3)
    connection = await DatabaseConnection.open(database, timeouts=given)

    settings = await connection.run(
        [
            ("SHOW statement_timeout", ()),
            ("SHOW lock_timeout", ()),
            ("SHOW idle_in_transaction_session_timeout", ()),
        ]
    )
    with pytest.raises(
        DatabaseBusy, match=r"^postgres/\d+: canceling statement due to statement t"
    ):
        await connection.execute(*SLEEP)

    assert settings == [[("300ms",)], [("200ms",)], [("3s",)]]
    assert await connection.execute("SELECT 1") == [(1,)]
    connection.close()


async def test_what_the_conninfo_sets_stands(database, no_leaks):
    connection = await DatabaseConnection.open(f"{database} options='-c statement_timeout=7s'")

    assert await connection.execute("SHOW statement_timeout") == [("7s",)]
    connection.close()


async def test_a_run_has_a_limit_of_its_own(connection):
    with pytest.raises(DatabaseBusy, match=r"^postgres/\d+: not done in 0.05 s, stopped$"):
        await connection.run([SLEEP], seconds=0.05)

    assert await connection.execute("SELECT 1") == [(1,)]


async def test_a_server_that_vanished_is_noticed(network, rushing_clock):
    connection = await DatabaseConnection.open(network.conninfo)
    network.hold()

    with (
        rushing(rushing_clock),
        pytest.raises(DatabaseGone, match=r"no answer in 35 s, connection closed$"),
    ):
        await connection.execute("SELECT 1")

    assert connection.closed


async def test_connecting_has_a_limit(network, rushing_clock):
    network.hold()

    with rushing(rushing_clock), pytest.raises(DatabaseGone, match=r"no answer in 10 s$"):
        await DatabaseConnection.open(network.conninfo)


async def test_a_connection_cancelled_while_connecting_leaves_nothing(network):
    network.hold()

    with trio.move_on_after(0.05) as scope:
        await DatabaseConnection.open(network.conninfo)

    assert scope.cancelled_caught
