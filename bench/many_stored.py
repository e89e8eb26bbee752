"""Are the list, a search and the opening of a chat as quick with 100,000 chats as with 100?

On paper: a chat is opened by its key, and its last messages by an index that begins with the chat.
A page of the list is sorted from all roots of its user, by an index that begins with the user: what
others have does not matter, what a user has does. A search asks an index of words for the messages
that have them, of all users, and keeps the user's own. So both should be flat for a user among
others, and grow for one who has everything.

A user with 100 chats of 20 messages is asked alone, and again when 1,000 users have as many:
100,000 chats, two million messages. The database is filled by SQL. `one_user` is the other extreme,
a user who owns another 10,000 chats; it is not judged.
"""

import http.client
import os
import shutil
import statistics
import time
from urllib.parse import quote, urlsplit

import msgspec
import psycopg
import trio

from adapters.cli.bench.starting import a_daemon
from bench.fixtures import a_database
from bench.report import Target

QUESTION = "are the list, a search and the opening of a chat flat from 100 chats to 100,000?"
RATIO_MAX = 1.5
TARGETS = (
    Target("list_ratio", "a page of the list, 100,000 chats / 100", at_most=RATIO_MAX),
    Target("search_ratio", "a search for a rare word", at_most=RATIO_MAX),
    Target("common_search_ratio", "a search for a word of every chat", at_most=RATIO_MAX),
    Target("open_ratio", "a chat and its last messages", at_most=RATIO_MAX),
)
OWN, USERS, MESSAGES = 100, 1_000, 20
ONE_USER = 10_000
CHATS = "/api/experimental/chats"
TIMES, TIMES_SLOW = 40, 5  # each is asked; a slow one less often
SLOW_MS = 100.0
TOKEN = "a-token-of-the-bench-0123456789"
PLANS = "BENCH_PLANS"  # the variable that names a file for the plans of slow statements
FILL_CHATS = """
    INSERT INTO chats (id, owner_id, title, status, snapshot_version, history_version,
                       created_at, updated_at)
    SELECT gen_random_uuid(), o.id, 'chat ' || n, 'waiting', 2 * %(messages)s, 2 * %(messages)s,
           now() - n * interval '1 minute', now() - n * interval '1 minute'
      FROM generate_series(1, %(chats)s) n,
           unnest(%(owners)s::uuid[]) AS o(id)
"""
# Every chat has the word "harbour", one in a hundred "xylophone", the rest are words by number.
FILL_MESSAGES = """
    INSERT INTO messages (chat_id, role, content, visibility, revision, created_by, created_at)
    SELECT c.id, CASE WHEN n %% 2 = 1 THEN 'user' ELSE 'assistant' END,
           json_build_array(json_build_object('type', 'text', 'text',
               'the harbour at number ' || n || ' lies ' || (hashtext(c.id::text || n) %% 5000)
               || CASE WHEN c.title LIKE '%%00' THEN ' xylophone' ELSE ' quay' END)),
           'both', 2 * n, c.owner_id, c.created_at
      FROM chats c, generate_series(1, %(messages)s) n
     WHERE NOT EXISTS (SELECT FROM messages m WHERE m.chat_id = c.id)
     ORDER BY n, c.id
"""
FILL_WORDS = """
    INSERT INTO message_words (message_id, chat_id, words)
    SELECT m.id, m.chat_id, to_tsvector('simple', m.content -> 0 ->> 'text')
      FROM messages m
     WHERE NOT EXISTS (SELECT FROM message_words w WHERE w.message_id = m.id)
"""
FILL_NOTED = """
    INSERT INTO chat_words (chat_id, history_version)
    SELECT id, history_version FROM chats ON CONFLICT DO NOTHING
"""
FILL_USERS = """
    INSERT INTO users (id, username)
    SELECT gen_random_uuid(), 'bench-' || n FROM generate_series(1, %(users)s) n
    RETURNING id
"""


def fill(connection: psycopg.Connection, owners: list[object], chats: int) -> None:
    """Give each of these users so many chats, with everything that a daemon would have written."""
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")  # without its checks
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
        how = {"messages": MESSAGES, "chats": chats, "owners": owners}
        connection.execute("DROP INDEX message_words_words")
        for statement in (FILL_CHATS, FILL_MESSAGES, FILL_WORDS, FILL_NOTED):
            connection.execute(statement, how)
        connection.execute("CREATE INDEX message_words_words ON message_words USING gin (words)")
    connection.execute("VACUUM ANALYZE")


class Asker:
    """A client that asks one thing after the other."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        assert at.hostname is not None
        self._http = http.client.HTTPConnection(at.hostname, at.port, timeout=60)

    def get(self, path: str) -> dict[str, object]:
        self._http.request("GET", path, headers={"Coder-Session-Token": TOKEN})
        answer = self._http.getresponse()
        body = answer.read()
        assert answer.status == 200, body
        said: dict[str, object] = msgspec.json.decode(body)
        return said

    def milliseconds(self, *paths: str) -> float:
        """Return the median time that these take together."""
        found: list[float] = []
        while len(found) < (TIMES_SLOW if found and min(found) > SLOW_MS else TIMES):
            began = time.monotonic()
            for path in paths:
                self.get(path)
            found.append((time.monotonic() - began) * 1e3)
        return statistics.median(found)

    def measured(self, chat: str) -> dict[str, float]:
        search = f"{CHATS}?limit=25&q="
        return {
            "list": self.milliseconds(f"{CHATS}?limit=25"),
            "search": self.milliseconds(search + quote('search:"xylophone"')),
            "common_search": self.milliseconds(search + quote('search:"harbour"')),
            "open": self.milliseconds(f"{CHATS}/{chat}", f"{CHATS}/{chat}/messages?limit=50"),
        }


async def _measured() -> dict[str, float]:
    slow = {}
    if os.environ.get(PLANS):
        slow = {
            "session_preload_libraries": "auto_explain",
            "auto_explain.log_min_duration": "5ms",
            "auto_explain.log_analyze": "on",
        }
    async with a_database(**slow) as cluster:
        with (
            psycopg.connect(cluster.conninfo, autocommit=True) as connection,
            a_daemon(
                "promptcorner", "http://127.0.0.1:9/v1", TOKEN, {"DATABASE_URL": cluster.conninfo}
            ) as daemon,
        ):
            asker = Asker(daemon.url)
            me = str(asker.get("/api/v2/users/me")["id"])
            fill(connection, [me], OWN)
            one = connection.execute("SELECT id FROM chats ORDER BY created_at LIMIT 1").fetchone()
            assert one is not None
            found = {f"few_{name}_ms": ms for name, ms in asker.measured(str(one[0])).items()}
            others = connection.execute(FILL_USERS, {"users": USERS - 1}).fetchall()
            began = time.monotonic()
            fill(connection, [each for [each] in others], OWN)
            found["fill_seconds"] = time.monotonic() - began
            found |= {f"many_{name}_ms": ms for name, ms in asker.measured(str(one[0])).items()}
            fill(connection, [me], ONE_USER)
            found |= {f"one_user_{name}_ms": ms for name, ms in asker.measured(str(one[0])).items()}
            for name in ("list", "search", "common_search", "open"):
                found[f"{name}_ratio"] = found[f"many_{name}_ms"] / found[f"few_{name}_ms"]
        if path := os.environ.get(PLANS):
            shutil.copyfile(cluster.wanted.log, path)
    return found


def measure() -> dict[str, float]:
    return trio.run(_measured)
