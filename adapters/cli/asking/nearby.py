"""Who listens at a port of this machine, before a secret is told to whoever answers there.

Any user may listen where the daemon does while it is away. The system knows whose a socket is; one
that does not say so (no /proc) is believed.
"""

from collections.abc import Iterator
from pathlib import Path

NEAR = ("127.0.0.1", "::1", "localhost")  # this machine; no proxy stands before these
TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENING = "0A"  # https://docs.kernel.org/networking/proc_net_tcp.html
ADDRESS, STATE, UID = 1, 3, 7  # columns


def listening_uids(port: int) -> set[int]:
    """The users who listen at this port, at whichever address."""
    return {uid for table in TABLES for at, uid in _listeners(table) if at == port}


def _listeners(table: Path) -> Iterator[tuple[int, int]]:
    """(port, uid) of each."""
    try:
        _, *rows = table.read_text().splitlines()
    except (OSError, ValueError):
        return
    for row in rows:
        cells = row.split()
        if cells[STATE] == LISTENING:
            yield int(cells[ADDRESS].rpartition(":")[2], 16), int(cells[UID])
