"""A conversation that is summarised, because somebody asks or because it is too long, on a real
daemon with a rehearsal model."""

from dataclasses import replace

import msgspec
import pytest

from actors.law.chat import SUMMARY_CALL, Role, Visibility
from actors.law.states import State, Status
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall, read_rules
from tests.actors.law.chats import ANN, BOB, DYNAMIC
from tests.adapters.chats.routes.daemon import a_daemon, said_in
from tests.adapters.chats.routes.ground import ADA, message
from tests.contracts.given import a_chat
from tests.contracts.test_store_matrix import chats_in

USER, ASSISTANT, TOOL = Role.USER, Role.ASSISTANT, Role.TOOL
SUMMARY = Behaviour(text="the summary")
CALLING = Behaviour(tool_calls=(ScriptedCall(DYNAMIC, "{}"),))


@pytest.mark.parametrize("state", State)
async def test_what_has_been_answered_can_be_summarised_while_nothing_is_done(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)

        answer = await ground.ask(ANN, "POST", f"{chat}/compact")

        after = await ground.store.rows(chat)
        if state in (State.W, State.E0, State.E1):
            assert (200, "running") == (answer.status, answer.said["status"])
            assert "last_error" not in answer.said
            assert after.chat.compaction_requested_at is not None
        else:
            assert (400 if before.chat.archived else 409) == answer.status or (
                state is State.INVALID
            )
            assert before == after


async def test_where_no_model_has_said_anything_there_is_nothing_to_summarise(ground):
    chat = await a_chat(ground.store, done=True)

    answer = await ground.ask(ANN, "POST", f"{chat}/compact")

    assert 409 == answer.status
    assert "since the last summary" in answer.said["detail"]
    assert [403, 404] == [
        (await ground.ask(who, "POST", f"{chat}/compact")).status for who in (ADA, BOB)
    ]


async def rows(daemon, chat):
    history = await daemon.chats.store.reading.history(chat)
    return [(m.body.role, m.body.visibility, m.body.compressed) for m in history]


BOTH = Visibility.BOTH
TRIPLET = [
    (USER, Visibility.MODEL, True),
    (ASSISTANT, Visibility.USER, True),
    (TOOL, BOTH, True),
]


@pytest.mark.slow
async def test_a_summary_that_is_asked_for_is_made_once_and_then_read_by_the_model(fresh):
    async with a_daemon(fresh, Behaviour(text="done")) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        before = (await daemon.chats.store.reading.view(chat)).chat.snapshot_version

        asked = await daemon.ask("POST", f"{chat}/compact")
        await daemon.at_rest(chat)
        after = (await daemon.chats.store.reading.view(chat)).chat.snapshot_version
        again = await daemon.ask("POST", f"{chat}/compact")

        assert [200, 409] == [asked.status, again.status]
        assert "running" == asked.said["status"]
        assert before + 2 == after  # asked for, and made: no third write
        assert [(USER, BOTH, False), (ASSISTANT, BOTH, False), *TRIPLET] == await rows(daemon, chat)
        assert 2 == daemon.rehearsal.requests
        shown = (await daemon.ask("GET", f"{chat}/messages")).said["messages"]
        result, call = shown[0]["content"][0], shown[1]["content"][0]
        assert (SUMMARY_CALL, call["tool_call_id"]) == (call["tool_name"], result["tool_call_id"])
        assert {"source": "manual", "threshold_percent": 70} == call["args"]
        assert ("done", "manual") == (result["result"]["summary"], result["result"]["source"])
        assert 4 == len(shown)

        await daemon.ask("POST", f"{chat}/messages", message("go on"))
        await daemon.at_rest(chat)

        heard = daemon.rehearsal.records[-1].body.decode()
        assert "has been summarised" in heard
        assert "go on" in heard
        assert "hello" not in heard
        assert SUMMARY_CALL not in heard


@pytest.mark.slow
async def test_a_turn_that_fills_the_window_is_summarised_in_its_middle(fresh):
    calling = replace(CALLING, input_tokens=80)
    async with a_daemon(fresh, calling, context_limit=100) as daemon:
        chat = await daemon.begin("hello", tools=[DYNAMIC])
        await daemon.until(chat, lambda s: s.chat.status is Status.REQUIRES_ACTION)
        daemon.rehearsal.behave(Behaviour(text="done", input_tokens=10))

        answered = await daemon.ask("POST", f"{chat}/tool-results", await answers_of(daemon, chat))
        await daemon.at_rest(chat)

        assert 204 == answered.status
        made = [(USER, BOTH, False), (ASSISTANT, BOTH, False), (TOOL, BOTH, False)]
        assert [*made, *TRIPLET, (ASSISTANT, BOTH, False)] == await rows(daemon, chat)
        history = await daemon.chats.store.reading.history(chat)
        told = msgspec.json.decode(history[5].body.parts[0].result)
        assert {
            "summary": "done",
            "source": "automatic",
            "threshold_percent": 70,
            "usage_percent": 80.0,
            "context_tokens": 80,
            "context_limit_tokens": 100,
        } == told


@pytest.mark.slow
async def test_a_turn_that_is_complete_is_not_summarised_however_full_the_window(fresh):
    async with a_daemon(
        fresh, Behaviour(text="done", input_tokens=99), context_limit=100
    ) as daemon:
        chat = await daemon.begin("hello")

        await daemon.at_rest(chat)

        assert [(USER, BOTH, False), (ASSISTANT, BOTH, False)] == await rows(daemon, chat)
        await daemon.ask("POST", f"{chat}/messages", message("more"))
        history = await daemon.at_rest(chat)
        assert [USER, ASSISTANT, USER, USER, ASSISTANT, TOOL, ASSISTANT] == [
            role for role, _ in history
        ]


@pytest.mark.slow
async def test_what_is_still_too_long_after_a_summary_stops_the_chat(fresh):
    async with a_daemon(
        fresh, Behaviour(text="done", input_tokens=99), context_limit=100
    ) as daemon:
        chat = await daemon.begin("one")
        await daemon.at_rest(chat)
        await daemon.ask("POST", f"{chat}/messages", message("two"))
        await daemon.at_rest(chat)
        asked = daemon.rehearsal.requests

        await daemon.ask("POST", f"{chat}/messages", message("three"))
        await daemon.at_rest(chat)

        stored = await daemon.chats.store.reading.view(chat)
        assert (Status.ERROR, "config") == (stored.chat.status, stored.chat.last_error.kind)
        assert asked == daemon.rehearsal.requests
        assert b'result="error"' in daemon.chats.figures.exposition()
        assert b'result="success"' in daemon.chats.figures.exposition()


@pytest.mark.slow
async def test_a_summary_with_nothing_in_it_is_asked_for_again(fresh):
    async with a_daemon(fresh, Behaviour(text="done")) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        daemon.rehearsal.behave(Behaviour(text=" ", deltas=1))

        await daemon.ask("POST", f"{chat}/compact")
        stored = await daemon.until(chat, lambda s: s.chat.retry_state is not None)
        daemon.rehearsal.behave(SUMMARY)
        history = await daemon.at_rest(chat)

        assert "no summary" in stored.chat.retry_state.error
        assert b'result="error"' in daemon.chats.figures.exposition()
        assert stored.chat.compaction_requested_at is not None
        assert "the summary" in history[2][1]


@pytest.mark.slow
async def test_a_model_that_was_set_for_it_makes_the_summary(fresh):
    async with a_daemon(fresh, Behaviour(text="done"), summaries_by=1) as daemon:
        own, other = daemon.models[:2]
        assert ("anthropic", "openai") == (own.provider.type, other.provider.type)
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        sent = message("again", model_config_id=str(own.id))
        await daemon.ask("POST", f"{chat}/messages", sent)
        await daemon.at_rest(chat)

        await daemon.ask("POST", f"{chat}/compact")
        await daemon.at_rest(chat)

        heard = daemon.rehearsal.records[-1]
        assert heard.head.path.endswith("/responses")
        assert other.model == msgspec.json.decode(heard.body)["model"]
        history = await daemon.chats.store.reading.history(chat)
        assert [own.id] * 3 == [row.body.model_config_id for row in history[-3:]]


@pytest.mark.slow
async def test_a_stopped_chat_goes_on_behind_the_summary_with_what_waits(fresh):
    async with a_daemon(fresh, Behaviour(text="done")) as daemon:
        chat = await daemon.begin("hello", tools=[DYNAMIC])
        await daemon.at_rest(chat)
        daemon.rehearsal.behave(CALLING)
        await daemon.ask("POST", f"{chat}/messages", message("fails"))
        await daemon.until(chat, lambda s: s.chat.status is Status.REQUIRES_ACTION)
        await daemon.ask("POST", f"{chat}/messages", message("waits"))
        daemon.rehearsal.behave(Behaviour(faults=read_rules("401")))
        await daemon.ask("POST", f"{chat}/tool-results", await answers_of(daemon, chat))
        await daemon.until(chat, lambda s: s.chat.status is Status.ERROR)
        daemon.rehearsal.behave(Behaviour(text="done"))

        asked = await daemon.ask("POST", f"{chat}/compact")

        history = await daemon.at_rest(chat)
        assert (200, "running") == (asked.status, asked.said["status"])
        assert "last_error" not in asked.said
        begun, summed_up = [USER, ASSISTANT, USER, ASSISTANT, TOOL], [USER, ASSISTANT, TOOL]
        roles = [*begun, *summed_up, ASSISTANT, USER, ASSISTANT]
        assert roles == [role for role, _ in history]
        assert ["fails", "waits"] == [history[2][1], history[-2][1]]


@pytest.mark.slow
async def test_watchers_see_that_a_summary_is_made(fresh):
    previews = []
    async with a_daemon(fresh, Behaviour(text="done")) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)

        with daemon.chats.previews.follow(previews.append, fail=pytest.fail):
            await daemon.ask("POST", f"{chat}/compact")
            await daemon.at_rest(chat)

        [episode] = previews
        begun, ended = episode.encoded
        assert b'"tool-call"' in begun
        assert b'"tool-result"' in ended
        assert SUMMARY_CALL.encode() in begun
        assert b"done" in ended


@pytest.mark.slow
async def test_an_interrupted_summary_leaves_nothing_behind(fresh):
    async with a_daemon(fresh, Behaviour(text="done")) as daemon:
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        daemon.rehearsal.behave(Behaviour(deltas=1000, delta_ms=50))
        await daemon.ask("POST", f"{chat}/compact")
        await daemon.until(chat, lambda s: bool(daemon.rehearsal.records))

        await daemon.ask("POST", f"{chat}/interrupt")
        await daemon.at_rest(chat)

        assert [(USER, BOTH, False), (ASSISTANT, BOTH, False)] == await rows(daemon, chat)
        stored = await daemon.chats.store.reading.view(chat)
        assert stored.chat.compaction_requested_at is None
        assert "hello" == said_in((await daemon.chats.store.reading.history(chat))[0])


async def answers_of(daemon, chat):
    history = await daemon.chats.store.reading.history(chat)
    [call] = [part for part in history[-1].body.parts if hasattr(part, "args")]
    return {"results": [{"tool_call_id": call.id, "output": "fine"}]}
