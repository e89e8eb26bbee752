"""The tools of servers in a turn: over real HTTP, with servers that do what they like."""

import json
from dataclasses import replace

import pytest
import trio
import trio.testing

from actors.law.ids import ChatId
from actors.law.states import Status
from actors.law.store.hints import ChatMoved
from adapters.tools.mcp import listing as listings
from adapters.tools.mcp import sessions, wiring
from adapters.tools.mcp.http import ANSWER_BYTES_MAX, CALL_SECONDS_MAX, CONNECT_SECONDS_MAX
from adapters.tools.mcp.listing import PAGES_MAX
from adapters.tools.mcp.servers import OAuthToken, ServerSecrets
from adapters.tools.mcp.sessions import LEAVE_SECONDS
from tests.adapters.tools.mcp.given import (
    HISTORY,
    NoWorkspaces,
    another,
    calling,
    configured,
    names,
    said,
    tools_of,
    using,
)
from tests.fakes.tool_server import USUAL, Raw, a_server, hang, listing, text, tool
from tests.fakes.tool_server import said as answered
from tests.patience import PATIENCE_SECONDS


async def huge(asked):
    """Well formed, were it not for its size."""
    document = {"jsonrpc": "2.0", "id": asked["id"], "result": listing(tool("a"))}
    return Raw(json.dumps(document).encode() + b" " * ANSWER_BYTES_MAX)


@pytest.fixture
def patient_clock(autojump_clock):
    """A clock that jumps when nothing has happened for a moment: what was sent to a socket may be
    on its way."""
    autojump_clock.autojump_threshold = 0.05
    return autojump_clock


EVIL = '{"a": "' + "x" * 100


async def test_a_tool_is_named_after_its_server_and_called_by_its_own_name():
    async with a_server() as wire, tools_of(one := configured(wire)) as tools:
        of = using(one)

        assert ["one__echo"] == await names(tools, of)
        output = await tools.run(calling(of, "one__echo", '{"a": 1}'), "one__echo")

        assert {"output": "done"} == json.loads(output.result)
        [(_, params, _)] = [asked for asked in wire.asked if asked[0] == "tools/call"]
        assert ("echo", {"a": 1}) == (params["name"], params["arguments"])


async def test_a_turn_lists_once_and_keeps_its_session_and_the_next_lists_anew():
    async with a_server() as wire, tools_of(one := configured(wire)) as tools:
        of = using(one)

        for _ in range(3):
            await names(tools, of)
            await tools.run(calling(of, "one__echo"), "one__echo")

        assert (1, 1) == (wire.methods().count("initialize"), wire.methods().count("tools/list"))
        await names(tools, of, (*HISTORY, said("again", 2)))
        assert (2, 2) == (wire.methods().count("initialize"), wire.methods().count("tools/list"))


async def test_when_the_chat_rests_its_sessions_end_and_a_late_call_makes_another():
    async with a_server() as wire, tools_of(one := configured(wire)) as tools:
        of = using(one)
        await names(tools, of)
        sessions = tools._calls.sessions
        assert 1 == sessions.statistics().open

        sessions.hear(
            ChatMoved(of.id, 1, 1, 1, 1, 1, Status.WAITING, False, None, None, of.owner_id)
        )
        with trio.fail_after(PATIENCE_SECONDS):
            while sessions.statistics().open:
                await trio.sleep(0.01)
        output = await tools.run(calling(of, "one__echo"), "one__echo")

        assert not output.is_error
        assert 2 == wire.methods().count("initialize")


@pytest.mark.parametrize("status", [Status.INTERRUPTING, Status.REQUIRES_ACTION])
async def test_in_the_midst_of_a_turn_a_session_stays(status):
    async with a_server() as wire, tools_of(one := configured(wire)) as tools:
        of = using(one)
        await names(tools, of)
        sessions = tools._calls.sessions

        for each in (sessions, tools):
            each.hear(ChatMoved(of.id, 1, 1, 1, 1, 1, status, False, None, None, of.owner_id))
        await trio.testing.wait_all_tasks_blocked()
        await names(tools, of)

        assert (1, 1) == (sessions.statistics().open, wire.methods().count("tools/list"))
        assert sessions.current(of.id, one.id) is not None


async def test_when_the_chat_rests_what_is_known_of_its_workspace_is_forgotten():
    class Near(NoWorkspaces):
        forgotten = ()

        def forget(self, chat):
            self.forgotten = (*self.forgotten, chat)

    async with tools_of(workspace_mcp=(near := Near())) as tools:
        of = using()
        for status in (Status.RUNNING, Status.WAITING):
            tools.hear(ChatMoved(of.id, 1, 1, 1, 1, 1, status, False, None, None, of.owner_id))

    assert (of.id,) == near.forgotten


@pytest.mark.parametrize(
    "answers",
    [
        {"tools/list": Raw(b"", 500)},
        {"initialize": Raw(b"no", 403), "server/discover": Raw(b"no", 403)},
        {"tools/list": Raw(EVIL.encode())},
        {"tools/list": {"tools": "many"}},
        {"tools/list": Raw(b"<html>", headers={"content-type": "text/html"})},
        {
            "tools/list": Raw(
                b"x", headers={"content-encoding": "gzip", "content-type": "application/json"}
            )
        },
        {"tools/list": huge},
    ],
    ids=["500", "403", "no json", "no list", "html", "packed", "huge"],
)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore2's own
async def test_a_broken_server_has_no_tools_and_its_neighbour_has(answers):
    async with a_server(answers) as bad, a_server() as good:
        one, two = configured(bad), configured(good, slug="two")
        async with tools_of(one, two) as tools:
            assert ["two__echo"] == await names(tools, using(one, two))
            assert [one.id] == list(tools._calls.faults)


async def test_slow_servers_are_asked_together_and_have_their_seconds(patient_clock):
    async with a_server({"tools/list": hang}) as slow, a_server() as good:
        slows = [configured(slow, slug=f"s{n}") for n in range(3)]
        two = configured(good, slug="two")
        async with tools_of(*slows, two) as tools:
            began = trio.current_time()

            assert ["two__echo"] == await names(tools, using(*slows, two))

            assert CONNECT_SECONDS_MAX + 1 > trio.current_time() - began
            began = trio.current_time()
            await names(tools, using(*slows, two))
            assert began == trio.current_time()


async def test_a_call_has_its_seconds_and_the_server_is_told(patient_clock):
    async with a_server({"tools/call": hang}) as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))

        output = await tools.run(calling(using(one), "one__echo"), "one__echo")

        assert output.is_error
        assert f"within {CALL_SECONDS_MAX:g} s" in output.result


def remembering(*sessions, **more):
    """A server that remembers only the last of these sessions of its own, one after the other."""
    given = list(sessions)

    async def begin(asked):
        body = {"jsonrpc": "2.0", "id": asked["id"], "result": USUAL["initialize"]}
        headers = {"content-type": "application/json", "mcp-session-id": given.pop(0)}
        return Raw(json.dumps(body).encode(), headers=headers)

    async def call(asked):
        is_known = asked["headers"]["mcp-session-id"] == sessions[-1]
        return answered(text("done")) if is_known else Raw(b"", 404)

    return {"initialize": begin, "tools/call": call, **more}


async def test_a_server_that_has_forgotten_its_session_gets_another_and_no_call_is_lost():
    answers = remembering("first", "second")
    async with a_server(answers) as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))

        outputs = [await tools.run(calling(using(one), "one__echo"), "one__echo") for _ in range(2)]

    assert [{"output": "done"}] * 2 == [json.loads(output.result) for output in outputs]
    assert 2 == wire.methods().count("initialize")


async def test_a_server_that_never_knows_its_session_is_asked_twice_and_no_more():
    answers = {**remembering("a", "b", "c"), "tools/call": Raw(b"", 404)}
    async with a_server(answers) as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))

        output = await tools.run(calling(using(one), "one__echo"), "one__echo")

    assert output.is_error
    assert 2 == wire.methods().count("tools/call")


@pytest.mark.parametrize("silent", [("server/discover", "initialize"), ("initialize",)])
async def test_a_server_that_is_silent_at_first_has_its_seconds(patient_clock, silent):
    async with a_server(dict.fromkeys(silent, hang)) as slow, a_server() as good:
        one, two = configured(slow), configured(good, slug="two")
        async with tools_of(one, two) as tools:
            began = trio.current_time()

            assert ["two__echo"] == await names(tools, using(one, two))

            assert CONNECT_SECONDS_MAX + 1 > trio.current_time() - began


async def test_a_server_that_does_not_hear_a_farewell_is_left(patient_clock):
    heard = trio.Event()

    async def silent(asked):
        heard.set()
        await hang(asked)

    answers = remembering("first", DELETE=silent)
    async with a_server(answers) as wire, tools_of(one := configured(wire)) as tools:
        of = using(one)
        await names(tools, of)
        sessions = tools._calls.sessions
        began = trio.current_time()

        sessions.leave(of.id)
        while sessions.statistics().open:
            await trio.sleep(0.5)

        assert heard.is_set()
        assert LEAVE_SECONDS + 1 > trio.current_time() - began


async def test_a_call_that_cannot_be_made_is_an_error_in_words():
    answers = {"tools/call": Raw(b"", 500)}
    async with a_server(answers) as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))
        output = await tools.run(calling(using(one), "one__echo"), "one__echo")

    assert output.is_error
    assert json.loads(output.result)["error"]


async def test_nothing_that_is_no_object_is_sent():
    async with a_server() as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))

        output = await tools.run(calling(using(one), "one__echo", "[1]"), "one__echo")

        assert output.is_error
        assert "tools/call" not in wire.methods()


async def test_of_a_switched_off_server_nothing_is_called():
    async with a_server() as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))
        tools._calls.registry.there.clear()

        output = await tools.run(calling(using(one), "one__echo"), "one__echo")

        assert output.is_error
        assert "tools/call" not in wire.methods()


async def test_what_is_denied_is_not_offered_and_pages_are_followed():
    pages = {
        None: {**listing(tool("b"), tool("a")), "nextCursor": "2"},
        "2": listing(tool("no"), tool("A/")),
    }

    async def page(asked):
        return pages[(asked.get("params") or {}).get("cursor")]

    async with a_server({"tools/list": page}) as wire:
        one = configured(wire, tool_deny_list=("no",))
        async with tools_of(one) as tools:
            assert ["one__A_", "one__a", "one__b"] == await names(tools, using(one))


async def test_a_list_without_an_end_has_one(monkeypatch):
    for module in (wiring, sessions, listings):  # each page is asked for, however busy the machine
        monkeypatch.setattr(module, "CONNECT_SECONDS_MAX", PATIENCE_SECONDS)

    async def more(asked):
        return {**listing(tool("a")), "nextCursor": "again"}

    async with a_server({"tools/list": more}) as wire, tools_of(one := configured(wire)) as tools:
        with trio.fail_after(PATIENCE_SECONDS):
            assert await names(tools, using(one))

    assert PAGES_MAX == wire.methods().count("tools/list")


async def test_a_schema_that_is_too_big_leaves_its_tool_out():
    big = {"type": "object", "properties": {"a": {"description": "x" * 70_000}}}
    answers = {"tools/list": listing(tool("big", schema=big), tool("small"))}
    async with a_server(answers) as wire, tools_of(one := configured(wire)) as tools:
        assert ["one__small"] == await names(tools, using(one))


async def test_an_intent_is_shown_to_the_user_and_not_to_the_server():
    async with a_server() as wire:
        one = configured(wire, model_intent=True)
        async with tools_of(one) as tools:
            [offered] = await tools.offered(using(one), HISTORY)
            args = '{"model_intent": "Looking", "properties": {"a": 1}}'
            await tools.run(calling(using(one), "one__echo", args), "one__echo")

    assert "model_intent" in offered.tool.schema
    [(_, params, _)] = [asked for asked in wire.asked if asked[0] == "tools/call"]
    assert {"a": 1} == params["arguments"]


# who may use which


async def test_which_chats_have_which_servers():
    parent = ChatId(another(9))
    async with a_server() as wire:
        plain = configured(wire, slug="plain")
        plan = configured(wire, slug="plan", allow_in_plan_mode=True)
        forced = configured(wire, slug="forced", availability="force_on")
        off = configured(wire, slug="off", enabled=False)
        all = (plain, plan, forced, off)
        async with tools_of(*all) as tools:

            async def has(*of, **more):
                return [name.partition("__")[0] for name in await names(tools, using(*of, **more))]

            assert ["forced"] == await has()
            assert ["forced", "plain", "plan"] == await has(*all)
            assert ["plan"] == await has(*all, plan_mode="plan")
            assert [] == await has(*all, parent_id=parent, plan_mode="plan")
            assert ["forced", "plain"] == await has(plain, parent_id=parent)
            assert ["plain"] == await has(plain, parent_id=parent, mode="explore")
            assert [] == await has(plain, mode="explore")


# what a server is shown


@pytest.mark.parametrize(
    ("more", "secrets", "expected"),
    [
        ({}, ServerSecrets(), {}),
        (
            {"auth_type": "api_key", "api_key_header": "x-key"},
            ServerSecrets(api_key_value="s3cret"),
            {"x-key": "s3cret"},
        ),
        (
            {"auth_type": "custom_headers"},
            ServerSecrets(custom_headers={"X-A": "1", "x-promptcorner-owner-id": "mine"}),
            {"x-a": "1", "x-promptcorner-owner-id": "mine"},
        ),
        ({"auth_type": "oauth2"}, ServerSecrets(), {"authorization": "Bearer tok-en"}),
    ],
)
async def test_a_server_is_shown_what_it_wants_to_see(more, secrets, expected):
    token = OAuthToken(access_token="tok-en", token_type="bearer")
    async with a_server() as wire:
        one = configured(wire, secrets=secrets, forward_coder_headers=True, **more)
        async with tools_of(one, token=token) as tools:
            of = replace(using(one), parent_id=ChatId(another(9)), workspace_id=another(8))
            await names(tools, of)

    headers = wire.headers("tools/list")
    usual = {
        "x-promptcorner-owner-id": str(of.owner_id),
        "x-promptcorner-chat-id": str(another(9)),
        "x-promptcorner-subchat-id": str(of.id),
        "x-promptcorner-workspace-id": str(another(8)),
    }
    assert {**usual, **expected}.items() <= headers.items()
    assert headers["user-agent"].startswith("promptcorner/")


async def test_what_a_server_repeats_of_our_secrets_is_not_told_on():
    async def betray(asked):
        return Raw(
            json.dumps(
                {
                    "jsonrpc": "2.0",
                    "id": asked["id"],
                    "error": {"code": -1, "message": "bad s3cret at http://u:p4ss@h/x?k=s3cret"},
                }
            ).encode()
        )

    async with a_server({"tools/call": betray, "tools/list": listing(tool("a"))}) as wire:
        one = configured(
            wire,
            auth_type="api_key",
            api_key_header="k",
            secrets=ServerSecrets(api_key_value="s3cret"),
        )
        async with tools_of(one) as tools:
            await names(tools, using(one))
            output = await tools.run(calling(using(one), "one__a"), "one__a")

    assert output.is_error
    assert "s3cret" not in output.result
    assert "p4ss" not in output.result
    assert "s3cret" not in repr(one)


async def test_a_result_is_told_as_it_is():
    answers = {"tools/call": answered(text("no such page"), isError=True)}
    async with a_server(answers) as wire, tools_of(one := configured(wire)) as tools:
        await names(tools, using(one))
        output = await tools.run(calling(using(one), "one__echo"), "one__echo")

    assert output.is_error
    assert {"error": "no such page"} == json.loads(output.result)
