"""What became of a COMMIT whose answer was lost.

A transaction that wrote has an id (xid), and the server remembers for every xid whether it was
committed. So whoever knows its xid *before* sending COMMIT can always find out afterwards. Knowing
it costs no trip: it rides along with the statements (connection.py).
"""

import trio
from psycopg.errors import InvalidParameterValue

from adapters.postgres.faults import DatabaseFault, OutcomeUnknown
from adapters.postgres.link import Link
from adapters.postgres.timeouts import Timeouts
from adapters.postgres.values import Statement

XID: Statement = ("SELECT pg_current_xact_id_if_assigned()", ())

# Between two attempts to ask.
AGAIN_SECONDS = 0.1

_STATUS = "SELECT pg_xact_status(%(xid)s::xid8)"
# Its backend still waits for a COMMIT that is lost, or has yet to find out that we are gone.
_STOP = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE pid = %(backend)s AND backend_xid = %(xid)s::xid8::xid"
)


async def settle(conninfo: str, timeouts: Timeouts, *, xid: int, backend: int) -> bool:
    """Whether transaction `xid` of `backend` was committed; if it still runs, it is ended first.

    Not cancelled, but bounded: OutcomeUnknown after `settle_seconds` without an answer.
    """
    with trio.move_on_after(timeouts.settle_seconds, shield=True):
        while True:
            try:
                link = await Link.open(conninfo, timeouts)
                try:
                    return await committed(link, xid=xid, backend=backend)
                finally:
                    link.close()
            except DatabaseFault:
                await trio.sleep(AGAIN_SECONDS)
    raise OutcomeUnknown(
        f"postgres/{backend}: transaction {xid} was being committed, and in"
        f" {timeouts.settle_seconds:g} s nobody could be asked what became of it;"
        f" SELECT pg_xact_status('{xid}') tells, once the server is back",
        xid=xid,
    )


async def committed(link: Link, *, xid: int, backend: int) -> bool:
    """Ask over `link`, which is another one than the transaction's, or idle."""
    seconds = link.timeouts.exchange_seconds
    while True:
        try:
            [[(status,)]] = await link.exchange([(_STATUS, {"xid": xid})], seconds)
        except InvalidParameterValue:
            return False  # an id in the future: the server crashed, and lost it with the work
        if status != "in progress":
            assert status is not None, f"transaction {xid} is too old for the server to remember"
            return bool(status == "committed")
        await link.exchange([(_STOP, {"xid": xid, "backend": backend})], seconds)
        await trio.sleep(AGAIN_SECONDS)
