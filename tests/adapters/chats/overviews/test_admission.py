"""Who gets at a chat, and that nobody else learns that there is one."""

from uuid import UUID

import pytest

from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.overviews.ground import a_ground
from tests.adapters.chats.routes.ground import ADA

ID = str(UUID(int=7))


@pytest.mark.parametrize(
    ("shared_with", "who", "status"),
    [
        ("nobody", ANN, 200),
        ("nobody", BOB, 404),
        ("nobody", ADA, 200),
        ("bob", BOB, 200),
        ("everybody", BOB, 200),
    ],
)
async def test_a_chat_is_read_by_its_owner_its_readers_and_admins(ground, shared_with, who, status):
    root = await ground.a_chat()
    child = await ground.a_chat(parent=root)
    await ground.share(root, *[BOB] * (shared_with == "bob"), everyone=shared_with == "everybody")

    assert [status, status] == [(await ground.get(chat, who)).status for chat in (root, child)]


async def test_what_is_shared_is_not_what_stands_beside_it(ground):
    shared, other = await ground.a_chat(), await ground.a_chat()
    await ground.share(shared, BOB)

    assert 404 == (await ground.get(other, BOB)).status


async def test_where_sharing_is_switched_off_nothing_is_shared(migrated):
    async with a_ground(migrated, sharing=False) as ground:
        chat = await ground.a_chat()
        await ground.share(chat, BOB, everyone=True)

        assert 404 == (await ground.get(chat, BOB)).status
        assert [] == await ground.titles("source:shared_with_me", who=BOB)
        assert [403, 403] == [
            (await ground.ask(ANN, method, f"/{chat}/acl", {})).status
            for method in ("GET", "PATCH")
        ]


@pytest.mark.parametrize("path", ["", "/cost", "/acl"])
async def test_a_stranger_hears_the_same_of_a_chat_and_of_none(ground, path):
    chat = await ground.a_chat()

    hidden = await ground.ask(BOB, "GET", f"/{chat}{path}")
    missing = await ground.ask(BOB, "GET", f"/{ID}{path}")

    assert (404, hidden.body, hidden.headers) == (missing.status, missing.body, missing.headers)


async def test_what_is_no_id_is_refused_as_such(ground):
    answer = await ground.get("not-an-id")

    assert (400, ["chat"]) == (answer.status, [v["field"] for v in answer.said["validations"]])
