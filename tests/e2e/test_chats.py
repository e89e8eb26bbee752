"""Chats on a real daemon, a real database and a model in a process of its own."""

import json
from dataclasses import replace
from typing import NamedTuple

import pytest
import trio

from actors.law.parts.message import JsonText, ToolCallPart, ToolResultPart
from actors.law.requests import (
    BusyBehaviour,
    CompleteRequiresAction,
    DynamicResult,
    DynamicTool,
    EditMessage,
    Interrupt,
    SendMessage,
)
from actors.upkeep.title_wording import fallback_title
from adapters.models.provider_config import named_model
from tests.e2e.clients import LOOK_SECONDS, a_client
from tests.e2e.conftest import a_database
from tests.e2e.crossing import ADMIN, sites
from tests.e2e.daemons import Daemon, a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import KEY, a_provider

pytestmark = pytest.mark.slow

WIRES = {
    "/v1/messages": named_model("anthropic", "claude-sonnet-4-5"),
    "/v1/responses": named_model("openai", "gpt-5"),
    "/v1/chat/completions": named_model("openai-compat", "default"),
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent": named_model("google", "gemini-2.5-pro"),
}
SLOWLY = "[[deltas: 6000]] [[delta-ms: 50]]"  # five minutes of answer: more than any test waits


class House(NamedTuple):
    """One daemon for all stories in which it comes to no harm, and the database it works on."""

    daemon: Daemon
    database: str


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def house(provider, server, tmp_path_factory):
    with a_database(server, "chats") as database:
        home = tmp_path_factory.mktemp("chats")
        settings = {**provider.settings, "PROMPTCORNER_ADMIN_TOKEN": ADMIN}
        with a_daemon(home, DATABASE_URL=database, **settings) as daemon:
            daemon.wait_ready()
            yield House(daemon, database)
            assert 0 == daemon.stop()
            assert [] == [e for e in daemon.entries if e["level"] == "error"]
            assert KEY not in json.dumps(daemon.entries)


@pytest.fixture
async def client(house):
    async with a_client(house.database) as client:
        yield client


@pytest.mark.parametrize("path", WIRES)
async def test_a_chat_is_answered_on_every_wire(path, client, provider):
    chat = await client.create("[[text: Good evening, Ann.]]", model=WIRES[path])

    said = await client.answer(chat)

    assert "Good evening, Ann." == said
    assert [path] == [request["path"].partition("?")[0] for request in provider.requests(chat)]
    stored = await client.view(chat)
    assert (None, 0) == (stored.chat.holder, len(stored.queue))
    [_, answer] = await client.history(chat)
    assert answer.body.model_config_id == WIRES[path]
    assert answer.body.usage.output_tokens


@pytest.mark.parametrize("path", WIRES)
async def test_tools_of_the_client_are_offered_awaited_and_gone_on_from(path, client, provider):
    weather = DynamicTool("weather", "The weather", JsonText('{"properties":{"city":{}}}'))
    ask = '[[tool-calls: weather:{"city":"Rome"}]] [[text: Sunny.]]'
    chat = await client.create(ask, model=WIRES[path], dynamic_tools=(weather,))

    asking = await client.until(chat, "requires_action")
    [call] = [p for body in asking.tail for p in body.parts if isinstance(p, ToolCallPart)]
    result = DynamicResult(call.id, '{"sky":"clear"}')
    await client.ask(chat, CompleteRequiresAction((result,), client.user))
    said = await client.answer(chat)

    assert "Sunny." == said
    history = await client.history(chat)
    roles = [message.body.role.value for message in history]
    assert ["user", "assistant", "tool", "assistant"] == roles
    [called] = history[1].body.parts
    [answered] = history[2].body.parts
    assert isinstance(called, ToolCallPart)
    assert ("weather", {"city": "Rome"}) == (called.name, json.loads(called.args))
    assert isinstance(answered, ToolResultPart)
    assert called.id == answered.id
    first, second = provider.requests(chat)
    assert '"The weather"' in json.dumps(first["body"])
    assert "clear" in json.dumps(second["body"])


async def test_an_interrupt_keeps_what_was_said_so_far(house, client):
    begun = await client.answer(await client.create("[[deltas: 10]]"))
    chat = await client.create("[[deltas: 40]] [[fault: silence:10]]")
    async with sites(house.daemon) as [site]:
        watcher = await site.watch(chat)
        await watcher.until(lambda seen: spoken(seen) == begun)

    await client.ask(chat, Interrupt())

    assert begun == await client.answer(chat)


def spoken(seen):
    parts = [event["message_part"]["part"] for event in seen.told if "message_part" in event]
    return "".join(part.get("text", "") for part in parts)


async def test_an_interrupt_with_a_message_behind_it_goes_on_with_that(client, provider):
    chat = await client.create(SLOWLY)
    await provider.asked(chat)

    await client.send(chat, "[[text: Yes?]]", busy=BusyBehaviour.INTERRUPT)

    assert "Yes?" == await client.answer(chat)
    assert "user" == (await client.said(chat))[-2][0]


async def test_an_edit_in_mid_answer_drops_it_and_answers_anew(client, provider):
    chat = await client.create(SLOWLY)
    await provider.asked(chat)
    [first] = await client.history(chat)

    await client.ask(chat, EditMessage(first.id, client.says("[[text: Better so.]]")))

    assert "Better so." == await client.answer(chat)
    assert [("user", "[[text: Better so.]]"), ("assistant", "Better so.")] == await client.said(
        chat
    )


async def test_an_edit_of_a_turn_that_is_over_answers_anew(client):
    chat = await client.create("[[text: One.]]")
    await client.answer(chat)
    await client.send(chat, "[[text: Two.]]")
    await client.answer(chat)
    [first, *_] = await client.history(chat)

    await client.ask(chat, EditMessage(first.id, client.says("[[text: Three.]]")))

    assert "Three." == await client.answer(chat)
    assert 2 == len(await client.said(chat))


async def test_what_is_sent_meanwhile_waits_and_is_answered_in_order(client, provider):
    with provider.frozen():
        chat = await client.create("[[text: One.]]")
        await client.send(chat, "[[text: Two.]]")
        await client.send(chat, "[[text: Three.]]")
        queued = (await client.view(chat)).queue

    assert "Three." == await client.answer(chat)
    said = [text for role, text in await client.said(chat) if role == "assistant"]
    assert (2, ["One.", "Two.", "Three."]) == (len(queued), said)


# A fault of the first attempt: how the pause behind it is announced. Chance adds up to a half.
TRIED_AGAIN = {
    "529": ("overloaded", 529, 1000),
    "429:2": ("rate_limit", 429, 2000),
    "500": ("generic", 500, 1000),
    "502": ("timeout", 502, 1000),
    "reset:0": ("timeout", None, 1000),
    "reset:3": ("timeout", None, 1000),
    "hangup:3": ("timeout", None, 1000),
    "truncate:3": ("timeout", None, 1000),
}


async def test_what_may_pass_is_tried_again_on_every_wire(client):
    async def story(path, fault):
        text = f"[[text: At last.]] [[delta-chars: 1]] [[fault: {fault}@1]]"
        chat = await client.create(text, model=WIRES[path])
        answers.add(await client.answer(chat))
        [retry] = await client.retries(chat)
        announced[path, fault] = (retry["kind"], retry.get("status_code"))
        delays.append(retry["delay_ms"] / TRIED_AGAIN[fault][-1])
        assert 2 == len(await client.history(chat))

    announced, delays, answers = {}, [], set()
    await client.note_retries()
    async with trio.open_nursery() as nursery:
        for path in WIRES:
            for fault in TRIED_AGAIN:
                nursery.start_soon(story, path, fault)

    assert {(path, f): TRIED_AGAIN[f][:2] for path in WIRES for f in TRIED_AGAIN} == announced
    assert 1 <= min(delays) < max(delays) <= 1.5
    assert {"At last."} == answers


# A fault of every attempt: the error that the chat stops with. Where a prompt is too long a summary
# is tried (tests/adapters/chats/routes/test_long_chats.py).
ENDS_THE_TURN = {
    "401": ("auth", 401),
    "400": ("generic", 400),
    "refusal": ("content_filter", None),
    "filter": ("content_filter", None),
    "garbage:3": ("generic", None),
}


async def test_what_cannot_help_is_not_tried_again_on_any_wire(client, provider):
    async def story(path, fault):
        chat = await client.create(f"[[fault: {fault}]]", model=WIRES[path])
        stopped = await client.until(chat, "error")
        error = stopped.chat.last_error
        told[path, fault] = (error.kind, error.status_code)
        assert not error.retryable
        assert error.message.endswith(".")
        assert 1 == len(provider.requests(chat))

    told = {}
    async with trio.open_nursery() as nursery:
        for path in WIRES:
            for fault in ENDS_THE_TURN:
                nursery.start_soon(story, path, fault)

    assert {(path, f): ENDS_THE_TURN[f] for path in WIRES for f in ENDS_THE_TURN} == told


async def test_a_chat_goes_on_with_another_provider_whatever_was_said(client, provider):
    weather = DynamicTool("weather", "The weather", JsonText('{"properties":{"city":{}}}'))
    chat = await client.create("[[text: Nothing yet.]]", dynamic_tools=(weather,))
    await client.answer(chat)

    for number, (path, model) in enumerate(WIRES.items()):
        call = '[[reasoning: 3]] [[tool-calls: weather:{"city":"Rome"}]]'
        said = client.says(f"{call} [[text: Sunny, {number}.]]")
        await client.ask(chat, SendMessage(replace(said, model_config_id=model)))
        asking = await client.until(chat, "requires_action")
        [called] = [p for body in asking.tail for p in body.parts if isinstance(p, ToolCallPart)]
        result = DynamicResult(called.id, '{"sky":"clear"}')
        await client.ask(chat, CompleteRequiresAction((result,), client.user))
        assert f"Sunny, {number}." == await client.answer(chat)

        newest = provider.requests(chat)[-1]
        sent = json.dumps(newest["body"])
        assert path == newest["path"].partition("?")[0]
        assert all(f"Sunny, {earlier}." in sent for earlier in range(number))
        assert number + 1 == sent.count("clear"), "every call goes with its result"


@pytest.mark.parametrize("path", WIRES)
async def test_what_no_database_takes_comes_back_as_it_was_said(path, client, provider):
    text = "nul \0, U+E000 \ue000, \U0001f600."
    chat = await client.create(f"[[text: {text}]] [[delta-chars: 1]]", model=WIRES[path])

    assert text == await client.answer(chat)

    assert text in (await client.said(chat))[0][1]
    [request] = provider.requests(chat)
    assert json.dumps(text)[1:-1] in json.dumps(request["body"])


async def test_an_overloaded_provider_is_asked_again_and_says_so_meanwhile(client):
    await client.note_retries()
    chat = await client.create("[[text: At last.]] [[fault: 529@1]]")

    assert "At last." == await client.answer(chat)
    [retry] = await client.retries(chat)
    assert ("running", 1, 529) == (retry["status"], retry["attempt"], retry["status_code"])
    assert None is (await client.view(chat)).chat.retry_state


async def test_an_answer_that_its_provider_pauses_comes_whole(client, provider):
    words = "[[text: Half, and then the rest.]] [[fault: pause:1@1]]"
    chat = await client.create(words, model=WIRES["/v1/messages"])

    assert "Half, and then the rest." == await client.answer(chat)

    assert 2 == len(await client.history(chat))
    first, second = (request["body"]["messages"] for request in provider.requests(chat))
    assert [*first, second[-1]] == second
    assert ("assistant", "Half,") == (second[-1]["role"], second[-1]["content"][0]["text"])


async def test_a_refused_key_stops_the_chat_with_words_for_its_user(client):
    chat = await client.create("[[fault: 401]]")

    stopped = await client.until(chat, "error")

    assert ("auth", 401, False) == (
        stopped.chat.last_error.kind,
        stopped.chat.last_error.status_code,
        stopped.chat.last_error.retryable,
    )
    [first] = await client.history(chat)
    await client.ask(chat, EditMessage(first.id, client.says("[[text: Better.]]")))
    assert "Better." == await client.answer(chat)


async def test_a_new_chat_is_given_a_title_by_the_model(client, provider):
    text = "Tell me about the moon and the tides, please, and at length"
    first_words = fallback_title(text)
    chat = await client.create(text, title=first_words)

    await client.answer(chat)

    with trio.fail_after(EVENTUALLY_SECONDS):
        while (title := await client.title(chat)) == first_words:
            await trio.sleep(LOOK_SECONDS)
    assert title
    assert 2 == len(provider.requests(chat))


async def test_how_long_a_model_is_waited_for_can_be_set(provider, home, database):
    guards = {"PROMPTCORNER_STARTUP_SECONDS": "3", "PROMPTCORNER_SILENCE_SECONDS": "3"}
    with a_daemon(home, DATABASE_URL=database, **guards, **provider.settings) as daemon:
        daemon.wait_ready()
        async with a_client(database) as client:
            await client.note_retries()
            for fault in ("silence:0", "silence:3"):
                chat = await client.create(f"[[fault: {fault}@1]] [[deltas: 5]]")
                assert await client.answer(chat)
                [retry] = await client.retries(chat)
                assert "stream_silence_timeout" == retry["kind"]
                assert 2 == len(provider.requests(chat))
        assert 0 == daemon.stop()
