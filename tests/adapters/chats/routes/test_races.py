"""Requests that meet each other, and the worker, on a real daemon: everybody is answered, and the
chat comes to rest with all that was promised."""

from functools import partial

import pytest
import trio

from actors.law.chat import Role
from actors.law.ids import EpisodeKey
from actors.law.states import Status
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.actors.law.chats import DYNAMIC
from tests.adapters.chats.routes.daemon import a_daemon, said_in
from tests.adapters.chats.routes.ground import message

USER, ASSISTANT = Role.USER, Role.ASSISTANT
ENDLESS = "[[deltas: 100000]] [[delta-ms: 2]] hello"
ROUNDS = 12  # each with its own delay, so that the two meet at different moments
pytestmark = pytest.mark.slow


@pytest.fixture
async def daemon(fresh):
    async with a_daemon(fresh, Behaviour(text="done", delta_ms=1)) as daemon:
        yield daemon


@pytest.fixture
async def slow_daemon(fresh):
    async with a_daemon(fresh, Behaviour(deltas=40, delta_ms=2)) as daemon:
        yield daemon


async def both(*asking):
    """The answers of all, asked at once."""
    answers = [None] * len(asking)

    async def ask(place, function):
        answers[place] = await function()

    async with trio.open_nursery() as nursery:
        for place, function in enumerate(asking):
            nursery.start_soon(ask, place, function)
    return answers


async def after(milliseconds, function):
    await trio.sleep(milliseconds / 1000)
    return await function()


async def test_of_two_messages_at_once_one_is_said_and_one_waits_for_its_turn(daemon):
    texts = [a, b] = ["a [[first-token-ms: 100]]", "b [[first-token-ms: 100]]"]
    met = 0  # a busy machine sends the second one after the turn of the first one, now and then
    for _ in range(ROUNDS):
        chat = await daemon.begin("hello")
        await daemon.at_rest(chat)
        sending = [partial(daemon.ask, "POST", f"{chat}/messages", message(text)) for text in texts]

        first, second = await both(*sending)

        assert [200, 200] == [first.status, second.status]
        queued = {first.said["queued"], second.said["queued"]}
        assert False in queued
        if True not in queued:
            await daemon.at_rest(chat)
            continue
        met += 1
        order = [a, b] if second.said["queued"] else [b, a]
        expected = [
            row for text in ("hello", *order) for row in ((USER, text), (ASSISTANT, "done"))
        ]
        assert expected == await daemon.at_rest(chat)
    assert met


async def test_a_message_and_an_interrupt_at_once_lose_nothing(slow_daemon):
    daemon = slow_daemon
    for turn in range(ROUNDS):
        chat = await daemon.begin("hello")
        send = partial(daemon.ask, "POST", f"{chat}/messages", message("more"))
        interrupt = partial(daemon.ask, "POST", f"{chat}/interrupt")

        sent, interrupted = await both(
            partial(after, turn * 10, send), partial(after, turn * 8, interrupt)
        )

        history = await daemon.at_rest(chat)
        assert 200 == sent.status
        assert interrupted.status in (200, 409)
        assert ["hello", "more"] == [text for role, text in history if role is USER]
        assert (USER, "hello") == history[0]


async def test_an_interrupting_message_comes_next(slow_daemon):
    daemon = slow_daemon
    for turn in range(ROUNDS):
        chat = await daemon.begin("hello")
        await trio.sleep(turn * 0.008)

        sent = await daemon.ask(
            "POST", f"{chat}/messages", message("stop", busy_behavior="interrupt")
        )

        history = await daemon.at_rest(chat)
        assert 200 == sent.status
        assert ["hello", "stop"] == [text for role, text in history if role is USER]
        assert ASSISTANT is history[-1][0]


async def test_an_edit_in_the_middle_of_a_turn_leaves_nothing_of_it(slow_daemon):
    daemon = slow_daemon
    for turn in range(ROUNDS):
        chat = await daemon.begin("hello")
        [first] = (await daemon.ask("GET", f"{chat}/messages")).said["messages"][-1:]
        await trio.sleep(turn * 0.010)

        edited = await daemon.ask("PATCH", f"{chat}/messages/{first['id']}", message("anew"))

        assert 200 == edited.status
        assert first["id"] in edited.said["deleted_message_ids"]
        history = await daemon.at_rest(chat)
        assert [USER, ASSISTANT] == [role for role, _ in history]
        assert "anew" == history[0][1]


async def test_two_promotions_at_once_both_come_to_their_turn(slow_daemon):
    daemon = slow_daemon
    chat = await daemon.begin(ENDLESS)
    texts = ["a [[deltas: 3]]", "b [[deltas: 3]]"]  # read together with a turn that said nothing
    for text in texts:
        await daemon.ask("POST", f"{chat}/messages", message(text))
    queued = (await daemon.ask("GET", f"{chat}/messages")).said["queued_messages"]
    promoting = [partial(daemon.ask, "POST", f"{chat}/queue/{row['id']}/promote") for row in queued]

    answers = await both(*promoting)

    history = await daemon.at_rest(chat)
    assert 202 in [answer.status for answer in answers]
    assert {ENDLESS, *texts} == {text for role, text in history if role is USER}


async def test_steering_enters_the_running_turn(fresh):
    calls = Behaviour(text="done", tool_calls=(ScriptedCall(DYNAMIC, "{}"),))
    async with a_daemon(fresh, calls) as daemon:
        chat = await daemon.begin("hello", tools=[DYNAMIC])
        await daemon.until(chat, lambda s: s.chat.status is Status.REQUIRES_ACTION)

        left = "left [[tool-rounds: 0]]"
        sent = await daemon.ask("POST", f"{chat}/messages", message(left, busy_behavior="steer"))
        answered = await daemon.ask("POST", f"{chat}/tool-results", await answers_of(daemon, chat))

        history = await daemon.at_rest(chat)
        assert (True, 204) == (sent.said["queued"], answered.status)
        roles = [USER, ASSISTANT, Role.TOOL, USER, ASSISTANT]
        assert roles == [role for role, _ in history][: len(roles)]
        assert left == history[3][1]


async def test_of_two_answers_of_a_clients_tools_the_first_counts(fresh):
    calls = Behaviour(text="done", tool_calls=(ScriptedCall(DYNAMIC, "{}"),))
    async with a_daemon(fresh, calls) as daemon:
        chat = await daemon.begin("hello", tools=[DYNAMIC])
        await daemon.until(chat, lambda s: s.chat.status is Status.REQUIRES_ACTION)
        answer = await answers_of(daemon, chat)
        answering = partial(daemon.ask, "POST", f"{chat}/tool-results", answer)

        answers = await both(answering, answering, answering)

        assert [204, 409, 409] == sorted(answer.status for answer in answers)
        history = await daemon.at_rest(chat)
        assert [USER, ASSISTANT, Role.TOOL, ASSISTANT] == [role for role, _ in history]


async def answers_of(daemon, chat):
    history = await daemon.chats.store.reading.history(chat)
    [call] = [part for part in history[-1].body.parts if hasattr(part, "args")]
    return {"results": [{"tool_call_id": call.id, "output": {"is": "fine"}}]}


async def test_what_was_said_before_an_interruption_is_kept(slow_daemon):
    daemon = slow_daemon
    chat = await daemon.begin(ENDLESS)
    await daemon.until(chat, partial(has_said, daemon))

    answer = await daemon.ask("POST", f"{chat}/interrupt")

    assert (200, "interrupting") == (answer.status, answer.said["status"])
    await daemon.at_rest(chat)
    history = await daemon.chats.store.reading.history(chat)
    assert "hello" == said_in(history[0]).rpartition(" ")[2]
    assert 2 == len(history)
    assert said_in(history[1])


def has_said(daemon, stored):
    """As far as its watchers are shown."""
    chat = stored.chat
    key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
    episode = daemon.chats.previews.find(key)
    return episode is not None and len(episode.encoded) > 3
