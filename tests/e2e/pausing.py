"""Moments at which a daemon is held up by its database: it writes something, and the server waits.

async with a_pause(conninfo, MOMENTS["the agent is made"]) as pause:
    await pause.reached()       somebody is about to write it
    pause.release()             and goes on
    pause.lose()                and never will: the server forgets whoever asked

A moment is (table, when, what of the row). A pause is a trigger that takes a lock which the test
holds; once it has been given up nobody is held up any more.
"""

from contextlib import asynccontextmanager

import psycopg
import trio

from tests.e2e.processes import EVENTUALLY_SECONDS, POLL_SECONDS

LOCK = 7_777

MOMENTS = {
    "the spawn begins": ("tool_calls", "INSERT", "NEW.name = 'spawn_agent'"),
    "the agent is made": ("chats", "INSERT", "NEW.parent_id IS NOT NULL"),
    "the spawn has ended": (
        "tool_calls",
        "UPDATE",
        "NEW.name = 'spawn_agent' AND OLD.output IS NULL AND NEW.output IS NOT NULL",
    ),
    "the spawn is committed": (
        "messages",
        "INSERT",
        "NEW.role = 'tool' AND NEW.content::text LIKE '%spawn_agent%'",
    ),
    "the wait begins": ("tool_calls", "INSERT", "NEW.name = 'wait_agent'"),
    "the agent settles": (
        "chats",
        "UPDATE",
        "NEW.parent_id IS NOT NULL AND OLD.status = 'running' AND NEW.status = 'waiting'",
    ),
    "the wait has ended": (
        "tool_calls",
        "UPDATE",
        "NEW.name = 'wait_agent' AND OLD.output IS NULL AND NEW.output IS NOT NULL",
    ),
    "the report is committed": (
        "messages",
        "INSERT",
        "NEW.role = 'tool' AND NEW.content::text LIKE '%wait_agent%'",
    ),
    "the parent is done": (
        "chats",
        "UPDATE",
        "NEW.parent_id IS NULL AND OLD.status = 'running' AND NEW.status = 'waiting'",
    ),
}

PLANT = """
    CREATE OR REPLACE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock_shared({lock});
        RETURN NEW;
    END $$;
    CREATE TRIGGER held_up BEFORE {verb} ON {table}
       FOR EACH ROW WHEN ({what}) EXECUTE FUNCTION hold_up()
"""
BLOCKED = "SELECT pid FROM pg_locks WHERE NOT granted"
WAITING = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND NOT granted"


class Pause:
    def __init__(self, connection):
        self._connection = connection

    async def reached(self):
        with trio.fail_after(EVENTUALLY_SECONDS):
            while not self._held_up():
                await trio.sleep(POLL_SECONDS)

    async def meanwhile(self, deed, *how):
        """Let this be done now, as far as it comes; what it waits for goes on then."""
        done = trio.Event()

        async def do():
            await deed(*how)
            done.set()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(do)
            with trio.fail_after(EVENTUALLY_SECONDS):
                while not (done.is_set() or len(self._connection.execute(BLOCKED).fetchall()) > 1):
                    await trio.sleep(POLL_SECONDS)
            self.release()

    def release(self):
        self._connection.execute("SELECT pg_advisory_unlock_all()")

    def lose(self):
        for (pid,) in self._held_up():
            self._connection.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
        self.release()

    def _held_up(self):
        return self._connection.execute(WAITING, (LOCK,)).fetchall()


@asynccontextmanager
async def a_pause(conninfo, moment):
    table, verb, what = moment
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
        connection.execute(PLANT.format(lock=LOCK, verb=verb, table=table, what=what))
        try:
            yield Pause(connection)
        finally:
            connection.execute("SELECT pg_advisory_unlock_all()")
            connection.execute(f"DROP TRIGGER held_up ON {table}")
