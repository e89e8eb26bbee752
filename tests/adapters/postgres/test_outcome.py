"""COMMIT has two outcomes: wherever the way to the server breaks, whoever is cancelled, whenever.

The transaction of these tests adds one to an account and writes an entry. A witness with a
connection of its own sees what holds, and is asked again after the server has ended whatever was
still running: an outcome that was reported must not change afterwards.
"""
# ruff: noqa: PT012  what raises is the end of a block, not a call in it

import itertools

import psycopg
import pytest
import trio
import trio.testing

from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseGone, LostCommit, OutcomeUnknown
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.queries import SQL
from tests.adapters.postgres.conftest import RUSH, until

ADD = "UPDATE account SET n = n + 1 WHERE id = %(id)s RETURNING n"
ENTER = "INSERT INTO entry VALUES (%(id)s)"
# Every so many bytes of the conversation is a place to break it.
STRIDE = 13
# What a server that is told to stop says on each connection: an ErrorResponse.
_FIELDS = b"SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"
STOPPING = b"E" + (len(_FIELDS) + 4).to_bytes(4, "big") + _FIELDS
ACCOUNTS = itertools.count(1)


async def one_at_a_time(connection, account):
    async with connection.transaction() as tx:
        await tx.run([(ADD, {"id": account})])
        await tx.run([(ENTER, {"id": account})])


async def with_the_commit(connection, account):
    async with connection.transaction() as tx:
        await tx.run([(ADD, {"id": account})])
        await tx.commit([(ENTER, {"id": account})])


async def with_an_xid_of_its_own(connection, account):
    async with connection.transaction() as tx:
        add = f"{ADD}, pg_current_xact_id()"
        [[(_, tx.xid)]] = await tx.run([(add, {"id": account})], ask_xid=False)
        await tx.commit([(ENTER, {"id": account})])


async def all_at_once(connection, account):
    await connection.commit([(ADD, {"id": account}), (ENTER, {"id": account})])


TRANSFERS = [one_at_a_time, with_the_commit, with_an_xid_of_its_own, all_at_once]


@pytest.fixture
async def accounts(witness):
    await witness.script(
        "CREATE TABLE account (id int PRIMARY KEY, n int NOT NULL); CREATE TABLE entry (id int);"
        "INSERT INTO account SELECT id, 0 FROM generate_series(1, 20000) AS id;"
    )


async def what_holds(witness, account):
    """(committed?, no half of it) once nobody is at work any more."""
    [added, entered] = await witness.read(
        [
            ("SELECT n FROM account WHERE id = %s", (account,)),
            ("SELECT count(*) FROM entry WHERE id = %s", (account,)),
        ]
    )
    assert added == entered, "half a transaction holds"
    return added == [(1,)]


async def quiet(witness):
    """Wait until the server has ended what lost connections left running."""

    async def nobody():
        return not await witness.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    await until(nobody)


async def length_of(transfer, network):
    """How many bytes the transaction sends and gets when all goes well."""
    connection = await DatabaseConnection.open(network.conninfo)
    network.cut_after()
    await transfer(connection, next(ACCOUNTS))
    connection.close()
    return network.to_server, network.to_client


async def report_of(transfer, network, witness, **cut):
    """Return whether a transfer whose way is cut is reported as done, which must be what holds."""
    account = next(ACCOUNTS)
    connection = await DatabaseConnection.open(network.conninfo)
    network.cut_after(**cut)
    try:
        await transfer(connection, account)
        reported = True
    except DatabaseGone:
        reported = False
    connection.close()

    await quiet(witness)
    assert (cut, reported) == (cut, await what_holds(witness, account))
    return reported


@pytest.mark.slow
@pytest.mark.parametrize("tell_server", [True, False], ids=["cut", "cut for the client only"])
@pytest.mark.parametrize("transfer", TRANSFERS)
async def test_the_way_is_cut_at_every_byte(transfer, tell_server, network, witness, accounts):
    to_server, to_client = await length_of(transfer, network)
    places = [{"to_server": n} for n in range(0, to_server, STRIDE)]
    places += [{"to_client": n} for n in range(0, to_client, STRIDE)]
    seen = set()

    for place in places:
        seen.add(await report_of(transfer, network, witness, **place, tell_server=tell_server))

    assert {True, False} == seen, "both outcomes were met on the way"


def ends_of(answer):
    """How many bytes of an answer each of its messages needs to be whole, with those before it."""
    at = 0
    while at < len(answer):
        at += 1 + int.from_bytes(answer[at + 1 : at + 5], "big")
        yield at


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("transfer", TRANSFERS)
async def test_the_server_stops_after_every_message(transfer, times, network, witness, accounts):
    """It says so before it hangs up, in the place of whatever the client waits for."""
    await length_of(transfer, network)
    seen = set()

    for place in [0, *ends_of(network.answer)]:
        farewell = STOPPING * times
        seen.add(await report_of(transfer, network, witness, to_client=place, farewell=farewell))

    assert {True, False} == seen, "both outcomes were met on the way"


async def test_the_server_stops_before_it_has_ended_a_refusal(network, witness, accounts):
    connection = await DatabaseConnection.open(network.conninfo)
    network.cut_after()
    with pytest.raises(psycopg.errors.UniqueViolation):
        await connection.commit([("INSERT INTO account VALUES (1, 0)", ())])
    connection.close()

    for place in [0, *ends_of(network.answer)][:-1]:
        connection = await DatabaseConnection.open(network.conninfo)
        network.cut_after(to_client=place, farewell=STOPPING)
        with pytest.raises((psycopg.errors.UniqueViolation, DatabaseGone)):
            await connection.commit([("INSERT INTO account VALUES (1, 0)", ())])
        assert connection.closed


@pytest.mark.slow
@pytest.mark.parametrize("transfer", TRANSFERS)
async def test_the_caller_is_cancelled_at_every_byte(transfer, network, witness, accounts):
    to_server, to_client = await length_of(transfer, network)
    places = [{"to_server": n} for n in range(0, to_server, STRIDE)]
    places += [{"to_client": n} for n in range(0, to_client, STRIDE)]
    seen = set()

    for place in places:
        account = next(ACCOUNTS)
        connection = await DatabaseConnection.open(network.conninfo)
        network.hold_after(**place)
        reported = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(cancel_when_held, network, nursery.cancel_scope)
            await transfer(connection, account)
            reported = True
            nursery.cancel_scope.cancel()
        network.release()

        assert connection.closed or await connection.execute("SELECT 1") == [(1,)]
        assert connection.closed or await connection.execute(
            "SELECT pg_current_xact_id_if_assigned()"
        ) == [(None,)]
        connection.close()
        await quiet(witness)
        assert (place, reported) == (place, await what_holds(witness, account))
        seen.add(reported)

    assert {True, False} == seen, "both outcomes were met on the way"


async def cancel_when_held(network, scope):
    await network.struck.wait()
    scope.cancel()
    with trio.move_on_after(1, shield=True):
        await trio.sleep(0.002)  # the connection has begun to stop; now its words arrive
        network.release()


@pytest.mark.parametrize("transfer", TRANSFERS)
async def test_the_backend_is_killed_before_commit(transfer, connection, witness, accounts):
    account = next(ACCOUNTS)

    with pytest.raises(DatabaseGone):
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": account})])
            await witness.execute("SELECT pg_terminate_backend(%s, 30000)", (connection.backend,))

    assert connection.closed
    assert not await what_holds(witness, account)


async def test_a_commit_that_stalls_is_settled(network, witness, accounts, rushing_clock):
    account = next(ACCOUNTS)
    connection = await DatabaseConnection.open(network.conninfo)

    async with trio.open_nursery() as nursery, connection.transaction() as tx:
        await tx.run([(ADD, {"id": account}), (ENTER, {"id": account})])
        network.hold_after(to_client=0)
        nursery.start_soon(release_after, 20, network, rushing_clock)

    assert connection.closed
    assert await what_holds(witness, account)


async def release_after(seconds, network, clock):
    """Let so much time pass once the way is held. In small steps: each is seen before the next."""
    await network.struck.wait()
    for _ in range(seconds):
        await trio.testing.wait_all_tasks_blocked()
        clock.jump(1.0)
    network.release()


async def test_when_nobody_can_be_asked_the_outcome_is_unknown_and_can_be_settled_later(
    network, witness, accounts, rushing_clock
):
    account = next(ACCOUNTS)
    connection = await DatabaseConnection.open(network.conninfo)

    with pytest.raises(
        OutcomeUnknown, match=r"^postgres/\d+: transaction \d+: being committed"
    ) as caught:
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": account}), (ENTER, {"id": account})])
            network.refusing = True
            network.cut_after(to_client=0)
            rushing_clock.rate = RUSH
    rushing_clock.rate = 1.0

    assert tx.xid == caught.value.lost.xid
    assert await what_holds(witness, account)
    assert await witness.settle(caught.value.lost)


async def test_an_open_transaction_is_ended_to_settle_it(connection, witness, accounts):
    with pytest.raises(DatabaseGone, match=r"^postgres/\d+: terminating connection"):
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": 1})])

            [(era,)] = await witness.execute(SQL["ask_era"])
            assert not await witness.settle(LostCommit(tx.xid, connection.backend, era))
            await tx.run([("SELECT 1", ())])


async def test_a_transaction_that_only_read_has_nothing_to_settle(network):
    connection = await DatabaseConnection.open(network.conninfo)

    with pytest.raises(DatabaseGone):
        async with connection.transaction() as tx:
            await tx.run([("SELECT 1", ())])
            network.cut_after(to_client=0)

    assert tx.xid is None


async def test_an_empty_transaction_sends_nothing(network):
    connection = await DatabaseConnection.open(network.conninfo)
    network.cut_after()

    async with connection.transaction():
        pass

    assert (network.to_server, network.to_client) == (0, 0)
    connection.close()


async def test_an_exception_rolls_back_and_the_connection_is_usable(connection, witness, accounts):
    with pytest.raises(KeyError):
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": 1}), (ENTER, {"id": 1})])
            raise KeyError

    assert not await what_holds(witness, 1)
    assert await connection.execute("SELECT 1") == [(1,)]


async def test_a_constraint_checked_at_commit_is_not_committed(connection, witness):
    await connection.script("CREATE TABLE t (n int UNIQUE DEFERRABLE INITIALLY DEFERRED);")

    with pytest.raises(psycopg.errors.UniqueViolation):
        await connection.commit([("INSERT INTO t VALUES (1), (1)", ())])

    assert await witness.execute("TABLE t") == []
    assert await connection.execute("SELECT 1") == [(1,)]


async def test_a_swallowed_error_cannot_be_committed(connection, accounts, witness):
    with pytest.raises(AssertionError, match="a statement failed, and COMMIT was asked for"):
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": 1}), (ENTER, {"id": 1})])
            with pytest.raises(psycopg.errors.DivisionByZero):
                await tx.run([("SELECT 1/0", ())])

    assert not await what_holds(witness, 1)
    assert await connection.execute("SELECT 1") == [(1,)]


async def test_a_last_statement_that_fails_takes_the_commit_with_it(connection, witness, accounts):
    with pytest.raises(psycopg.errors.DivisionByZero):
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": 1}), (ENTER, {"id": 1})])
            await tx.commit([("SELECT 1/0", ())])

    assert not await what_holds(witness, 1)
    assert await connection.execute("SELECT 1") == [(1,)]


async def test_rows_that_cannot_be_read_do_not_make_a_commit_doubtful(
    connection, witness, accounts
):
    async with connection.transaction() as tx:
        await tx.run([(ADD, {"id": 1}), (ENTER, {"id": 1})])

        assert await tx.commit([("SELECT 'infinity'::timestamptz", ())]) is None

    assert await what_holds(witness, 1)


@pytest.mark.parametrize("transfer", TRANSFERS)
async def test_the_trips_of_a_transaction(transfer, connection, accounts):
    await transfer(connection, next(ACCOUNTS))  # prepares
    trips = 0

    class Counting(trio.abc.Instrument):
        def before_io_wait(self, timeout):
            nonlocal trips
            trips += timeout > 0

    counting = Counting()
    trio.lowlevel.add_instrument(counting)
    await transfer(connection, next(ACCOUNTS))
    trio.lowlevel.remove_instrument(counting)

    assert trips <= {one_at_a_time: 3}.get(transfer, 2)


async def test_settling_is_bounded(database, no_leaks, witness, network, accounts):
    hurried = Timeouts(settle_seconds=0.2)
    connection = await DatabaseConnection.open(network.conninfo, timeouts=hurried)

    with trio.fail_after(Timeouts().settle_seconds / 2), pytest.raises(OutcomeUnknown):
        async with connection.transaction() as tx:
            await tx.run([(ADD, {"id": 1})])
            network.cut_after(to_client=0)
            network.refusing = True
