"""What a plain turn costs the database, from the POST to `waiting`, with somebody watching in the
same process. The server counts: its log has every statement, BEGIN and COMMIT too, and its
transaction ids every transaction that writes or notifies.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
import trio

from adapters.postgres.queries import SQL
from tests.adapters.api.edges import PATIENCE_SECONDS, an_edge, eventually
from tests.adapters.api.who_may import CHATS

pytestmark = pytest.mark.slow

STATEMENTS_MAX, WRITES_MAX = 12, 3  # of one turn; what only notifies writes nothing
TURNS = 20  # one after the other
OF_THE_PROCESS = ("beat", "leave", "sweep", "acquire", "held", "forget_calls")  # whatever it runs
TELL = "tell"
LOGGED = re.compile(r"LOG:  (?:execute [^:]+|statement): (.*)")
HELLO = {"content": [{"type": "text", "text": "[[text: good day]] hello"}]}


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

    def transactions(self):
        """Ids that were given so far."""
        [count] = self.connection.execute(
            "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
        ).fetchone()
        return count

    def begin(self):
        self.began = len(self.log.read_text(errors="replace"))
        return self.transactions()


@pytest.fixture
def counting(server, fresh):
    with psycopg.connect(server, autocommit=True) as connection:
        name = psycopg.conninfo.conninfo_to_dict(fresh)["dbname"]
        connection.execute(f"ALTER DATABASE {name} SET log_statement = 'all'")
        [data] = connection.execute("SHOW data_directory").fetchone()
        yield Server(connection, Path(data).parent / "postgres.log")


def is_any(line, names):
    firsts = (SQL[name].splitlines()[0].partition("%(")[0] for name in names)
    return any(line.startswith(first) for first in firsts)


async def test_a_plain_turn_is_a_few_statements_and_fewer_transactions(fresh, counting):
    async with an_edge(fresh) as edge:
        member = edge.member
        new = {**HELLO, "organization_id": edge.organization}
        chat = f"{CHATS}/{(await member.post(CHATS, new)).document['id']}"
        async with member.socket(f"{chat}/stream") as socket:
            await until_waiting(socket)
            await a_turn(member, chat, socket)  # caches are filled, statements prepared
            began = counting.begin()

            for _ in range(TURNS):
                await a_turn(member, chat, socket)

            await eventually(lambda: all_told(counting))
            said = counting.said()
            notified = sum(is_any(line, [TELL]) for line in said)
            writes = counting.transactions() - began - notified

    assert len(said) / TURNS <= STATEMENTS_MAX, Counter(said)
    assert writes / TURNS <= WRITES_MAX


async def a_turn(member, chat, socket):
    assert 200 == (await member.post(f"{chat}/messages", HELLO)).status
    await until_waiting(socket)


async def until_waiting(socket):
    with trio.fail_after(PATIENCE_SECONDS):
        while not any(
            event["type"] == "status" and event["status"]["status"] == "waiting"
            for event in json.loads(await socket.get_message())
        ):
            pass


async def all_told(counting):
    return sum(is_any(line, [TELL]) for line in counting.said()) >= 2 * TURNS
