"""What is done to a turn: interrupted, answered by the client's tools, put right."""

from uuid import uuid4

import pytest

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.parts.message import ToolResultPart
from actors.law.states import State, Status
from adapters.rehearsal.behaviour import Behaviour, read_rules
from tests.actors.law.chats import (
    ANN,
    ARCHIVED,
    BOB,
    DYNAMIC,
    LIVE,
    LOCAL,
    RETRY,
    assistant,
    call,
    step,
)
from tests.adapters.chats.routes.daemon import a_daemon
from tests.adapters.chats.routes.ground import ADA, MODELS
from tests.contracts.given import a_chat, applied
from tests.contracts.test_store_matrix import chats_in

INTERRUPTED = {
    State.R0: "interrupting",
    State.R1: "interrupting",
    State.A0: "running",
    State.A1: "running",
}


async def a_chat_that_asks(ground, *calls):
    """In `requires_action`, with these calls open."""
    chat = await a_chat(ground.store, tools=[DYNAMIC])
    asking = [step(assistant(*calls or (call("a", DYNAMIC),))), ask.EnterRequiresAction()]
    await applied(ground.store.ledger.apply(chat, asking))
    return chat


def results(*said):
    return {"results": [{"tool_call_id": id, "output": output} for id, output in said]}


@pytest.mark.parametrize("state", [state for state in State if state is not State.INVALID])
async def test_only_a_turn_that_runs_is_interrupted(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)

        answer = await ground.ask(ANN, "POST", f"{chat}/interrupt")

        after = await ground.store.rows(chat)
        if state in INTERRUPTED:
            assert (200, INTERRUPTED[state]) == (answer.status, answer.said["status"])
            assert (str(chat), str(ANN)) == (answer.said["id"], answer.said["owner_id"])
            assert INTERRUPTED[state] == after.chat.status.value
        elif state in (State.I0, State.I1):
            assert (200, "interrupting") == (answer.status, answer.said["status"])
            assert before == after
        else:
            assert 409 == answer.status
            assert before == after


RETRIED = {State.E0: State.R0, State.E1: State.R1}


@pytest.mark.parametrize("state", [state for state in State if state is not State.INVALID])
async def test_only_a_turn_that_failed_is_tried_again(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)

        answer = await ground.ask(ANN, "POST", f"{chat}/retry")

        after = await ground.store.rows(chat)
        if state in RETRIED:
            assert (200, "running") == (answer.status, answer.said["status"])
            assert "last_error" not in answer.said
            assert (Status.RUNNING, None) == (after.chat.status, after.chat.last_error)
            assert (before.messages, before.queue) == (after.messages, after.queue)
        else:
            assert (400 if before.chat.archived else 409) == answer.status
            assert before == after


async def test_a_pause_is_over_when_the_user_says_so_once(ground):
    [chat] = await chats_in(ground.store, State.R0)
    await applied(ground.store.ledger.apply(chat, [ask.RecordRetryState(RETRY)]))

    answers = [await ground.ask(ANN, "POST", f"{chat}/retry", {}) for _ in range(2)]

    assert [200, 409] == [answer.status for answer in answers]
    after = (await ground.store.rows(chat)).chat
    assert (None, 0) == (after.retry_state, after.provider_failures_count)


async def test_a_turn_is_tried_again_with_another_model(ground):
    [chat] = await chats_in(ground.store, State.E0)
    body = {"model_config_id": str(MODELS[-1]), "reasoning_effort": "low"}

    for wrong in ({"model_config_id": str(uuid4())}, {"reasoning_effort": "much"}):
        assert 400 == (await ground.ask(ANN, "POST", f"{chat}/retry", wrong)).status
    answer = await ground.ask(ANN, "POST", f"{chat}/retry", body)

    assert 200 == answer.status
    assert body["model_config_id"] == answer.said["last_model_config_id"]
    after = (await ground.store.rows(chat)).chat
    assert (MODELS[-1], "low") == (after.last_model_config_id, after.last_reasoning_effort)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["429:600@1", "401@1"])
async def test_the_next_attempt_is_made_at_once(fresh, fault):
    async with a_daemon(fresh, Behaviour(text="done", faults=read_rules(fault))) as daemon:
        chat = await daemon.begin("hello")
        await daemon.until(chat, lambda s: s.chat.retry_state or s.chat.status is Status.ERROR)

        answer = await daemon.ask("POST", f"{chat}/retry")

        assert (200, "running") == (answer.status, answer.said["status"])
        assert [(Role.USER, "hello"), (Role.ASSISTANT, "done")] == await daemon.at_rest(chat)


async def test_only_the_owner_tries_a_turn_again(ground):
    [chat] = await chats_in(ground.store, State.E0)

    assert [404, 403, 200] == [
        (await ground.ask(who, "POST", f"{chat}/retry")).status for who in (BOB, ADA, ANN)
    ]


@pytest.mark.parametrize("state", State)
async def test_only_what_makes_no_sense_is_put_right(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)

        answer = await ground.ask(ANN, "POST", f"{chat}/reconcile-invalid")

        after = await ground.store.rows(chat)
        if state is State.INVALID:
            assert (200, "error") == (answer.status, answer.said["status"])
            assert "invalid state" in answer.said["last_error"]["message"]
            assert (Status.ERROR, False) == (after.chat.status, after.chat.archived)
        else:
            assert (409, before) == (answer.status, after)


async def test_who_may_interrupt_need_not_be_the_owner_who_answers_must(ground):
    chat = await a_chat_that_asks(ground)

    async def statuses(who):
        return [
            (await ground.ask(who, "POST", f"{chat}/tool-results", results())).status,
            (await ground.ask(who, "POST", f"{chat}/reconcile-invalid")).status,
            (await ground.ask(who, "POST", f"{chat}/interrupt")).status,
        ]

    assert [404, 404, 404] == await statuses(BOB)
    assert [403, 409, 200] == await statuses(ADA)
    assert [404] == [(await ground.ask(ANN, "POST", f"{uuid4()}/interrupt")).status]


async def test_all_answers_come_together_and_the_turn_goes_on(ground):
    chat = await a_chat_that_asks(ground, call("a", DYNAMIC), call("b", DYNAMIC))
    said = results(("b", {"x": [1, "é"]}), ("a", "fine"))
    said["results"][1]["is_error"] = True

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", said)

    after = await ground.store.rows(chat)
    assert (204, b"", Status.RUNNING) == (answer.status, answer.body, after.chat.status)
    rows = [m.body for m in after.messages[-2:]]
    assert [ANN, ANN] == [body.created_by for body in rows]
    [[first], [second]] = [body.parts for body in rows]
    assert isinstance(first, ToolResultPart)
    assert ("b", '{"x":[1,"é"]}', False) == (first.id, first.result, first.is_error)
    assert ("a", '"fine"', True) == (second.id, second.result, second.is_error)


@pytest.mark.parametrize(
    ("said", "detail"),
    [
        ([("a", 1), ("a", 2)], "a is answered twice"),
        ([("a", 1)], "b is not answered"),
        ([("a", 1), ("c", 2)], "b is not answered"),
        ([("a", 1), ("b", 2), ("c", 3)], "nobody asked for tool call c"),
        ([("c", 1), ("c", 2)], "c is answered twice"),
    ],
)
async def test_what_does_not_fit_the_calls_is_named(ground, said, detail):
    chat = await a_chat_that_asks(ground, call("a", DYNAMIC), call("b", DYNAMIC))
    before = await ground.store.rows(chat)

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", results(*said))

    assert 400 == answer.status
    assert detail in answer.said["detail"]
    assert before == await ground.store.rows(chat)


async def test_an_output_that_is_none_is_refused_and_null_is_one(ground):
    chat = await a_chat_that_asks(ground)
    path = f"{chat}/tool-results"

    missing = await ground.ask(ANN, "POST", path, {"results": [{"tool_call_id": "a"}]})
    broken = await ground.ask(
        ANN, "POST", path, body=b'{"results": [{"tool_call_id": "a", "output": nonsense}]}'
    )
    null = await ground.ask(ANN, "POST", path, results(("a", None)))

    assert (400, 400, 204) == (missing.status, broken.status, null.status)
    assert "not valid JSON" in missing.said["detail"]


async def test_only_the_first_answer_counts(ground):
    chat = await a_chat_that_asks(ground)

    first = await ground.ask(ANN, "POST", f"{chat}/tool-results", results(("a", 1)))
    after = await ground.store.rows(chat)
    second = await ground.ask(ANN, "POST", f"{chat}/tool-results", results(("a", 2)))

    assert (204, 409) == (first.status, second.status)
    assert after == await ground.store.rows(chat)


async def test_who_is_too_late_is_told_the_status(ground):
    chat = await a_chat_that_asks(ground)
    await ground.ask(ANN, "POST", f"{chat}/tool-results", results(("a", 1)))

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", results(("a", 1)))

    assert (409, "its status is running: it is running, and nothing is queued") == (
        answer.status,
        answer.said["detail"],
    )


@pytest.mark.parametrize(
    "output", ["[" * 20_000 + "]" * 20_000, '{"a":' * 90_000 + "1" + "}" * 90_000]
)
async def test_what_is_nested_deeper_than_anybody_reads_is_no_json(ground, output):
    chat = await a_chat_that_asks(ground)
    said = f'{{"results": [{{"tool_call_id": "a", "output": {output}}}]}}'

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", body=said.encode())

    assert (400, "it is nested too deep") == (answer.status, answer.said["detail"])


async def test_an_output_is_kept_byte_for_byte_whatever_a_database_makes_of_it(ground):
    chat = await a_chat_that_asks(ground)
    output = '{"nul": "\\u0000", "own": "\ue000", "number": 1e999, "twice": 1, "twice": 2}'
    said = f'{{"results": [{{"tool_call_id": "a", "output": {output}}}]}}'

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", body=said.encode())

    [*_, message] = (await ground.store.rows(chat)).messages
    [result] = message.body.parts
    assert (204, output) == (answer.status, result.result)


async def test_calls_of_other_tools_are_not_the_clients_to_answer(ground):
    chat = await a_chat_that_asks(ground, call("a", DYNAMIC), call("b", LOCAL))

    answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", results(("a", 1), ("b", 2)))

    assert 400 == answer.status
    assert "nobody asked for tool call b" in answer.said["detail"]


@pytest.mark.parametrize("state", [*LIVE, *ARCHIVED, State.INVALID])
async def test_who_answers_when_nobody_asks_is_told_so(ground, state):
    for chat in await chats_in(ground.store, state):
        archived = (await ground.store.rows(chat)).chat.archived

        empty = await ground.ask(ANN, "POST", f"{chat}/tool-results", {"results": []})
        answer = await ground.ask(ANN, "POST", f"{chat}/tool-results", results(("a", 1)))

        assert 400 == empty.status
        if state in (State.A0, State.A1):
            assert 204 == answer.status
        else:
            assert (400 if archived else 409) == answer.status
