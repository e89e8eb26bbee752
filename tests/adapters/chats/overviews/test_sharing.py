"""Sharing: who may read a chat besides its owner, shown and changed."""

from uuid import UUID

import pytest

from actors.law.store.hints import ReadersChanged
from tests.actors.law.chats import ANN, BOB
from tests.adapters.chats.routes.ground import ADA, ORGANIZATION

ID = str(UUID(int=7))
ME, OTHER, EVERYBODY = str(ANN), str(BOB), str(ORGANIZATION)


async def acl(ground, chat, who=ANN):
    return await ground.ask(who, "GET", f"/{chat}/acl")


async def change(ground, chat, who=ANN, **roles):
    return await ground.ask(who, "PATCH", f"/{chat}/acl", roles)


async def test_what_nobody_else_reads_has_no_readers(ground):
    chat = await ground.a_chat()

    answer = await acl(ground, chat)

    assert (200, {"users": [], "groups": []}) == (answer.status, answer.said)


async def test_readers_come_and_go_and_the_others_stay(ground):
    chat = await ground.a_chat()

    first = await change(ground, chat, user_roles={OTHER: "read", str(ADA): "read"})
    await change(ground, chat, group_roles={EVERYBODY: "read"})
    await change(ground, chat, user_roles={OTHER: "read", str(ADA): "", ID: ""})

    assert (204, b"") == (first.status, first.body)
    said = (await acl(ground, chat)).said
    assert [{"id": OTHER, "username": OTHER, "role": "read"}] == said["users"]
    [group] = said["groups"]
    assert {
        "id": EVERYBODY,
        "name": "Everyone",
        "display_name": "",
        "organization_id": EVERYBODY,
        "members": [],
        "total_member_count": 3,
        "avatar_url": "",
        "quota_allowance": 0,
        "source": "user",
        "organization_name": "corner",
        "organization_display_name": "corner",
        "role": "read",
    } == group


async def test_a_shared_chat_and_its_children_say_so(ground):
    root = await ground.a_chat()
    child = await ground.a_chat(parent=root)

    await change(ground, root, user_roles={OTHER: "read"})
    said = (await ground.get(child, BOB)).said
    await change(ground, root, user_roles={OTHER: ""})

    assert said["shared"]
    assert not (await ground.get(root)).said["shared"]
    assert 404 == (await ground.get(child, BOB)).status


async def test_each_reader_that_comes_or_goes_is_told_once_it_is_written(ground):
    chat = await ground.a_chat()
    await change(ground, chat, user_roles={OTHER: "read"}, group_roles={EVERYBODY: "read"})
    await change(ground, chat, user_roles={OTHER: ""})
    await change(ground, chat, user_roles={ID: "read"})  # there is no such user

    told = [hint for hint in ground.store.told if isinstance(hint, ReadersChanged)]
    assert [
        ReadersChanged(chat, ANN, BOB),
        ReadersChanged(chat, ANN, None),
        ReadersChanged(chat, ANN, BOB),
    ] == told


async def test_an_admin_may_share_what_is_not_his(ground):
    chat = await ground.a_chat()

    assert 204 == (await change(ground, chat, ADA, user_roles={OTHER: "read"})).status


async def test_who_only_reads_sees_who_else_does_and_cannot_change_it(ground):
    chat = await ground.a_chat()
    before = (await acl(ground, chat, BOB)).status
    await ground.share(chat, BOB)

    assert 403 == (await change(ground, chat, BOB, group_roles={EVERYBODY: "read"})).status
    assert (404, 200) == (before, (await acl(ground, chat, BOB)).status)
    assert [OTHER] == [user["id"] for user in (await acl(ground, chat, BOB)).said["users"]]


@pytest.mark.parametrize(
    "roles",
    [
        {"user_roles": {ME: "read"}},
        {"user_roles": {ME: ""}},
        {"user_roles": {ID: "read"}},
        {"user_roles": {"bob": "read"}},
        {"user_roles": {OTHER: "write"}},
        {"group_roles": {ID: "read"}},
        {"group_roles": {"all": ""}},
        {"user_roles": []},
    ],
)
async def test_what_cannot_be_is_refused_whole(ground, roles):
    chat = await ground.a_chat()
    if isinstance(roles.get("user_roles"), dict):
        roles = {**roles, "user_roles": {**roles["user_roles"], str(ADA): "read"}}

    answer = await change(ground, chat, **roles)

    assert 400 == answer.status
    assert [] == (await acl(ground, chat)).said["users"]


async def test_every_fault_is_told(ground):
    chat = await ground.a_chat()

    answer = await change(ground, chat, user_roles={"x": "read", OTHER: "write"})

    assert ["user_roles", "user_roles"] == [v["field"] for v in answer.said["validations"]]


async def test_a_child_is_shared_with_its_root(ground):
    root = await ground.a_chat()
    child = await ground.a_chat(parent=root)

    answers = [await acl(ground, child), await change(ground, child, user_roles={})]

    assert [400, 400] == [answer.status for answer in answers]
    assert all(str(root) in answer.said["detail"] for answer in answers)
