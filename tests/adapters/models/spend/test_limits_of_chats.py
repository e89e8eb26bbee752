"""Limits as chats meet them: money is set aside, counted with the step, and a limit ends a turn."""

import pytest

from tests.adapters.daemon.access_matrix import CHATS
from tests.adapters.edges import eventually
from tests.adapters.models.spend.given import (
    DOLLAR,
    a_chat,
    all_paid,
    at_rest,
    good,
    none_reserved,
    nothing_runs_beside,
    reservations,
    send,
    set_limit,
    spend_of,
    state_price,
)


async def test_without_a_limit_nothing_is_set_aside(edge):
    await state_price(edge)
    chat = await a_chat(edge)
    await at_rest(edge, chat, "waiting")

    assert [] == await edge.execute("SELECT * FROM spend_counters")
    assert 0 == edge.chats.spending.budgets.statistics().reserved_count


async def test_a_turn_is_counted_with_its_step(edge):
    await state_price(edge)
    await set_limit(edge, hard=1_000 * DOLLAR)
    chat = await a_chat(edge)
    await all_paid(edge, chat)

    cost = (await good(edge.member.get(f"{CHATS}/{chat}/cost")))["total_cost_micros"]
    [limit] = (await spend_of(edge))["limits"]
    assert cost == limit["spent_micros"] > 0
    assert (0, False) == (limit["reserved_micros"], limit["is_reached"])


async def test_a_hard_limit_ends_the_turn_and_says_whose_and_until_when(edge):
    await state_price(edge)
    await set_limit(edge, hard=0)
    chat = await a_chat(edge)

    error = (await at_rest(edge, chat, "error"))["last_error"]

    assert "usage_limit" == error["kind"]
    assert not error["retryable"]
    assert "Your daily limit of $0.00 is used up." in error["message"]
    assert "00:00 UTC" in error["message"]
    assert not edge.rehearsal.records


async def test_a_chat_goes_on_when_its_limit_is_raised(edge):
    await state_price(edge)
    await set_limit(edge, hard=0)
    chat = await a_chat(edge)
    await at_rest(edge, chat, "error")

    await set_limit(edge, hard=1_000 * DOLLAR)
    await send(edge, chat)

    assert "last_error" not in await at_rest(edge, chat, "waiting")


async def test_what_was_spent_before_a_limit_counts_under_it(edge):
    await state_price(edge)
    chat = await a_chat(edge)
    await all_paid(edge, chat)
    cost = (await good(edge.member.get(f"{CHATS}/{chat}/cost")))["total_cost_micros"]

    await set_limit(edge, hard=cost)
    await send(edge, chat)

    assert "usage_limit" == (await at_rest(edge, chat, "error"))["last_error"]["kind"]
    assert cost == (await spend_of(edge))["limits"][0]["spent_micros"]


async def test_a_model_without_a_price_is_refused_under_a_limit(edge):
    await set_limit(edge, hard=1_000 * DOLLAR)
    chat = await a_chat(edge)

    error = (await at_rest(edge, chat, "error"))["last_error"]

    assert "usage_limit" == error["kind"]
    assert "is not known" in error["message"]


async def test_the_deployments_limit_holds_for_all(edge):
    await state_price(edge)
    await set_limit(edge, "deployment", "month", hard=0)
    chat = await a_chat(edge, who=edge.stranger)

    error = (await at_rest(edge, chat, "error"))["last_error"]

    assert "The monthly limit of this deployment of $0.00 is used up." in error["message"]


async def test_a_failed_call_gives_its_money_back(edge):
    await state_price(edge)
    await set_limit(edge, hard=1_000 * DOLLAR)
    chat = await a_chat(edge, "[[fault: 400]] hello")
    await at_rest(edge, chat, "error")
    await nothing_runs_beside(edge)

    [limit] = (await spend_of(edge))["limits"]
    assert (0, 0) == (limit["spent_micros"], limit["reserved_micros"])


async def test_a_call_in_flight_holds_its_money_and_an_interrupt_counts_it(edge):
    await state_price(edge)
    chat = await a_chat(edge)
    await all_paid(edge, chat)
    before = (await good(edge.member.get(f"{CHATS}/{chat}/cost")))["total_cost_micros"]
    await set_limit(edge, hard=1_000_000 * DOLLAR)
    await send(edge, chat, "[[delta-ms: 20]] [[deltas: 100000]] hello")

    async def held():
        return await reservations(edge)

    [(_, micros, what)] = await eventually(held)
    assert "answer" == what
    [limit] = (await spend_of(edge))["limits"]
    assert (before, micros) == (limit["spent_micros"], limit["reserved_micros"])

    await good(edge.member.post(f"{CHATS}/{chat}/interrupt"))
    await at_rest(edge, chat, "waiting")
    await none_reserved(edge)
    [limit] = (await spend_of(edge))["limits"]
    assert 0 == limit["reserved_micros"]
    assert limit["spent_micros"] - before in (0, micros)


@pytest.mark.parametrize("verdict", ["allow_once", "deny"])
async def test_at_a_soft_limit_a_person_is_asked(edge, verdict):
    await state_price(edge)
    await set_limit(edge, soft=0)
    chat = await a_chat(edge)

    asked = await at_rest(edge, chat, "requires_action")
    path = f"{CHATS}/{chat}/approvals"
    [approval] = (await good(edge.member.get(path)))["approvals"]
    assert "continue_spending" == approval["tool_name"], asked
    call = approval["tool_call_id"]
    await good(edge.member.post(f"{path}/{call}", {"decision": verdict}))

    if verdict == "deny":
        error = (await at_rest(edge, chat, "error"))["last_error"]
        assert "Your daily limit asks for consent beyond $0.00" in error["message"]
        assert not edge.rehearsal.records
    else:
        await at_rest(edge, chat, "waiting")
        await send(edge, chat)  # it is not asked again in this period
        await at_rest(edge, chat, "waiting")
        assert len(edge.rehearsal.records) >= 2
