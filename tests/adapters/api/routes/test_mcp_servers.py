"""Servers of tools as clients set them up and log in there: the whole edge, a real database."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
import trio

from actors.ids import ChatId
from actors.machine.chat import UserMessage
from actors.machine.requests import CreateChat, NewChat
from actors.parts.model import TextPart
from actors.store.answers import Applied
from adapters.mcp.oauth.tokens import Token
from adapters.mcp.opening import open_mcp
from tests.actors.machine.chats import State, a_chat
from tests.adapters.api.edges import eventually
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import USUAL, Raw, a_server

pytestmark = pytest.mark.slow
SECRETS = ("s3cret-key", "s3cret-header", "s3cret-client", "access-1", "refresh-1")


@pytest.fixture
def servers(edge):
    return f"/api/experimental/organizations/{edge.organization}/mcp-servers"


def new(slug="one", **more):
    return {
        "display_name": (slug or "one").title(),
        "slug": slug,
        "transport": "streamable_http",
        "url": "http://127.0.0.1:1/mcp?k=1",
        "auth_type": "none",
        "availability": "default_off",
        **more,
    }


async def made(edge, servers, **more):
    answer = await edge.admin.post(servers, new(**more))
    assert 201 == answer.status, answer.body
    return answer.document


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
        ({"auth_type": "oauth2", "oauth2_client_id": "we"}, 400, "oauth2_auth_url"),
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


# logging in


def oauth(auth, **more):
    return {
        "auth_type": "oauth2",
        "oauth2_client_id": "we",
        "oauth2_auth_url": f"{auth.url}/authorize?tenant=7",
        "oauth2_token_url": f"{auth.url}/token",
        "oauth2_revocation_url": f"{auth.url}/revoke",
        "oauth2_scopes": "read write",
        **more,
    }


async def logs_in(edge, servers, auth, server, **twisted):
    sent = await edge.member.get(f"{servers}/{server['id']}/oauth2/connect")
    assert 307 == sent.status, sent.body
    query = {k: v[0] for k, v in parse_qs(urlsplit(sent.headers["location"]).query).items()}
    auth.challenge = query["code_challenge"]
    cookies = [line.partition(";")[0] for line in sent.headers.get_list("set-cookie")]
    edge.member.client.cookies.clear()
    callback = urlsplit(query["redirect_uri"]).path
    state = twisted.get("state", query["state"])
    return query, await edge.member.get(
        f"{callback}?code=c0de&state={state}",
        headers={"cookie": twisted.get("cookies", "; ".join(cookies))},
    )


async def connected(edge, servers, server):
    return (await edge.member.get(f"{servers}/{server['id']}")).document["auth_connected"]


async def test_a_user_logs_in_is_connected_and_takes_it_back(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        assert not await connected(edge, servers, server)

        query, back = await logs_in(edge, servers, auth, server)

        assert (200, "S256", "7") == (back.status, query["code_challenge_method"], query["tenant"])
        assert server["id"] in back.body.decode()
        assert await connected(edge, servers, server)
        [form] = auth.of("/token")
        assert ("we", query["redirect_uri"]) == (form["client_id"], form["redirect_uri"])
        rows = await edge.execute("SELECT encode(sealed, 'escape') FROM mcp_tokens")
        assert not any(secret in str(rows) for secret in SECRETS)

        path = f"/api/experimental/mcp/servers/{server['id']}/oauth2/disconnect"
        assert {"token_revoked": True} == (await edge.member.delete(path)).document
        assert "refresh-1" == auth.of("/revoke")[0]["token"]
        assert not await connected(edge, servers, server)
        assert 404 == (await edge.member.delete(path)).status


@pytest.mark.parametrize("twisted", [{"state": "x"}, {"cookies": "a=b"}, {"cookies": ""}])
async def test_who_did_not_begin_a_login_does_not_end_it(edge, servers, twisted):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))

        _, back = await logs_in(edge, servers, auth, server, **twisted)

        assert 400 == back.status
        assert [] == auth.of("/token")


async def test_a_server_that_is_another_one_now_is_shown_nothing(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)

        await edge.admin.patch(f"{servers}/{server['id']}", {"display_name": "Other"})
        assert await connected(edge, servers, server)
        await edge.admin.patch(f"{servers}/{server['id']}", {"url": "http://other.example/"})

        assert not await connected(edge, servers, server)
        assert [] == await edge.execute("SELECT 1 FROM mcp_tokens")


async def test_a_server_that_changes_while_a_user_logs_in_gets_no_token(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))

        async def change():
            await edge.admin.patch(f"{servers}/{server['id']}", {"url": "http://other.example/"})

        auth.pause = change
        _, back = await logs_in(edge, servers, auth, server)

        assert 409 == back.status
        assert [] == await edge.execute("SELECT 1 FROM mcp_tokens")


async def held(edge, server):
    known = edge.chats.mcp.known
    found = (await known.servers()).values()
    return next(each for each in found if str(each.id) == server["id"])


async def token(edge, server) -> Token | None:
    return await edge.chats.mcp.reached.renewing.token(await held(edge, server), edge.member.id)


async def test_a_token_is_renewed_once_however_many_ask(edge, servers):
    async with an_auth_server() as auth:
        auth.lives_seconds = 5
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.lives_seconds = 3600
        shown = []

        async def ask():
            shown.append(await token(edge, server))

        async with trio.open_nursery() as together:
            for _ in range(5):
                together.start_soon(ask)

        assert {"access-2"} == {each.access_token for each in shown}
        assert ["refresh-1"] == [form.get("refresh_token") for form in auth.of("/token")[1:]]


async def test_a_renewal_that_nobody_waits_for_is_kept(edge, servers):
    async with an_auth_server() as auth:
        auth.lives_seconds = 5
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.lives_seconds, go_on = 3600, trio.Event()
        auth.pause = go_on.wait

        with trio.move_on_after(0.1):
            await token(edge, server)
        go_on.set()

        async def renewed():
            return (await token(edge, server)).access_token == "access-2"

        await eventually(renewed)
        assert 2 == len(auth.of("/token"))


@pytest.mark.parametrize(
    ("error", "shown", "still"),
    [("invalid_grant", None, False), ("temporarily_unavailable", "access-1", True)],
)
async def test_only_a_refusal_for_good_ends_a_connection(edge, servers, error, shown, still):
    async with an_auth_server() as auth:
        auth.lives_seconds = 5
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.answers["/token"] = Raw(f'{{"error": "{error}"}}'.encode(), 400)

        found = await token(edge, server)

        assert shown == (found and found.access_token)
        assert still is await connected(edge, servers, server)


async def test_a_revocation_that_leads_elsewhere_is_not_followed(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.answers["/revoke"] = Raw(b"", 307, {"location": "http://127.0.0.1:1/steal"})

        path = f"/api/experimental/mcp/servers/{server['id']}/oauth2/disconnect"
        said = (await edge.member.delete(path)).document

    assert not said["token_revoked"]
    assert "elsewhere" in said["token_revocation_error"]


async def test_a_client_with_a_secret_shows_it_in_the_header(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth, oauth2_client_secret=SECRETS[2]))
        await logs_in(edge, servers, auth, server)

        [(_, form, headers)] = [asked for asked in auth.asked if asked[0] == "/token"]

    assert headers["authorization"].startswith("Basic ")
    assert "client_id" not in form


# tokens that a server of tools does not take


def taking(*tokens):
    """Answers of a server that wants to see one of these; and the set of them."""
    taken = set(tokens)

    async def answer(asked):
        shown = asked["headers"].get("authorization", "").removeprefix("Bearer ")
        return USUAL.get(asked["method"]) if shown in taken else Raw(b"no", 401)

    return dict.fromkeys((*USUAL, "server/discover"), answer), taken


async def tools_of(edge, server):
    """What a turn of the member's finds there, why not, and the chat."""
    reached = edge.chats.mcp.reached
    chat = replace(a_chat(State.R0).chat, owner_id=edge.member.id)
    tools = await reached.tools(chat, await held(edge, server))
    return [tool.here for tool in tools], reached.faults.get(UUID(server["id"])), chat


async def test_a_token_that_is_not_taken_is_renewed_and_shown_in_its_stead(edge, servers):
    answers, _ = taking("access-2")
    async with an_auth_server() as auth, a_server(answers) as wire:
        server = await made(edge, servers, **{**oauth(auth), "url": wire.url})
        await logs_in(edge, servers, auth, server)

        found, fault, _ = await tools_of(edge, server)

        assert (["one__echo"], None) == (found, fault)
        assert 2 == len(auth.of("/token"))
        assert await connected(edge, servers, server)


async def test_who_is_given_nothing_that_is_taken_has_to_log_in_again(edge, servers):
    answers, _ = taking("another")
    async with an_auth_server() as auth, a_server(answers) as wire:
        server = await made(edge, servers, **{**oauth(auth), "url": wire.url})
        await logs_in(edge, servers, auth, server)

        found, fault, _ = await tools_of(edge, server)

        assert ([], "it answered 401") == (found, fault)
        assert not await connected(edge, servers, server)
        before = len(wire.asked)
        assert [] == (await tools_of(edge, server))[0]
        assert not any("authorization" in headers for _, _, headers in wire.asked[before:])
        assert 2 == len(auth.of("/token"))


async def test_a_token_that_is_revoked_in_mid_turn_costs_no_call(edge, servers):
    answers, taken = taking("access-1")
    async with an_auth_server() as auth, a_server(answers) as wire:
        server = await made(edge, servers, **{**oauth(auth), "url": wire.url})
        await logs_in(edge, servers, auth, server)
        found, _, chat = await tools_of(edge, server)
        taken.clear()
        taken.add("access-2")
        said = []

        async def call():
            one = await held(edge, server)
            said.append(await edge.chats.mcp.reached.call(chat, one, "echo", {}))

        async with trio.open_nursery() as together:
            for _ in range(3):
                together.start_soon(call)

        assert ["one__echo"] == found
        assert [USUAL["tools/call"]] * 3 == said
        assert 2 == len(auth.of("/token"))


async def test_two_processes_that_renew_at_once_both_show_what_one_has_got(edge, servers):
    async with an_auth_server() as auth:
        auth.lives_seconds = 5
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.lives_seconds, both, shown = 3600, trio.Event(), []

        async def meet():
            if len(auth.of("/token")) > 2:
                both.set()
            await both.wait()

        async def ask(mcp):
            one = (await mcp.known.servers())[UUID(server["id"])]
            shown.append(await mcp.reached.renewing.token(one, edge.member.id))

        auth.pause = meet
        store, vault = edge.chats.store, edge.chats.vault
        async with (
            open_mcp(store.pool, store.bus, vault=vault) as other,
            trio.open_nursery() as together,
        ):
            together.start_soon(ask, edge.chats.mcp)
            together.start_soon(ask, other)

        assert 3 == len(auth.of("/token"))
        assert "access-2" in {each.access_token for each in shown if each is not None}
        assert {"access-1", "access-2"} >= {each.access_token for each in shown if each}
        assert "access-2" == (await token(edge, server)).access_token
        assert await connected(edge, servers, server)
