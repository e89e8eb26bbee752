"""Titles on request: asked of the chat's model, while the client waits."""

import json

import pytest
import trio

from adapters.rehearsal.behaviour import Behaviour, EndedEarly, ErrorStatus, FaultRule
from tests.adapters.edges import PATIENCE_SECONDS, eventually

pytestmark = pytest.mark.slow

CHATS = "/api/experimental/chats"

OLD = "before"
NEW = "Rehearsal"  # what the rehearsal calls everything


async def a_chat_at_rest(edge, *said):
    first, *others = said
    content = [{"type": "text", "text": first}]
    asked = {"organization_id": edge.organization, "content": content}
    chat = (await edge.member.post(CHATS, asked)).document["id"]
    await at_rest(edge, chat)
    for text in others:
        await edge.member.post(
            f"{CHATS}/{chat}/messages", {"content": [{"type": "text", "text": text}]}
        )
        await at_rest(edge, chat)
    await edge.member.patch(f"{CHATS}/{chat}", {"title": OLD})
    return chat


async def at_rest(edge, chat):
    async def waiting():
        return (await edge.member.get(f"{CHATS}/{chat}")).document["status"] == "waiting"

    await eventually(waiting)


async def title_of(edge, chat):
    return (await edge.member.get(f"{CHATS}/{chat}")).document["title"]


async def ask(edge, chat, what, who=None):
    return await (who or edge.member).post(f"{CHATS}/{chat}/title/{what}")


async def test_a_title_is_paid_for_whether_it_is_taken_or_not(edge):
    chat = await a_chat_at_rest(edge, "hello there")

    await ask(edge, chat, "regenerate")
    before = await titles_bought(edge, chat)
    await ask(edge, chat, "propose")

    assert before + 1 <= await titles_bought(edge, chat)


async def titles_bought(edge, chat):
    beside = (await edge.member.get(f"{CHATS}/{chat}/cost")).document["beside"]
    return sum(each["request_count"] for each in beside if each["what"] == "title")


async def test_a_title_is_found_stored_and_shown_to_watchers(edge):
    chat = await a_chat_at_rest(edge, "hello there")

    async with edge.member.socket(f"{CHATS}/watch") as socket:
        answer = await ask(edge, chat, "regenerate")
        with trio.fail_after(PATIENCE_SECONDS):
            event = json.loads(await socket.get_message())

    assert (200, NEW) == (answer.status, answer.document["title"])
    assert NEW == await title_of(edge, chat)
    assert ("title_change", NEW) == (event["kind"], event["chat"]["title"])


async def test_a_proposal_changes_nothing(edge):
    chat = await a_chat_at_rest(edge, "hello there")

    answer = await ask(edge, chat, "propose")

    assert (200, {"title": NEW}) == (answer.status, answer.document)
    assert OLD == await title_of(edge, chat)


async def test_the_model_is_shown_how_it_began_and_what_was_said_last(edge):
    turns = [f"this is turn {n}" for n in range(6)]
    chat = await a_chat_at_rest(edge, *turns)

    await ask(edge, chat, "propose")

    asked = json.dumps(edge.rehearsal.records[-1].document()["body"])
    shown = [turn for turn in turns if turn in asked]
    assert ["this is turn 0", "this is turn 3", "this is turn 4", "this is turn 5"] == shown


@pytest.mark.parametrize("what", ["regenerate", "propose"])
async def test_a_model_that_finds_no_title_leaves_the_one_there_is(edge, what):
    chat = await a_chat_at_rest(edge, "hello there")
    edge.rehearsal.behave(Behaviour(faults=(FaultRule(EndedEarly("length", 1)),)))

    answer = await ask(edge, chat, what)

    assert (200, OLD) == (answer.status, answer.document["title"])


async def test_a_model_that_fails_is_told_of(edge):
    chat = await a_chat_at_rest(edge, "hello there")
    edge.rehearsal.behave(Behaviour(faults=(FaultRule(ErrorStatus(401)),)))

    answer = await ask(edge, chat, "propose")

    assert (500, "The model gave no title.") == (answer.status, answer.document["message"])
    assert answer.document["detail"]


@pytest.mark.parametrize("what", ["regenerate", "propose"])
async def test_only_the_owner_asks(edge, what):
    chat = await a_chat_at_rest(edge, "hello there")

    refused = [await ask(edge, chat, what, who) for who in (edge.admin, edge.stranger)]

    assert [403, 404] == [answer.status for answer in refused]
