"""Calls of tools while the database is away for a moment: they wait for it."""

from contextlib import contextmanager

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict

AWAY = (
    "ALTER DATABASE {name} ALLOW_CONNECTIONS false",
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '{name}'",
)


@contextmanager
def away(server, store):
    """The database takes no connection, and has ended those it had, until the block ends."""
    name = conninfo_to_dict(store.conninfo)["dbname"]
    with psycopg.connect(server, autocommit=True) as connection:
        for statement in AWAY:
            connection.execute(statement.format(name=name))
        try:
            yield
        finally:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("execute", {"command": "echo here"}, {"output": "here\n"}),
        ("read_file", {"path": "note"}, {"content": "1\tnoted"}),
        ("list_templates", {}, {"page": 1}),
        ("stop_workspace", {}, {"stopped": True}),
    ],
)
@pytest.mark.parametrize("daemon", ["none"], indirect=True)
async def test_a_call_waits_for_a_database_that_is_away(
    daemon, chat, server, caplog, tool, arguments, told
):
    home = await daemon.home(chat)
    (home / "note").write_text("noted")
    if "path" in arguments:
        arguments = {"path": str(home / "note")}
    outcome = {}

    async def call():
        outcome.update(await daemon.call(chat, tool, **arguments))

    async with trio.open_nursery() as nursery:
        with away(server, daemon.store):
            nursery.start_soon(call)
            with trio.fail_after(30):
                while "store.unanswered" not in [record.message for record in caplog.records]:
                    assert not outcome, outcome
                    await trio.sleep(0.01)

    assert told.items() <= outcome.items()
