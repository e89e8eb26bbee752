"""The disk of the database is full: clients are told that nothing was stored, administrators why,
and what a model has said meanwhile is stored when there is room again.
"""

import json
import random

import pytest
import trio

from adapters.cli.doctor.database import check_database_room
from adapters.postgres.database import DiskRoomCheck
from adapters.postgres.driver.connection import DatabaseConnection
from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import PATIENCE_SECONDS, an_edge, eventually
from tests.fakes.full_disk import a_small_disk

pytestmark = pytest.mark.slow


def incompressible(characters):
    return random.Random(1).randbytes(characters // 2).hex()


ANSWER = incompressible(100_000)
SLOWLY = f"[[text: {ANSWER}]] [[delta-chars: 4096]] [[delta-ms: 40]] hello"


@pytest.fixture
def disk(server):
    with a_small_disk(server) as disk:
        yield disk


async def test_a_full_disk_is_named_and_no_work_is_lost(disk):
    async with an_edge(disk.conninfo) as edge:
        member, pool = edge.member, edge.pool
        new = {**saying(SLOWLY), "organization_id": edge.organization}
        chat = f"{CHATS}/{(await member.post(CHATS, new)).document['id']}"
        async with member.socket(f"{chat}/stream") as socket:
            await until(socket, "message_part")

            disk.fill()
            refused = await member.post(CHATS, {**new, **saying(incompressible(200_000))})
            why = await DiskRoomCheck(pool).missing()
            await eventually(lambda: has_tried_to_store(pool))
            status = (await member.get(chat)).document["status"]

            disk.make_room()
            await until(socket, "status", status="waiting")
            why_not = await DiskRoomCheck(pool).missing()

        messages = (await member.get(f"{chat}/messages")).document["messages"]

    assert (503, "This cannot be stored now.") == (refused.status, refused.document["message"])
    assert refused.headers["retry-after"]
    assert "it was not stored" in refused.document["detail"]
    assert why.startswith("the disk of the database is full: ")
    assert "No space left on device" in why
    assert ("running", None) == (status, why_not)
    assert ANSWER in {part["text"] for m in messages for part in m["content"]}


def saying(text):
    return {"content": [{"type": "text", "text": text}]}


async def has_tried_to_store(pool):
    """Told of the last that found no room: the answer of the model, for nothing else is stored."""
    pool.full, seen = None, pool.full
    with trio.move_on_after(PATIENCE_SECONDS):
        while pool.full is None:
            await trio.sleep(0.01)
    return seen is not None and pool.full is not None


async def until(socket, kind, **more):
    def is_it(event):
        return event["type"] == kind and more.items() <= event.get(kind, {}).items()

    with trio.fail_after(PATIENCE_SECONDS):
        while not any(map(is_it, json.loads(await socket.get_message()))):
            pass


async def test_a_doctor_names_a_full_disk(disk):
    connection = await DatabaseConnection.open(disk.conninfo)
    try:
        before = await check_database_room(connection)
        disk.fill()
        [found] = await check_database_room(connection)
    finally:
        connection.close()

    assert [] == before
    assert ("room", "WRONG") == (found.subject, found.state.value)
    assert "No space left on device" in found.fact
