"""A server misses scopes in a token: its user is asked to log in again, and keeps the tools."""

from dataclasses import replace
from uuid import UUID

import pytest

from adapters.tools.mcp.faults import ServerFault
from tests.adapters.tools.mcp.routes.ground import (
    connected,
    held,
    logs_in,
    made,
    oauth,
    token,
    tools_of,
)
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import USUAL, Raw, a_server

pytestmark = pytest.mark.slow


def missing(scopes, *enough, method="tools/call"):
    """Answers of a server that misses these scopes in every token but these."""

    async def answer(asked):
        if asked["headers"].get("authorization", "").removeprefix("Bearer ") in enough:
            return USUAL[method]
        challenge = f'Bearer error="insufficient_scope", scope="{scopes}"'
        return Raw(b"no", 403, {"www-authenticate": challenge})

    return {method: answer}


async def called(edge, server, chat):
    return await edge.chats.mcp.calls.call(chat, await held(edge, server), "echo", {})


async def test_a_user_is_asked_to_log_in_again_for_what_a_tool_needs_and_keeps_the_others(
    edge, servers
):
    async with an_auth_server() as auth, a_server(missing("write read", "access-2")) as wire:
        server = await made(
            edge, servers, **{**oauth(auth), "url": wire.url, "oauth2_scopes": "read"}
        )
        await logs_in(edge, servers, auth, server)
        _, _, chat = await tools_of(edge, server)

        with pytest.raises(ServerFault, match=r"they have to log in there again.*: write read$"):
            await called(edge, server, chat)

        assert not await connected(edge, servers, server)
        assert (["one__echo"], None) == (await tools_of(edge, server))[:2]
        with pytest.raises(ServerFault, match="log in there again"):
            await called(edge, server, chat)

        query, _ = await logs_in(edge, servers, auth, server)

        assert "read write" == query["scope"]
        assert await connected(edge, servers, server)
        assert USUAL["tools/call"] == await called(edge, server, chat)
        assert "read write" == (await token(edge, server)).scopes


async def test_tools_that_cannot_be_listed_ask_for_a_login_too(edge, servers):
    answers = missing("admin", "access-2", method="tools/list")
    async with an_auth_server() as auth, a_server(answers) as wire:
        server = await made(edge, servers, **{**oauth(auth), "url": wire.url})
        await logs_in(edge, servers, auth, server)

        found, fault, _ = await tools_of(edge, server)

        assert ([], True) == (found, fault.endswith("and allow it: admin"))
        assert not await connected(edge, servers, server)
        await logs_in(edge, servers, auth, server)
        assert (["one__echo"], None) == (await tools_of(edge, server))[:2]


async def test_a_server_that_is_never_content_asks_for_one_login_only(edge, servers):
    async with an_auth_server() as auth, a_server(missing("write")) as wire:
        server = await made(edge, servers, **{**oauth(auth), "url": wire.url})
        await logs_in(edge, servers, auth, server)
        _, _, chat = await tools_of(edge, server)

        with pytest.raises(ServerFault, match=r"^it answered 403$"):
            await called(edge, server, chat)

        assert await connected(edge, servers, server)
        assert 1 == wire.methods().count("tools/call")


async def test_what_a_server_misses_is_still_known_when_the_token_was_renewed(edge, servers):
    async with an_auth_server() as auth, a_server(missing("admin")) as wire:
        auth.lives_seconds = 5
        server = await made(edge, servers, **{**oauth(auth), "url": wire.url})
        await logs_in(edge, servers, auth, server)
        renewal, one = edge.chats.mcp.calls.renewal, await held(edge, server)

        asked = await renewal.ask_for_scopes(one, edge.member.id, shown="access-1", wanted="admin")
        renewed = await token(edge, server)

    assert ("ASKED", "access-2") == (asked.name, renewed.access_token)
    assert ("read write", "admin") == (renewed.scopes, renewed.wanted)
    assert not await connected(edge, servers, server)


async def test_a_note_of_scopes_does_not_undo_a_renewal_that_is_under_way(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
    stored, user, id = edge.chats.mcp.store, edge.member.id, UUID(server["id"])
    seen = (await stored.tokens(user))[id]

    assert await stored.note_scopes(user, id, seen=seen, sealed=b"noted")
    assert await stored.renew_token(user, id, seen=seen, sealed=b"new", expires_at=None)
    assert not await stored.note_scopes(user, id, seen=seen, sealed=b"noted")

    assert b"new" == bytes((await stored.tokens(user))[id].sealed)


async def test_a_token_that_was_replaced_meanwhile_is_shown_and_nobody_is_asked(edge, servers):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        renewal, one = edge.chats.mcp.calls.renewal, await held(edge, server)
        wanted = {"shown": "an-older-one", "wanted": "admin"}

        assert "ANOTHER_TOKEN" == (await renewal.ask_for_scopes(one, edge.member.id, **wanted)).name
        other = replace(one, stored=replace(one.stored, id=UUID(int=9)))
        assert "REFUSED" == (await renewal.ask_for_scopes(other, edge.member.id, **wanted)).name
        assert await connected(edge, servers, server)
