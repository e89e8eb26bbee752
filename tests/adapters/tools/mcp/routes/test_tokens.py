"""What users show at servers of tools: renewed, refused, revoked."""

from uuid import UUID

import pytest
import trio
import trio.testing

from adapters.tools.mcp import registry
from adapters.tools.mcp.wiring import open_mcp
from tests.adapters.edges import eventually
from tests.adapters.tools.mcp.routes.ground import (
    connected,
    held,
    logs_in,
    made,
    oauth,
    taking,
    token,
    tools_of,
)
from tests.fakes.auth_server import an_auth_server
from tests.fakes.tool_server import USUAL, Raw, a_server
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


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
        auth.lives_seconds, asked, go_on = 3600, trio.Event(), trio.Event()

        async def answer():
            asked.set()
            await go_on.wait()

        auth.pause = answer
        with trio.move_on_after(PATIENCE_SECONDS) as waiting:
            async with trio.open_nursery() as together:
                together.start_soon(when, asked, waiting.cancel)
                await token(edge, server)
        go_on.set()

        async def renewed():
            return (await token(edge, server)).access_token == "access-2"

        await eventually(renewed)
        assert asked.is_set()
        assert 2 == len(auth.of("/token"))


async def test_a_renewal_is_finished_by_a_process_that_stops(edge, servers):
    async with an_auth_server() as auth:
        auth.lives_seconds = 5
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        auth.lives_seconds, asked, go_on = 3600, trio.Event(), trio.Event()

        async def answer():
            asked.set()
            await go_on.wait()

        auth.pause = answer
        store, vault = edge.chats.store, edge.chats.vault
        async with (
            trio.open_nursery() as together,
            open_mcp(store.pool, store.bus, vault=vault) as stopping,
        ):
            one = (await stopping.registry.servers())[UUID(server["id"])]
            with trio.move_on_after(PATIENCE_SECONDS) as waiting:
                together.start_soon(when, asked, waiting.cancel)
                await stopping.calls.renewal.token(one, edge.member.id)
            together.start_soon(when, trio.testing.wait_all_tasks_blocked, go_on.set)
        auth.pause = None

        assert "access-2" == (await token(edge, server)).access_token
        assert 2 == len(auth.of("/token"))


async def test_a_renewal_that_takes_too_long_is_given_up_and_told_of(
    edge, servers, monkeypatch, caplog
):
    monkeypatch.setattr(registry, "RENEWAL_SECONDS", 0.1)
    async with an_auth_server() as auth:
        auth.lives_seconds = 5
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
        go_on = trio.Event()
        auth.pause = go_on.wait

        shown = await token(edge, server)
        go_on.set()

        assert "access-1" == shown.access_token
        [told] = [each for each in caplog.records if each.message == "mcp.token_kept"]
        assert isinstance(told.fields["error"], trio.TooSlowError)


async def when(comes, do):
    await (comes.wait() if isinstance(comes, trio.Event) else comes())
    do()


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


# tokens that a server does not take


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
            said.append(await edge.chats.mcp.calls.call(chat, one, "echo", {}))

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
            one = (await mcp.registry.servers())[UUID(server["id"])]
            shown.append(await mcp.calls.renewal.token(one, edge.member.id))

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


@pytest.mark.parametrize("winner_first", [True, False])
async def test_who_was_refused_because_of_a_renewal_does_not_undo_it(edge, servers, winner_first):
    async with an_auth_server() as auth:
        server = await made(edge, servers, **oauth(auth))
        await logs_in(edge, servers, auth, server)
    stored, user, id = edge.chats.mcp.store, edge.member.id, UUID(server["id"])
    seen = (await stored.tokens(user))[id]

    async def win():
        new = {"sealed": b"new", "expires_at": None}
        assert await stored.renew_token(user, id, seen=seen, **new)

    async def lose():
        await stored.fail_token(user, id, seen=seen, failure="invalid_grant")

    for step in (win, lose) if winner_first else (lose, win):
        await step()

    now = (await stored.tokens(user))[id]
    assert (b"new", "") == (bytes(now.sealed), now.failure)
