"""Policy hooks through a whole daemon: each event, each decision, each fault."""

import json
from dataclasses import replace

import psycopg
import pytest
import trio

from adapters.rehearsal.behaviour import Behaviour
from tests.adapters.edges import PATIENCE_SECONDS, an_edge
from tests.adapters.tools.hooks.hook_server import (
    DROPS,
    DROPS_ONCE,
    HANGS,
    HUGE,
    REDIRECTS,
    SECRET,
    a_hook_server,
    deny,
    override,
)

pytestmark = pytest.mark.slow

CHATS = "/api/v2/chats"
TOOL = "[[tool-calls: list_templates:{}]] [[text: done]]"
DYNAMIC = {"name": "where", "description": "Say where.", "input_schema": {"type": "object"}}


@pytest.fixture
async def hooks():
    async with a_hook_server() as server:
        yield server


@pytest.fixture
async def edge(fresh, hooks):
    settings = {"hook_url": hooks.url, "hook_secret": SECRET, "hook_timeout": "60"}
    async with an_edge(fresh, behaviour=Behaviour(deltas=2), **settings) as edge:
        yield edge


def let_answers_take(edge, seconds):
    """A test that no hook hangs in has all the time of a busy machine."""
    edge.chats.hooks._endpoint = replace(edge.chats.hooks._endpoint, timeout_seconds=seconds)


def in_a_hurry(edge):
    """What a hook says to the beginning of a turn, whose later questions may take half a second."""

    def say(_question):
        let_answers_take(edge, 0.5)
        return b""

    return say


def said(text):
    return {"content": [{"type": "text", "text": text}]}


async def create(edge, text="hello", **more):
    return await edge.member.post(
        CHATS, {**said(text), "organization_id": edge.organization, **more}
    )


async def a_chat(edge, text="hello", status="waiting", **more):
    made = await create(edge, text, **more)
    assert 201 == made.status, made.body
    chat = f"{CHATS}/{made.document['id']}"
    await until(edge, chat, status)
    return chat


async def until(edge, chat, status):
    with trio.fail_after(PATIENCE_SECONDS):  # not so often that it is refused
        while (await edge.member.get(chat)).document["status"] != status:
            await trio.sleep(0.03)


async def parts_of(edge, chat):
    """All parts in the order in which they were said."""
    page = (await edge.member.get(f"{chat}/messages")).document
    rows = sorted(page["messages"], key=lambda row: row["id"])
    return [(row["role"], part) for row in rows for part in row["content"]]


async def kinds(edge, chat):
    return [(role, part["type"]) for role, part in await parts_of(edge, chat)]


# asked


async def test_every_event_of_a_turn_is_asked_about_in_order(edge, hooks):
    chat = await a_chat(edge, TOOL)

    assert [
        "user_prompt_submit",
        "session_start",
        "pre_tool_use",
        "post_tool_use",
        "stop",
    ] == hooks.events()
    prompt, session, before, after, _ = hooks.asked
    assert TOOL == prompt["data"]["prompt"]
    assert [{"type": "text", "text": TOOL}] == prompt["data"]["parts"]
    assert {"source": "startup"} == session["data"]
    assert ("list_templates", {}) == (before["data"]["tool_name"], before["data"]["tool_input"])
    assert before["data"]["tool_use_id"] == after["data"]["tool_use_id"]
    assert "tool_response" in after["data"]
    assert {question["meta"]["chat_id"] for question in hooks.asked} == {chat.rpartition("/")[2]}
    assert {question["meta"]["owner_id"] for question in hooks.asked} == {str(edge.member.id)}
    assert 1 == len({claims["iss"] for claims in hooks.claims})
    assert 5 == len({claims["jti"] for claims in hooks.claims})


async def test_a_session_is_told_once_for_each_life_of_the_chat_here(edge, hooks):
    chat = await a_chat(edge)
    await edge.member.post(f"{chat}/messages", said("again"))
    await until(edge, chat, "waiting")

    sources = [question["data"]["source"] for question in hooks.of("session_start")]
    assert ["startup", "resume"] == sources


# prompts


async def test_a_prompt_that_is_denied_is_stored_nowhere(edge, hooks):
    hooks.says["user_prompt_submit"] = deny("no names", user_message="Leave names out.")
    refused = await create(edge, "about zebulon")
    [(count,)] = await edge.execute("SELECT count(*) FROM chats")

    assert (403, "hook_denied", "Leave names out.") == (
        refused.status,
        refused.document["kind"],
        refused.document["message"],
    )
    assert 0 == count


async def test_a_prompt_that_is_rewritten_is_all_that_is_stored(edge, hooks):
    hooks.says["user_prompt_submit"] = override(
        {"prompt": "about [name]"}, model_context="be kind", user_message="A name was left out."
    )
    chat = await a_chat(edge, "about zebulon")
    [(stored,)] = await edge.execute("SELECT string_agg(content::text, '') FROM messages")
    shown = (await edge.member.get(chat)).document
    (_, text), (_, notice), *_ = await parts_of(edge, chat)

    assert "zebulon" not in stored
    assert "zebulon" not in shown["title"]
    assert ("about [name]", "hook-notice", "A name was left out.") == (
        text["text"],
        notice["type"],
        notice["text"],
    )
    assert True is text["hook_rewritten"]
    assert "hook-context" in stored
    assert "hook-context" not in json.dumps(await parts_of(edge, chat))


async def test_every_way_to_say_something_is_asked_about(edge, hooks):
    member, other = edge.member, said("other")
    chat = await a_chat(edge)
    messages = (await member.get(f"{chat}/messages")).document["messages"]
    first = min(row["id"] for row in messages if row["role"] == "user")
    hooks.says["user_prompt_submit"] = deny("never")
    sent = await member.post(f"{chat}/messages", other)
    edited = await member.patch(f"{chat}/messages/{first}", other)
    hooks.says.clear()
    await member.post(f"{chat}/messages", said("[[deltas: 400]] [[delta-ms: 50]] slow"))
    await until(edge, chat, "running")
    waiting = (await member.post(f"{chat}/messages", said("later"))).document["queued_message"]
    hooks.says["user_prompt_submit"] = deny("never")
    queued = await member.post(f"{chat}/messages", other)
    reworded = await member.patch(f"{chat}/queue/{waiting['id']}", other)
    await member.post(f"{chat}/interrupt")

    answers = (sent, edited, queued, reworded)
    assert {(403, "hook_denied")} == {(each.status, each.document["kind"]) for each in answers}


FAULTS = {
    "slow": (HANGS, "timeout"),
    "dropping": (DROPS, "connection_error"),
    "redirecting": (REDIRECTS, "http_error"),
    "failing": (500, "http_error"),
    "huge": (HUGE, "protocol_error"),
    "wrong": (b"yes", "protocol_error"),
    "two values": (b"{}{}", "protocol_error"),
    "doubled": (b'{"user_message": "a", "user_message": "b"}', "protocol_error"),
    "unknown": ({"permision": {"decision": "deny"}}, "protocol_error"),
    "allow alone": ({"permission": {"decision": "allow"}}, "protocol_error"),
    "ambiguous": (override({"text": "x"}), "protocol_error"),
}


async def test_a_prompt_fails_closed_on_each_fault(edge, hooks):
    for fault, (says, why) in FAULTS.items():
        let_answers_take(edge, 0.5 if says is HANGS else 60)
        hooks.says["user_prompt_submit"] = says
        refused = await create(edge)

        assert (502, "hook_dispatch_failed") == (refused.status, refused.document["kind"]), fault
        assert why in refused.document["detail"], fault
    [(count,)] = await edge.execute("SELECT count(*) FROM chats")
    assert 0 == count
    assert len(FAULTS) - 1 == edge.chats.hooks.statistics().failed_count  # one was understood


async def test_a_question_that_no_server_heard_is_asked_once_more_under_its_id(edge, hooks):
    hooks.says["user_prompt_submit"] = DROPS_ONCE
    await a_chat(edge)

    ids = [question["meta"]["dispatch_id"] for question in hooks.of("user_prompt_submit")]
    assert 2 == len(ids)
    assert 1 == len(set(ids))


# calls


async def test_a_call_that_is_denied_is_not_run_and_the_model_goes_on(edge, hooks):
    hooks.says["pre_tool_use"] = deny("templates are secret", user_message="Not that one.")
    chat = await a_chat(edge, TOOL)
    said_all = await parts_of(edge, chat)
    results = [part for _, part in said_all if part["type"] == "tool-result"]
    [(journalled,)] = await edge.execute("SELECT count(*) FROM tool_calls")

    assert [True] == [part.get("is_error", False) for part in results]
    assert "templates are secret" in results[0]["result"]["error"]
    assert ("assistant", "hook-notice") in [(role, part["type"]) for role, part in said_all]
    assert "done" == said_all[-1][1]["text"]
    assert 0 == journalled
    assert [] == hooks.of("post_tool_use")


async def test_a_call_that_is_rewritten_runs_as_rewritten(edge, hooks):
    hooks.says["pre_tool_use"] = override({"name": "other"})
    hooks.says["post_tool_use"] = {"model_context": "it was changed"}
    chat = await a_chat(edge, "[[tool-calls: no_such_tool:{}]] [[text: done]]")
    [call] = [part for _, part in await parts_of(edge, chat) if part["type"] == "tool-call"]
    [(stored,)] = await edge.execute("SELECT string_agg(content::text, '') FROM messages")
    [told] = hooks.of("post_tool_use")

    assert ({"name": "other"}, True) == (call["args"], call["hook_rewritten"])
    assert {"name": "other"} == told["data"]["tool_input"]
    assert "tool_error" in told["data"]
    assert "it was changed" in stored


TWO_WAYS = b'{"permission": {"decision": "allow", "input_override": {"a": 1, "a": 2}}}'


async def test_a_call_fails_closed_on_each_fault(edge, hooks):
    faults = {**FAULTS, "in two ways": (TWO_WAYS, "protocol_error")}
    for fault in ("slow", "dropping", "wrong", "redirecting", "huge", "in two ways"):
        hooks.says["pre_tool_use"], why = faults[fault]
        let_answers_take(edge, 60)
        hooks.says["session_start"] = in_a_hurry(edge) if fault == "slow" else b""
        chat = await a_chat(edge, TOOL, "error")
        error = (await edge.member.get(chat)).document["last_error"]

        assert ("hook_dispatch_failed", False) == (error["kind"], error["retryable"]), fault
        assert why in error["detail"], fault
        assert [("user", "text")] == await kinds(edge, chat), fault
    [(journalled,)] = await edge.execute("SELECT count(*) FROM tool_calls")
    assert 0 == journalled


async def test_results_are_kept_when_the_hook_fails_behind_them(edge, hooks):
    hooks.says["post_tool_use"] = 503
    chat = await a_chat(edge, TOOL, "error")
    found = await kinds(edge, chat)
    hooks.says.clear()
    assert 200 == (await edge.member.post(f"{chat}/retry")).status
    await until(edge, chat, "waiting")

    assert [("user", "text"), ("assistant", "tool-call"), ("tool", "tool-result")] == found
    assert ("assistant", "text") == (await kinds(edge, chat))[-1]
    assert 1 == len(hooks.of("pre_tool_use"))


async def test_a_call_of_the_client_is_asked_about_and_its_result_is_told(edge, hooks):
    hooks.says["post_tool_use"] = {"model_context": "trust it"}
    text = '[[tool-calls: where:{"a": 1}]] [[text: done]]'
    chat = await a_chat(edge, text, "requires_action", unsafe_dynamic_tools=[DYNAMIC])
    [before] = hooks.of("pre_tool_use")
    call = before["data"]["tool_use_id"]
    results = {"results": [{"tool_call_id": call, "output": {"x": 1}, "is_error": False}]}
    hooks.says["post_tool_use"] = 500
    refused = await edge.member.post(f"{chat}/tool-results", results)
    hooks.says["post_tool_use"] = {"model_context": "trust it"}
    answered = await edge.member.post(f"{chat}/tool-results", results)
    await until(edge, chat, "waiting")
    [(stored,)] = await edge.execute("SELECT string_agg(content::text, '') FROM messages")

    assert (502, 204) == (refused.status, answered.status)
    assert {"x": 1} == hooks.of("post_tool_use")[-1]["data"]["tool_response"]
    assert "trust it" in stored


async def test_hooks_come_before_people_and_deny_wins(edge, hooks):
    def decide(question):
        is_first = len(hooks.of("pre_tool_use")) == 1
        return deny("never") if is_first else override({"command": "ls"})

    hooks.says["pre_tool_use"] = decide
    text = '[[tool-calls: execute:{"command": "rm -rf x"}]] [[text: done]]'
    denied = await a_chat(edge, text, approval_policy="ask")
    asked = await a_chat(edge, text, "requires_action", approval_policy="ask")
    shown = (await edge.member.get(f"{asked}/approvals")).document

    results = [part for _, part in await parts_of(edge, denied) if part["type"] == "tool-result"]
    assert "never" in results[0]["result"]["error"]
    assert "rm -rf" not in json.dumps(shown)
    assert '"ls"' in json.dumps(shown).replace("\\", "")
    await edge.member.post(f"{asked}/interrupt")


# the turn


async def test_what_a_session_is_told_comes_before_the_answer(edge, hooks):
    hooks.says["session_start"] = {"model_context": "it is monday", "user_message": "Good monday."}
    chat = await a_chat(edge)
    rows = await edge.execute("SELECT role, visibility FROM messages ORDER BY id")

    assert ("user", "model") == rows[-2]
    assert ("assistant", "both") == rows[-1]
    assert ("assistant", "hook-notice") == (await kinds(edge, chat))[-1]


async def test_a_stop_hook_makes_the_model_go_on_once(edge, hooks):
    hooks.says["stop"] = {"model_context": "run the tests first"}
    chat = await a_chat(edge)
    found = await kinds(edge, chat)

    assert [("user", "text"), ("assistant", "text"), ("assistant", "text")] == found
    assert 2 == len(hooks.of("stop"))


async def test_a_turn_fails_closed_and_keeps_what_was_said(edge, hooks):
    for event in ("session_start", "stop"):
        hooks.says = {event: 500}
        chat = await a_chat(edge, "hello", "error")
        error = (await edge.member.get(chat)).document["last_error"]
        had_said = ("assistant", "text") in await kinds(edge, chat)

        assert "hook_dispatch_failed" == error["kind"]
        assert (event == "stop") is had_said


async def test_compaction_is_asked_about_on_both_sides(edge, hooks):
    chat = await a_chat(edge)
    hooks.says["pre_compact"] = {"model_context": "keep the names", "user_message": "Summing up."}
    hooks.says["post_compact"] = {"model_context": "read the plan again"}
    assert 200 == (await edge.member.post(f"{chat}/compact")).status
    await until(edge, chat, "waiting")
    [(stored,)] = await edge.execute(
        "SELECT string_agg(content::text, '') FROM messages WHERE visibility = 'model'"
    )
    found = await kinds(edge, chat)

    assert "read the plan again" in stored
    assert "hook-notice" in [kind for _, kind in found]
    assert ["pre_compact", "post_compact"] == [
        event for event in hooks.events() if "compact" in event
    ]


async def test_a_compaction_that_cannot_be_asked_about(edge, hooks):
    for event in ("pre_compact", "post_compact"):
        hooks.says = {}
        chat = await a_chat(edge)
        hooks.says = {event: 500}
        await edge.member.post(f"{chat}/compact")
        await until(edge, chat, "error")
        has_summary = "tool-call" in [kind for _, kind in await kinds(edge, chat)]

        assert (event == "post_compact") is has_summary


# agents


async def test_the_prompt_of_an_agent_is_asked_about(edge, hooks):
    def decide(question):
        return deny("no agents") if "parent_chat_id" in question["meta"] else b""

    hooks.says["user_prompt_submit"] = decide
    spawn = '[[tool-calls: spawn_agent:{"type": "general", "prompt": "go"}]] [[text: done]]'
    chat = await a_chat(edge, spawn)
    results = [part for _, part in await parts_of(edge, chat) if part["type"] == "tool-result"]
    [(count,)] = await edge.execute("SELECT count(*) FROM chats")

    assert "no agents" in results[0]["result"]["error"]
    assert 1 == count


async def test_an_agent_that_cannot_be_asked_about_stops_its_parent(edge, hooks):
    def decide(question):
        return 500 if "parent_chat_id" in question["meta"] else b""

    hooks.says["user_prompt_submit"] = decide
    spawn = (
        '[[tool-calls: spawn_agent:{"type": "general", "prompt": "go"}; list_templates:{}]]'
        " [[text: done]]"
    )
    chat = await a_chat(edge, spawn, "error")
    error = (await edge.member.get(chat)).document["last_error"]
    results = [part for _, part in await parts_of(edge, chat) if part["type"] == "tool-result"]

    assert "hook_dispatch_failed" == error["kind"]
    assert [True, False] == [part.get("is_error", False) for part in results]


# at any moment


async def asked_about(hooks, event):
    with trio.fail_after(PATIENCE_SECONDS):
        while event not in hooks.events():
            await trio.sleep(0.005)


async def test_a_user_may_interrupt_while_a_hook_is_asked(edge, hooks):
    left = {}
    for event in ("session_start", "pre_tool_use", "post_tool_use", "stop"):
        hooks.says, hooks.asked = {event: HANGS}, []
        chat = f"{CHATS}/{(await create(edge, TOOL)).document['id']}"
        await asked_about(hooks, event)
        assert 200 == (await edge.member.post(f"{chat}/interrupt")).status
        await until(edge, chat, "waiting")
        results = [part for _, part in await parts_of(edge, chat) if part["type"] == "tool-result"]
        left[event] = [part.get("is_error", False) for part in results]

    # A call that was not allowed yet has not run; one that has keeps its result.
    assert {
        "session_start": [],
        "pre_tool_use": [True],
        "post_tool_use": [False],
        "stop": [False],
    } == left


async def test_a_process_that_stops_waits_for_a_hook_as_for_a_step(fresh, hooks):
    hooks.says["pre_tool_use"] = HANGS
    settings = {"hook_url": hooks.url, "hook_secret": SECRET, "hook_timeout": "60"}
    async with an_edge(fresh, **settings) as edge:
        hooks.says["session_start"] = in_a_hurry(edge)
        await create(edge, TOOL)
        await asked_about(hooks, "pre_tool_use")
    with psycopg.connect(fresh) as connection:
        found = connection.execute(
            "SELECT status, last_error->>'kind', (SELECT count(*) FROM tool_calls) FROM chats"
        )

        assert [("error", "hook_dispatch_failed", 0)] == found.fetchall()


async def test_many_at_once_are_bounded_and_those_beyond_fail(edge, hooks, monkeypatch):
    from adapters.tools.hooks import dispatcher

    edge.chats.hooks._all = trio.Semaphore(3)
    edge.chats.hooks._admissions = trio.Semaphore(2)
    monkeypatch.setattr(dispatcher, "WAIT_SECONDS", 0.05)
    hooks.says["user_prompt_submit"] = HANGS
    heard, beyond = [], []

    async def ask(answers):
        answers.append(await create(edge))

    async with trio.open_nursery() as nursery:
        for _ in range(2):
            nursery.start_soon(ask, heard)
        with trio.fail_after(PATIENCE_SECONDS):
            while hooks.at_once < 2:
                await trio.sleep(0.01)
        async with trio.open_nursery() as others:
            for _ in range(4):
                others.start_soon(ask, beyond)
        hooks.let_go.set()

    assert {502} == {answer.status for answer in [*heard, *beyond]}
    assert 2 == hooks.at_once_peak
    assert all("connection_error" in answer.document["detail"] for answer in heard)
    assert all("over_capacity" in answer.document["detail"] for answer in beyond)
    assert 0 == edge.chats.hooks.statistics().asking


async def test_figures_tell_what_was_asked(edge, hooks):
    hooks.says["pre_tool_use"] = deny()
    await a_chat(edge, TOOL)
    page = (await edge.admin.get("/metrics")).body.decode()

    denied = 'promptcorner_chatd_hook_dispatches_total{event="pre_tool_use",result="denied"} 1.0'
    decided = 'promptcorner_chatd_hook_decisions_total{decision="deny",event="pre_tool_use"} 1.0'
    assert denied in page
    assert decided in page


async def test_a_deployment_without_hooks_has_none(fresh):
    async with an_edge(fresh) as edge:
        chat = await a_chat(edge, TOOL)

        assert not edge.chats.hooks.is_on
        assert ("assistant", "text") == (await kinds(edge, chat))[-1]
