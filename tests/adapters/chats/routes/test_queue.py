"""What waits: taken out, put first, reworded, put into another order."""

from uuid import uuid4

import pytest

from actors.law import requests as ask
from actors.law.states import State, Status, state_of
from tests.actors.law.chats import ANN, BOB, send
from tests.adapters.chats.routes.ground import ADA, MODELS, message
from tests.contracts.given import a_chat, applied
from tests.contracts.test_store_matrix import chats_in

WITH_QUEUE = (State.E1, State.R1, State.I1, State.A1)
WITHOUT = (State.W, State.E0, State.R0, State.I0, State.A0)
PROMOTED = {
    State.E1: Status.RUNNING,
    State.A1: Status.RUNNING,
    State.R1: Status.INTERRUPTING,
    State.I1: Status.INTERRUPTING,
}


async def a_queue(ground, *texts):
    """A running chat with these in its queue: its id, and theirs."""
    chat = await a_chat(ground.store)
    made = await applied(ground.store.ledger.apply(chat, [send(each) for each in texts]))
    return chat, made.queued_ids


async def waiting(ground, chat):
    return [row.message.parts[0].text for row in (await ground.store.rows(chat)).queue]


@pytest.mark.parametrize("state", WITH_QUEUE)
async def test_what_waits_can_be_taken_out(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)
        head, *rest = before.queue

        answer = await ground.ask(ANN, "DELETE", f"{chat}/queue/{head.id}")

        after = await ground.store.rows(chat)
        assert (204, b"") == (answer.status, answer.body)
        assert (before.chat.status, tuple(rest)) == (after.chat.status, after.queue)


async def test_what_steers_says_so(ground):
    chat = await a_chat(ground.store)
    for busy in ("queue", "steer", "interrupt"):
        body = message(busy, busy_behavior=busy)
        assert 200 == (await ground.ask(ANN, "POST", f"{chat}/messages", body)).status

    page = await ground.ask(ANN, "GET", f"{chat}/messages")

    shown = {
        row["content"][0]["text"]: row.get("busy_behavior") for row in page.said["queued_messages"]
    }
    assert {"queue": None, "steer": "steer", "interrupt": None} == shown


@pytest.mark.parametrize("state", WITH_QUEUE)
async def test_what_is_promoted_comes_next(ground, state):
    for chat in await chats_in(ground.store, state):
        before = await ground.store.rows(chat)
        last = before.queue[-1]

        answer = await ground.ask(ANN, "POST", f"{chat}/queue/{last.id}/promote")

        after = await ground.store.rows(chat)
        assert (202, {"message"}) == (answer.status, answer.said.keys())
        assert PROMOTED[state] is after.chat.status
        if after.chat.status is Status.RUNNING:
            assert last.message.parts == after.messages[-1].body.parts
            assert last.id not in {row.id for row in after.queue}
        else:
            assert last.id == after.queue[0].id


@pytest.mark.parametrize("state", WITHOUT)
async def test_where_nothing_waits_nothing_can_be_done_to_it(ground, state):
    [chat] = await chats_in(ground.store, state)
    before = await ground.store.rows(chat)

    answers = [
        await ground.ask(ANN, "DELETE", f"{chat}/queue/1"),
        await ground.ask(ANN, "POST", f"{chat}/queue/1/promote"),
        await ground.ask(ANN, "PATCH", f"{chat}/queue/1", message("a")),
        await ground.ask(ANN, "PUT", f"{chat}/queue/order", {"order": []}),
    ]

    assert [409] * 4 == [answer.status for answer in answers]
    assert before == await ground.store.rows(chat)


async def test_in_an_archive_nothing_moves(ground):
    for chat in await chats_in(ground.store, State.XE1):
        id = (await ground.store.rows(chat)).queue[0].id
        before = await ground.store.rows(chat)

        answers = [
            await ground.ask(ANN, "DELETE", f"{chat}/queue/{id}"),
            await ground.ask(ANN, "POST", f"{chat}/queue/{id}/promote"),
            await ground.ask(ANN, "PATCH", f"{chat}/queue/{id}", message("a")),
            await ground.ask(ANN, "PUT", f"{chat}/queue/order", {"order": [id]}),
        ]

        assert [409, 400, 400, 409] == [answer.status for answer in answers]
        assert before == await ground.store.rows(chat)


async def test_what_does_not_wait_here_is_not_found(ground):
    chat, _ = await a_queue(ground, "a")
    _, [elsewhere] = await a_queue(ground, "b")

    for id, status in ((elsewhere, 404), ("0", 400), ("x", 400), (2**64, 400)):
        answers = [
            await ground.ask(ANN, "DELETE", f"{chat}/queue/{id}"),
            await ground.ask(ANN, "POST", f"{chat}/queue/{id}/promote"),
            await ground.ask(ANN, "PATCH", f"{chat}/queue/{id}", message("a")),
        ]
        assert [status] * 3 == [answer.status for answer in answers]


async def test_who_may_do_what(ground):
    chat, [a, b] = await a_queue(ground, "a", "b")
    asked = (
        ("POST", f"{chat}/queue/{a}/promote", None),
        ("PATCH", f"{chat}/queue/{a}", message("A")),
        ("PUT", f"{chat}/queue/order", {"order": [b, a]}),
        ("DELETE", f"{chat}/queue/{a}", None),
    )

    async def statuses(who):
        return [(await ground.ask(who, method, path, said)).status for method, path, said in asked]

    assert [404] * 4 == await statuses(BOB)
    assert [403, 403, 200, 204] == await statuses(ADA)


async def test_what_waits_is_reworded_in_its_place(ground):
    chat, [a, b, c] = await a_queue(ground, "a", "b", "c")
    model = MODELS[-1]

    reworded = await ground.ask(ANN, "PATCH", f"{chat}/queue/{b}", message("B"))
    chosen = message("C", model_config_id=str(model), reasoning_effort="low")
    rechosen = await ground.ask(ANN, "PATCH", f"{chat}/queue/{c}", chosen)
    kept = await ground.ask(ANN, "PATCH", f"{chat}/queue/{c}", message("D", reasoning_effort="max"))

    assert (200, b, "B") == (
        reworded.status,
        reworded.said["id"],
        reworded.said["content"][0]["text"],
    )
    assert str(model) == rechosen.said["model_config_id"] == kept.said["model_config_id"]
    assert ["a", "B", "D"] == await waiting(ground, chat)
    rows = (await ground.store.rows(chat)).queue
    assert [(a, None), (b, None), (c, "max")] == [
        (row.id, row.message.reasoning_effort) for row in rows
    ]
    assert reworded.said["created_at"] == rows[1].created_at.isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    "said",
    [{}, {"content": []}, message(" "), message("a", model_config_id=str(uuid4()))],
)
async def test_it_cannot_be_reworded_to_nothing(ground, said):
    chat, [a] = await a_queue(ground, "a")

    assert 400 == (await ground.ask(ANN, "PATCH", f"{chat}/queue/{a}", said)).status
    assert ["a"] == await waiting(ground, chat)


async def test_the_queue_is_put_into_another_order(ground):
    chat, [a, b, c] = await a_queue(ground, "a", "b", "c")

    answer = await ground.ask(ANN, "PUT", f"{chat}/queue/order", {"order": [c, a, b]})

    assert [c, a, b] == [row["id"] for row in answer.said["queued_messages"]]
    assert ["c", "a", "b"] == await waiting(ground, chat)


async def test_who_has_not_seen_the_newest_queue_is_shown_its_order(ground):
    chat, [a, b] = await a_queue(ground, "a", "b")

    for order in ([a], [a, b, b], [b, a, 2**62], []):
        answer = await ground.ask(ANN, "PUT", f"{chat}/queue/order", {"order": order})
        assert 409 == answer.status
        assert f"{a}, {b}" in answer.said["detail"]
    for nonsense in ({}, {"order": None}, {"order": ["a"]}, {"order": 1}):
        answer = await ground.ask(ANN, "PUT", f"{chat}/queue/order", nonsense)
        assert 400 == answer.status
    assert ["a", "b"] == await waiting(ground, chat)


async def test_what_has_been_reordered_is_taken_in_that_order(ground):
    chat, [a, b] = await a_queue(ground, "a", "b")
    await ground.ask(ANN, "PUT", f"{chat}/queue/order", {"order": [b, a]})

    await applied(ground.store.ledger.apply(chat, [ask.FinishTurn()]))

    kept = await ground.store.rows(chat)
    assert "b" == kept.messages[-1].body.parts[0].text
    assert State.R1 is state_of(kept.chat.status, queued=True, archived=False)
    assert [a] == [row.id for row in kept.queue]
