"""What a database is asked, counted by the server: its log has every statement, BEGIN and COMMIT
too, and its transaction ids every transaction that writes or notifies.
"""

import re
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from adapters.postgres.queries import SQL
from tests.patience import PATIENCE_SECONDS

OF_THE_PROCESS = ("beat", "leave", "sweep", "acquire", "held", "forget_calls")  # whatever it runs
TELL = "tell"
LOOK = "linked_files"  # which nothing but a look at a chat asks for
LOGGED = re.compile(r"LOG:  (?:execute [^:]+|statement): (.*)")


@dataclass
class Server:
    """As its superuser sees it, on a connection on which nothing is logged."""

    connection: psycopg.Connection
    log: Path
    began: int = 0

    def said(self):
        """The first lines of what was executed since it `began`, without what is not of a turn."""
        lines = LOGGED.findall(self.log.read_text(errors="replace")[self.began :])
        return [line for line in lines if not is_any(line, OF_THE_PROCESS)]

    def count(self, name):
        """How often this statement was executed since it `began`."""
        return sum(is_any(line, [name]) for line in self.said())

    def transactions(self):
        """Ids that were given so far."""
        [count] = self.connection.execute(
            "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        ).fetchone()
        return count

    def begin(self):
        self.began = len(self.log.read_text(errors="replace"))
        return self.transactions()


@contextmanager
def without_vacuum(connection):
    """Nothing is vacuumed or analyzed by itself, in any database of the server."""
    connection.execute("ALTER SYSTEM SET autovacuum = off")
    connection.execute("SELECT pg_reload_conf()")
    try:
        cleaners = "SELECT FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%'"
        deadline = time.monotonic() + PATIENCE_SECONDS
        while connection.execute(cleaners).fetchone() is not None:
            assert time.monotonic() < deadline, "the server goes on cleaning up"
            time.sleep(0.01)
        yield
    finally:
        connection.execute("ALTER SYSTEM RESET autovacuum")
        connection.execute("SELECT pg_reload_conf()")


def is_any(line, names):
    firsts = (SQL[name].splitlines()[0].partition("%(")[0] for name in names)
    return any(line.startswith(first) for first in firsts)
