"""Turns of chats that ask an advisor, on a daemon that runs them, with a rehearsal behind it."""

import json

import pytest

from actors.law.chat import Role
from actors.prompts.advice import RULES, USED_UP
from adapters.models.settings import ADVISOR
from adapters.models.store.settings import SettingStore
from adapters.rehearsal.behaviour import Behaviour, ScriptedCall
from tests.actors.streams.relay.cable import Ear
from tests.adapters.chats.routes.daemon import a_daemon

pytestmark = pytest.mark.slow
ON = {"PROMPTCORNER_EXPERIMENTS": "chat-advisor"}
ASKS = ScriptedCall("advisor", '{"question": "which way?", "model_intent": "Weighing"}')
LOOKS = ScriptedCall("list_agents", "{}")


def asks(*calls, rounds=9):
    return Behaviour(tool_calls=calls or (ASKS,), tool_rounds=rounds)


def says(text, **more):
    return Behaviour(text=text, **more)


async def set_advisor(daemon, **said):
    store = daemon.chats.store
    await SettingStore(store.pool, tell=store.bus.tell).put({ADVISOR: said})


async def a_turn(daemon, **new):
    """What the tools of the turn have said."""
    chat = await daemon.begin("build it", **new)
    await daemon.at_rest(chat)
    rows = await daemon.chats.store.reading.history(chat)
    return [json.loads(row.body.parts[0].result) for row in rows if row.body.role is Role.TOOL]


def prompts(daemon):
    return [heard.body.decode() for heard in daemon.rehearsal.records]


async def test_advice_is_asked_for_and_given(fresh):
    script = (asks(), says("go left"), says("I went left"))
    async with a_daemon(fresh, Behaviour(script=script), **ON) as daemon:
        [told] = await a_turn(daemon)
        first, advisor, last = prompts(daemon)

    assert {"type": "advice", "advice": "go left"} == {k: told[k] for k in ("type", "advice")}
    assert told["advisor_model"].startswith("anthropic/")
    assert told["remaining_uses"] is None
    assert ("<advisor>" in first, "<advisor>" in last, "<advisor>" in advisor) == (
        True,
        True,
        False,
    )
    assert RULES[:40] in advisor
    assert "which way?" in advisor
    assert "build it" in advisor
    assert '"tools"' not in advisor
    assert "go left" in last


async def test_the_advice_is_seen_while_it_comes(fresh):
    script = (asks(), says("go left and then right", delta_ms=5, delta_chars=3), says("done"))
    shown = []
    async with a_daemon(fresh, Behaviour(script=script), **ON) as daemon:

        def began(episode):
            shown.append(Ear(episode))

        with daemon.chats.previews.follow(began, fail=pytest.fail):
            await a_turn(daemon)

    events = [json.loads(encoded) for ear in shown for encoded in ear.heard]
    parts = [event["message_part"]["part"] for event in events]
    deltas = [part["result_delta"] for part in parts if "result_delta" in part]
    assert "go left and then right" == "".join(deltas)
    assert len(deltas) > 1
    assert {"advisor"} == {part["tool_name"] for part in parts if "result_delta" in part}


async def test_it_has_to_be_alone(fresh):
    script = (asks(ASKS, LOOKS), says("done"))
    async with a_daemon(fresh, Behaviour(script=script), **ON) as daemon:
        told = await a_turn(daemon)

    assert "has to be the only call" in told[0]["error"]
    assert "advisor needs a step to itself" in told[1]["error"]


async def test_nobody_is_waited_for_beside_it_either(fresh):
    theirs = ScriptedCall("stock", '{"article": "lamps"}')
    script = (asks(ASKS, theirs), asks(theirs, ASKS), says("done"))
    async with a_daemon(fresh, Behaviour(script=script), **ON) as daemon:
        alone, beside, first, second = await a_turn(daemon, tools=("stock",))

    assert "has to be the only call" in alone["error"]
    assert "stock was not run, because advisor needs a step to itself" in beside["error"]
    assert "stock was not run" in first["error"]
    assert "has to be the only call" in second["error"]


async def test_the_quota_is_that_of_the_turn_and_only_advice_counts(fresh):
    asking, advice = asks(), says("x")
    silence = says(" ")
    script = (asking, silence, asking, advice, asking, advice, asking, says("."))
    async with a_daemon(fresh, Behaviour(script=script), **ON) as daemon:
        await set_advisor(daemon, max_uses_per_run=2)

        told = await a_turn(daemon)

    assert ["error", "advice", "advice", "limit_reached"] == [each["type"] for each in told]
    assert [2, 1, 0, 0] == [each["remaining_uses"] for each in told]
    assert USED_UP == told[-1]["advice"]


async def test_where_it_is_not_switched_on_nobody_hears_of_it(fresh):
    async with a_daemon(fresh, Behaviour(script=(asks(), says("done")))) as daemon:
        [told] = await a_turn(daemon)

        assert "there is no tool advisor" in told["error"]
        assert "<advisor>" not in "".join(prompts(daemon))


async def test_a_chat_that_plans_is_neither_offered_nor_told_of_it(fresh):
    async with a_daemon(fresh, says("a plan"), **ON) as daemon:
        await a_turn(daemon, plan_mode="plan")

        assert "advisor" not in "".join(prompts(daemon))
