"""Settling a lost transaction when its id alone would lie: crashes, takeovers, long ago."""

import os
import signal
import tempfile
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
import trio

from adapters.postgres import embedded
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseGone, LostCommit, OutcomeUnknown
from adapters.postgres.queries import SQL
from tests.fakes.severed_network import severed_network


@pytest.mark.slow
@pytest.mark.parametrize("arrived", [False, True], ids=["before it arrives", "when it has arrived"])
async def test_the_server_crashes_while_commit_is_on_its_way(arrived):
    """A crash forgets ids whose work had not reached the disk, and gives them out again: what
    the server then says of such an id is true of a stranger."""
    async with a_server_of_its_own() as (conninfo, network):
        connection = await DatabaseConnection.open(network.conninfo)
        await connection.script("CREATE TABLE account (id int); CREATE TABLE strangers ();")

        reported = False
        async with trio.open_nursery() as nursery:
            nursery.start_soon(crash, conninfo, network)
            try:
                async with connection.transaction() as tx:
                    await tx.run([("INSERT INTO account VALUES (1)", ())])
                    network.hold_after(**({"to_client": 0} if arrived else {"to_server": 0}))
                reported = True
            except DatabaseGone as fault:
                assert str(fault).endswith(f"transaction {tx.xid} was not committed")

        witness = await DatabaseConnection.open(conninfo)
        assert [(1 if reported else 0,)] == await witness.execute("SELECT count(*) FROM account")
        assert await witness.execute("SELECT pg_xact_status(%s::xid8)", (tx.xid,)) == [
            ("committed",)
        ]
        assert arrived == reported
        witness.close()


@asynccontextmanager
async def a_server_of_its_own():
    with tempfile.TemporaryDirectory(prefix="promptcorner-crash-") as top:
        os.chmod(top, 0o711)
        lazy = {"fsync": "off", "wal_writer_delay": "10s"}  # only COMMIT brings work to the disk
        wanted = embedded.ClusterOptions(Path(top) / "home", settings=lazy)
        async with embedded.use(wanted) as cluster, severed_network(cluster.conninfo) as network:
            yield cluster.conninfo, network


async def crash(conninfo, network):
    """Kill the server when COMMIT is held; when it is back, let strangers commit; then let go."""
    await network.struck.wait()
    victim, bystander = [await DatabaseConnection.open(conninfo) for _ in range(2)]
    os.kill(victim.backend, signal.SIGKILL)
    with pytest.raises(DatabaseGone):  # the server has noticed, and cuts all
        await bystander.execute("SELECT pg_sleep(600)")
    victim.close()
    stranger = await reopen(conninfo)
    for _ in range(20):
        await stranger.commit([("INSERT INTO strangers DEFAULT VALUES", ())])
    stranger.close()
    network.release()


async def reopen(conninfo):
    for _ in range(300):
        with suppress(DatabaseGone):
            return await DatabaseConnection.open(conninfo)
        await trio.sleep(0.1)
    raise AssertionError("the server did not come back")


async def test_an_id_the_server_never_gave_was_not_committed(witness, connection):
    [(era,)] = await witness.execute(SQL["ask_era"])

    assert not await witness.settle(LostCommit(2**40 + 10_000, connection.backend, era))


async def test_an_id_of_long_ago_is_not_guessed_at(witness, connection):
    [(era,)] = await witness.execute(SQL["ask_era"])

    with pytest.raises(OutcomeUnknown, match="too long ago for the server to remember"):
        await witness.settle(LostCommit(100, connection.backend, era))


async def test_after_a_takeover_a_committed_id_is_not_taken_for_ours(witness):
    await witness.execute("CREATE TABLE t ()")
    [(era, xid)] = await witness.execute(
        f"SELECT ({SQL['ask_era']}), pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1"
    )
    elsewhere = LostCommit(xid, 1, era[:-8] + "0000000F")

    with pytest.raises(OutcomeUnknown, match="another server has taken over"):
        await witness.settle(elsewhere)
