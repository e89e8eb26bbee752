"""Servers of tools as clients set them up and use them: the whole edge, a real database."""

from uuid import UUID, uuid4

import pytest

from actors.law.chat import UserMessage
from actors.law.ids import ChatId
from actors.law.parts.message import TextPart
from actors.law.requests import CreateChat, NewChat
from actors.law.store.ports import Applied
from adapters.tools.mcp.routes.schemas import UNUSABLE
from tests.adapters.edges import eventually
from tests.adapters.tools.mcp.routes.ground import SECRETS, made, new, tools_of
from tests.fakes.tool_server import Raw, a_server

pytestmark = pytest.mark.slow


async def test_admins_see_all_of_it_and_others_less_and_secrets_nobody(edge, servers):
    key = {"auth_type": "api_key", "api_key_header": "x-key", "api_key_value": SECRETS[0]}
    own = {"auth_type": "custom_headers", "custom_headers": {"x-a": SECRETS[1]}}
    await made(edge, servers, slug="keyed", **key)
    await made(edge, servers, slug="headed", **own)
    await made(edge, servers, slug="off", enabled=False)

    full = await edge.admin.get(servers)
    less = await edge.member.get(servers)

    assert ["headed", "keyed", "off"] == [each["slug"] for each in full.document]
    assert ["headed", "keyed"] == [each["slug"] for each in less.document]
    assert (True, "x-key") == (full.document[1]["has_api_key"], full.document[1]["api_key_header"])
    assert ("", "") == (less.document[1]["url"], less.document[1]["transport"])
    assert "api_key_header" not in less.document[1]
    assert full.document[0]["has_custom_headers"]
    rows = await edge.execute("SELECT config::text, encode(sealed, 'escape') FROM mcp_servers")
    for text in (full.body.decode(), less.body.decode(), str(rows)):
        assert not any(secret in text for secret in SECRETS)


@pytest.mark.parametrize(
    ("wrong", "status", "field"),
    [
        ({"slug": None}, 400, "slug"),
        ({"slug": "No Slug"}, 400, "slug"),
        ({"slug": "a__b"}, 400, "slug"),
        ({"url": "file:///etc/passwd"}, 400, "url"),
        ({"transport": "stdio"}, 400, "transport"),
        ({"auth_type": "magic"}, 400, "auth_type"),
        ({"availability": "often"}, 400, "availability"),
        ({"auth_type": "api_key"}, 400, "api_key_header"),
        ({"auth_type": "custom_headers"}, 400, "custom_headers"),
        ({"auth_type": "custom_headers", "custom_headers": {"a b": "c"}}, 400, "custom_headers"),
        ({"auth_type": "custom_headers", "custom_headers": {"a": "c\r\nd"}}, 400, "custom_headers"),
        ({"auth_type": "oauth2", "oauth2_client_id": "we"}, 400, "private network"),
        (
            {"auth_type": "oauth2", "oauth2_auth_url": "http://h/"},
            400,
            "oauth2_client_id, oauth2_t",
        ),
        ({"auth_type": "oauth2", "oauth2_token_url": "http://h/"}, 400, "oauth2_auth_url"),
        ({"auth_type": "oauth2"}, 400, "private network"),
        ({"auth_type": "user_oidc"}, 403, "identity token"),
        ({"slug": "taken"}, 409, "slug"),
    ],
)
async def test_what_is_wrong_is_refused_by_its_name(edge, servers, wrong, status, field):
    await made(edge, servers, slug="taken")

    answer = await edge.admin.post(servers, new(**wrong))

    assert status == answer.status, answer.body
    assert field in answer.body.decode()


async def test_another_kind_of_authorization_drops_what_belongs_to_the_former(edge, servers):
    key = {"auth_type": "api_key", "api_key_header": "x-key", "api_key_value": SECRETS[0]}
    server = await made(edge, servers, **key)
    path = f"{servers}/{server['id']}"

    assert (await edge.admin.patch(path, {"description": "d"})).document["has_api_key"]
    changed = (await edge.admin.patch(path, {"auth_type": "none"})).document

    assert not changed["has_api_key"]
    assert "api_key_header" not in changed
    assert 204 == (await edge.admin.delete(path)).status
    assert 404 == (await edge.admin.get(path)).status


async def test_of_another_organization_there_are_none(edge):
    there = f"/api/experimental/organizations/{uuid4()}/mcp-servers"

    assert 404 == (await edge.admin.get(there)).status
    assert 404 == (await edge.admin.post(there, new())).status


async def test_whose_chats_may_use_it_is_for_administrators_to_say(edge, servers):
    server = await made(edge, servers)
    path = f"{servers}/{server['id']}"
    [group] = (await edge.admin.get(f"{path}/acl")).document["groups"]
    roles = {
        "group_roles": {group["id"]: ""},
        "user_roles": {str(edge.member.id): "read"},
    }

    assert 204 == (await edge.admin.patch(f"{path}/acl", roles)).status

    assert 200 == (await edge.member.get(path)).status
    assert 404 == (await edge.stranger.get(path)).status
    assert [] == (await edge.stranger.get(servers)).document


@pytest.mark.parametrize(
    "wrong",
    [
        {"user_roles": {"nobody": "read"}},
        {"user_roles": {str(UUID(int=9)): "read"}},
        {"group_roles": {str(UUID(int=9)): "read"}},
        {"user_roles": {str(UUID(int=9)): "write"}},
    ],
)
async def test_who_is_not_there_cannot_be_let_use_it(edge, servers, wrong):
    path = f"{servers}/{(await made(edge, servers))['id']}/acl"

    refused = await edge.admin.patch(path, wrong)

    assert 400 == refused.status
    [validation] = refused.document["validations"]
    assert next(iter(wrong)) == validation["field"]


# chats


async def chat_of(edge, who, words="hello", **more):
    parts = [{"type": "text", "text": words}]
    asked = {"organization_id": edge.organization, "content": parts, **more}
    return await who.post("/api/experimental/chats", asked)


async def test_a_chat_is_told_to_use_what_is_there_and_has_what_is_forced(edge, servers):
    one = (await made(edge, servers))["id"]
    off = (await made(edge, servers, slug="off", enabled=False))["id"]
    forced = (await made(edge, servers, slug="forced", availability="force_on"))["id"]

    chat = (await chat_of(edge, edge.member, mcp_server_ids=[one, one])).document
    refused = await chat_of(edge, edge.member, mcp_server_ids=[one, off])
    send = f"/api/experimental/chats/{chat['id']}/messages"
    said = {"content": [{"type": "text", "text": "again"}]}

    assert [one, forced] == chat["mcp_server_ids"]
    assert (400, True) == (refused.status, off in refused.document["detail"])
    assert 400 == (await edge.member.post(send, {**said, "mcp_server_ids": [off]})).status
    await edge.admin.patch(f"{servers}/{one}", {"enabled": False})
    assert 200 == (await edge.member.post(send, {**said, "mcp_server_ids": [one]})).status


async def a_child(edge, parent, **columns):
    """As its parent spawns it."""
    parent, child = ChatId(UUID(parent)), ChatId(uuid4())
    new = NewChat(child, edge.member.id, parent_id=parent, root_id=parent, **columns)
    said = UserMessage((TextPart("look"),), edge.member.id)
    made = await edge.chats.store.ledger.create(CreateChat(new, (said.as_body(),)))
    assert isinstance(made, Applied)
    return str(child)


async def test_who_only_looks_for_a_chat_that_plans_has_what_that_may_use(edge, servers):
    one = (await made(edge, servers, slug="one"))["id"]
    two = (await made(edge, servers, slug="two", allow_in_plan_mode=True))["id"]
    spawns = '[[tool-calls: spawn_agent:{"type": "explore", "prompt": "look"}]] [[tool-rounds: 1]]'
    asked = {"plan_mode": "plan", "mcp_server_ids": [one, two]}

    chat = (await chat_of(edge, edge.member, spawns, **asked)).document["id"]

    async def children():
        found = await edge.member.get(f"/api/experimental/chats/{chat}")
        return found.document["children"]

    await eventually(children)
    [child] = await children()
    assert [two] == child["mcp_server_ids"]


@pytest.mark.parametrize(("mode", "is_kept"), [("explore", True), ("", False)])
async def test_who_only_looks_keeps_the_servers_that_he_was_spawned_with(
    edge, servers, mode, is_kept
):
    one, two = [(await made(edge, servers, slug=slug))["id"] for slug in ("one", "two")]
    parent = (await chat_of(edge, edge.member)).document["id"]
    child = await a_child(edge, parent, mode=mode, mcp_server_ids=(UUID(one),))
    path = f"/api/experimental/chats/{child}"
    asked = {"content": [{"type": "text", "text": "look"}], "mcp_server_ids": [two]}

    sent = await edge.member.post(f"{path}/messages", asked)

    assert 200 == sent.status, sent.body
    assert is_kept is ("warnings" in sent.document)
    now = (await edge.member.get(path)).document["mcp_server_ids"]
    assert [one if is_kept else two] == now


async def test_a_turn_asks_its_servers_and_says_which_could_not_be_used(edge, servers):
    async with a_server() as good, a_server({"tools/list": Raw(b"", 500)}) as bad:
        one = (await made(edge, servers, url=good.url))["id"]
        two = (await made(edge, servers, slug="two", url=bad.url))["id"]

        words = '[[tool-calls: one__echo:{"a":1}]] [[tool-rounds: 1]]'
        chat = (await chat_of(edge, edge.member, words, mcp_server_ids=[one, two])).document

        async def rests():
            found = await edge.member.get(f"/api/experimental/chats/{chat['id']}")
            return found.document["status"] == "waiting"

        await eventually(rests)
        assert (1, 1) == (good.methods().count("tools/list"), good.methods().count("tools/call"))
        assert 1 == bad.methods().count("tools/list")
        assert "fault" in (await edge.admin.get(f"{servers}/{two}")).document
        assert "fault" not in (await edge.admin.get(f"{servers}/{one}")).document
        said = (await edge.member.get(f"/api/experimental/chats/{chat['id']}/messages")).document
        parts = [part for row in said["messages"] for part in row["content"]]
        named = {
            part["type"]: part["mcp_server_config_id"] for part in parts if "tool_name" in part
        }
        assert {"tool-call": one, "tool-result": one} == named


async def test_others_learn_that_a_server_cannot_be_used_and_admins_why(edge, servers):
    one = await made(edge, servers, url="http://127.0.0.1:1/internal")
    await tools_of(edge, one)

    path = f"{servers}/{one['id']}"
    full, less = await edge.admin.get(path), await edge.member.get(path)

    assert "it cannot be reached" == full.document["fault"]
    assert UNUSABLE == less.document["fault"]


async def test_an_organization_may_be_called_by_its_name(edge):
    assert 200 == (await edge.member.get("/api/v2/organizations/default/mcp-servers")).status
