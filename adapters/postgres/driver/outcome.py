"""The outcome of a COMMIT whose answer was lost.

A transaction that wrote has an id (xid), and the server remembers for every id whether it was
committed. So a client that knows it *before* sending COMMIT can find out afterwards. Knowing it
costs no trip: it rides along with the statements (connection.py).

There is one trap: a server that crashes forgets the ids whose work had not reached the disk, and
gives them out again. Then `pg_xact_status` tells the fate of another transaction. So a connection
also knows the *era* it was opened in, and after a change of era an id counts only if the checkpoint
that ended the crash had already seen it.
"""

import trio
from psycopg.errors import InvalidParameterValue

from adapters.postgres.driver.faults import DatabaseFault, DatabaseGone, LostCommit, OutcomeUnknown
from adapters.postgres.driver.libpq import LibpqConnection
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.queries import SQL

# Between two attempts to ask.
AGAIN_SECONDS = 0.1


async def era_of(libpq: LibpqConnection) -> str:
    """Return which life of which server this is."""
    [[(era,)]] = await libpq.exchange([(SQL["ask_era"], ())], libpq.timeouts.connect_seconds)
    assert isinstance(era, str)
    return era


async def settle(conninfo: str, timeouts: Timeouts, lost: LostCommit) -> bool:
    """Return whether `lost` was committed. If it still runs, it is ended first.

    It is not cancelled, but bounded: OutcomeUnknown after `settle_seconds` without an answer.
    """
    with trio.move_on_after(timeouts.settle_seconds, shield=True):
        while True:
            try:
                libpq = await LibpqConnection.open(conninfo, timeouts)
                try:
                    return await committed(libpq, lost)
                finally:
                    libpq.close()
            except OutcomeUnknown:
                raise
            except DatabaseFault:
                await trio.sleep(AGAIN_SECONDS)
    raise OutcomeUnknown(
        f"{lost}: being committed, and in {timeouts.settle_seconds:g} s nobody could be asked what"
        " became of it; settle it when the server is back",
        lost,
    )


async def committed(libpq: LibpqConnection, lost: LostCommit) -> bool:
    """Return whether `lost` was committed, asking over `libpq`, which is another connection."""
    look_around = [(SQL["look_around"], ())]
    ask_outcome = [(SQL["ask_outcome"], {"xid": lost.xid})]
    end_backend = [(SQL["end_backend"], {"xid": lost.xid, "backend": lost.backend})]
    seconds = libpq.timeouts.exchange_seconds
    while True:
        [[(standby, era, next_xid)]] = await libpq.exchange(look_around, seconds)
        if standby:
            raise DatabaseGone(f"{libpq}: a standby, which may lag behind")
        try:
            [[(status,)]] = await libpq.exchange(ask_outcome, seconds)
        except InvalidParameterValue:
            return False  # an id in the future: forgotten in a crash, and not yet given out again
        if era != lost.era:
            return status == "committed" and _is_the_same(lost, era, next_xid)
        if status is None:
            raise OutcomeUnknown(f"{lost}: too long ago for the server to remember", lost)
        if status != "in progress":
            return bool(status == "committed")
        await libpq.exchange(end_backend, seconds)
        await trio.sleep(AGAIN_SECONDS)


def _is_the_same(lost: LostCommit, era: str, next_xid: int) -> bool:
    """Return whether the id that was committed before or after a crash is the lost one."""
    if _timeline(era) != _timeline(lost.era):
        raise OutcomeUnknown(
            f"{lost}: another server has taken over, and cannot tell it from one of its own", lost
        )
    return lost.xid < next_xid  # else it was given out again after the crash


def _timeline(era: str) -> str:
    return era.rpartition(" ")[2]
