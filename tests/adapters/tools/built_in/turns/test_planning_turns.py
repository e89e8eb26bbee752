"""Turns of chats that plan, on a daemon that runs them, with a rehearsal behind it."""

import json

import pytest

from actors.law.chat import Role
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.adapters.chats.routes.daemon import a_daemon

pytestmark = pytest.mark.slow
QUESTION = {
    "header": "Which",
    "question": "Which one?",
    "options": [{"label": label, "description": "that"} for label in "AB"],
}
ASKS = ScriptedCall("ask_user_question", json.dumps({"questions": [QUESTION]}))
PROPOSES = ScriptedCall("propose_plan", json.dumps({"plan": "# Plan\n1. do it"}))


async def a_turn(daemon, **new):
    chat = await daemon.begin("change it", **new)
    await daemon.at_rest(chat)
    history = await daemon.chats.store.reading.history(chat)
    return chat, [row.body for row in history if row.body.role is not Role.SYSTEM]


@pytest.mark.parametrize("call", [ASKS, PROPOSES], ids=lambda call: call.name)
async def test_a_question_and_a_plan_end_the_turn_without_another_word(fresh, call):
    async with a_daemon(fresh, Behaviour(tool_calls=(call,))) as daemon:
        _, said = await a_turn(daemon, plan_mode="plan")

        assert [Role.USER, Role.ASSISTANT, Role.TOOL] == [body.role for body in said]
        assert not said[-1].parts[0].is_error
        assert 1 == len(daemon.rehearsal.records)


async def test_a_plan_is_a_file_of_the_chat_that_its_owner_may_open(fresh):
    async with a_daemon(fresh, Behaviour(tool_calls=(PROPOSES,))) as daemon:
        chat, said = await a_turn(daemon, plan_mode="plan")

        result, file = said[-1].parts
        answer = await daemon.ask("GET", f"files/{file.file_id}")
        view = await daemon.chats.store.reading.view(chat)

    assert str(file.file_id) == json.loads(result.result)["file_id"]
    assert (200, b"# Plan\n1. do it") == (answer.status, answer.body)
    assert "text/markdown" == file.media_type
    assert view.chat.last_error is None


async def test_a_question_that_cannot_be_shown_is_asked_again(fresh):
    wrong = ScriptedCall("ask_user_question", '{"questions": []}')
    turns = (Behaviour(tool_calls=(wrong,)), Behaviour(tool_calls=(ASKS,), tool_rounds=2))
    async with a_daemon(fresh, Behaviour(script=turns)) as daemon:
        _, said = await a_turn(daemon, plan_mode="plan")

    results = [body.parts[0] for body in said if body.role is Role.TOOL]
    assert [True, False] == [result.is_error for result in results]


async def test_a_chat_that_works_has_no_such_tools(fresh):
    async with a_daemon(fresh, Behaviour(tool_calls=(PROPOSES,))) as daemon:
        _, said = await a_turn(daemon)

        assert "there is no tool propose_plan" in said[2].parts[0].result
        assert b"plan-mode" not in daemon.rehearsal.records[0].body
