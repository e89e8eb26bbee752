"""Migrations: taken once, wholly, by one process; a schema that is not ours is left alone."""

from dataclasses import replace

import pytest
import trio
from psycopg.errors import SyntaxError as SqlSyntaxError
from psycopg.errors import UndefinedObject

from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.migrating import Migration, SchemaFault, known, migrate, pending
from tests.patience import PATIENCE_SECONDS

STEPS = known()
COUNT = len(STEPS)


@pytest.fixture
async def look(database):
    """Asks the database, from outside."""
    connection = await DatabaseConnection.open(database)
    yield connection.execute
    connection.close()


async def test_an_empty_database_gets_the_whole_schema(database, look):
    taken = await migrate(database)

    assert STEPS == taken
    assert [(step.version, step.name, step.checksum) for step in STEPS] == await look(
        "SELECT version, name, checksum FROM schema_migrations ORDER BY version"
    )
    assert [(0,)] == await look("SELECT count(*) FROM chats")


async def test_a_database_that_is_up_to_date_is_left_alone(database, look):
    await migrate(database)
    before = await look("SELECT * FROM schema_migrations")

    assert () == await migrate(database)
    assert before == await look("SELECT * FROM schema_migrations")


def test_a_program_that_runs_does_not_learn_steps_from_files_that_are_laid_beside_it():
    assert known() is STEPS


async def test_processes_that_start_together_take_each_step_once(database, look):
    taken = []

    async def start():
        taken.append(await migrate(database))

    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(start)

    assert [(), (), (), STEPS] == sorted(taken)
    assert [(COUNT,)] == await look("SELECT count(*) FROM schema_migrations")


async def test_a_step_that_fails_leaves_nothing_behind(database, look):
    broken = Migration(COUNT + 1, "broken", "CREATE TABLE half (n int); SELECT nonsense from;")
    await migrate(database)

    with pytest.raises(SqlSyntaxError):
        await migrate(database, (*STEPS, broken))

    assert [(False, COUNT)] == await look(
        "SELECT to_regclass('half') IS NOT NULL, (SELECT max(version) FROM schema_migrations)"
    )


async def test_a_step_that_failed_is_taken_when_it_is_mended(database, look):
    step = Migration(COUNT + 1, "more", "CREATE TABLE more (n int)")
    broken = replace(step, sql="CREATE TABLE more (n no_type)")
    with pytest.raises(UndefinedObject):
        await migrate(database, (*STEPS, broken))

    assert (step,) == await migrate(database, (*STEPS, step))
    assert [(True,)] == await look("SELECT to_regclass('more') IS NOT NULL")


async def test_a_cancelled_migration_leaves_nothing_half_done(database, look):
    slow = Migration(COUNT + 1, "slow", "CREATE TABLE slow (n int); SELECT pg_sleep(30);")

    async def sleeps():
        return await look(
            "SELECT FROM pg_stat_activity"
            " WHERE wait_event = 'PgSleep' AND datname = current_database()"
        )

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(migrate, database, (*STEPS, slow))
            while not await sleeps():
                await trio.sleep(0.002)
            nursery.cancel_scope.cancel()

    assert [(False,)] == await look("SELECT to_regclass('slow') IS NOT NULL")
    assert () == await migrate(database)


async def test_an_older_program_refuses_a_newer_schema(database):
    newer = Migration(COUNT + 1, "later", "CREATE TABLE later (n int)")
    await migrate(database, (*STEPS, newer))

    with pytest.raises(SchemaFault) as caught:
        await migrate(database)

    assert str(caught.value) == (
        f"database: schema is at step {COUNT + 1}, this program knows {COUNT};"
        " start a newer version of promptcorner, or restore a backup made by this one"
    )


async def test_a_step_that_was_taken_with_other_content_is_refused(database):
    await migrate(database)
    altered = replace(STEPS[0], sql=STEPS[0].sql + "\n-- a word more")

    with pytest.raises(SchemaFault) as caught:
        await migrate(database, (altered, *STEPS[1:]))

    assert str(caught.value) == (
        f"database: step 1 was {STEPS[0]}, here it is {STEPS[0]} with other content;"
        " this database was made by another build of promptcorner"
    )


async def test_who_only_asks_what_is_missing_changes_nothing(database, look):
    connection = await DatabaseConnection.open(database)
    try:
        assert STEPS == await pending(connection)
    finally:
        connection.close()

    assert [(False,)] == await look("SELECT to_regclass('schema_migrations') IS NOT NULL")


def test_the_steps_are_numbered_without_gaps_and_say_what_they_do():
    assert list(range(1, COUNT + 1)) == [step.version for step in STEPS]
    assert all(step.sql.startswith("-- ") for step in STEPS)
    assert len({step.checksum for step in STEPS}) == COUNT
