"""What a database is asked, counted by the server: its log has every statement, BEGIN and COMMIT
too, and its transaction ids every transaction that writes or notifies.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import psycopg

from adapters.postgres.queries import SQL

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


def is_any(line, names):
    firsts = (SQL[name].splitlines()[0].partition("%(")[0] for name in names)
    return any(line.startswith(first) for first in firsts)
