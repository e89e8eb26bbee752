"""Whether the disk of the database has room, once some was missing. tests/adapters/chats has a disk
that is really full.
"""

import trio

from adapters.postgres.database import DiskRoomCheck
from adapters.postgres.driver.faults import DatabaseFull


async def test_many_who_ask_at_once_take_one_connection(pool):
    """Anybody may ask `/readyz`, and as often as they like."""
    pool.full = DatabaseFull("no space left")
    check, answers = DiskRoomCheck(pool), []

    async def ask():
        answers.append(await check.missing())

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(ask)

    assert [None] * 20 == answers
    assert 1 == pool.statistics().opened
    assert pool.full is None


async def test_nothing_is_asked_while_no_room_was_missing(pool):
    assert await DiskRoomCheck(pool).missing() is None
    assert 0 == pool.statistics().opened


async def test_a_database_that_is_away_does_not_count_as_one_with_room(pool, network, monkeypatch):
    monkeypatch.setattr("adapters.postgres.database.ANSWER_SECONDS", 0.1)
    pool.full = DatabaseFull("no space left")
    network.hold()

    why = await DiskRoomCheck(pool).missing()

    assert why == "the disk of the database was full, and cannot be asked now: no space left"
