"""A tail is read without the rest of the history: its calls and results are all there, and what is
made of them (the results that close calls) is the same as from the whole history."""

from dataclasses import fields, replace
from uuid import UUID

import pytest

from actors.law import requests as ask
from actors.law.chat import Verdict
from actors.law.ids import WorkerId
from actors.law.parts.message import TextPart, ToolCallPart, ToolResultPart
from actors.law.store.ports import AcquireLimits, fence_of
from tests.actors.law.chats import (
    ANN,
    DYNAMIC,
    HOLDER,
    LOCAL,
    answer,
    assistant,
    edit,
    interrupt_with,
    promote,
    send,
    step,
    submit,
    tool,
    user,
)
from tests.contracts.given import a_chat, applied
from tests.fakes.records import full

CALL, RESULT = full(ToolCallPart, provider_executed=False), full(ToolResultPart)
WORKER = WorkerId(UUID(int=41))
SERVER = UUID(int=77)


async def viewed(world, chat):
    return await world.reading.view(chat)


async def acquired(world, chat):
    await world.leases.beat(WORKER)
    [stored] = await world.leases.acquire(WORKER, AcquireLimits(at_most=9, roots=9, children=9))
    return stored


async def locked(world, chat):
    return (await applied(world.ledger.apply(chat, []))).stored


@pytest.mark.parametrize("read", [viewed, acquired, locked])
async def test_every_field_of_a_call_and_of_a_result_comes_back_in_a_tail(world, read):
    chat = await a_chat(world)
    said = step(assistant(TextPart("so"), CALL, RESULT), tool(RESULT))
    await applied(world.ledger.apply(chat, [said]))

    stored = await read(world, chat)

    found = [part for body in stored.tail for part in body.parts]
    assert [CALL, RESULT, RESULT] == [part for part in found if not isinstance(part, TextPart)]


def test_the_example_of_a_call_has_something_in_every_field():
    bare = {ToolCallPart: ToolCallPart("", ""), ToolResultPart: ToolResultPart("", "", "null")}
    same = {
        field.name
        for part in (CALL, RESULT)
        for field in fields(part)
        if getattr(part, field.name) == getattr(bare[type(part)], field.name)
    }
    assert {"provider_executed"} == same  # of the call: it would need no answer


ASKED = ask.EnterRequiresAction((ask.CallToApprove("a", LOCAL, "{}"),), -1)
WAITS = ask.EnterRequiresAction()
CLOSING = {  # whose tool is called, what leads there, and what closes the call then
    "a message": (LOCAL, [ask.FinishTurn()], send("new")),
    "an interrupting message": (DYNAMIC, [WAITS], interrupt_with("new")),
    "an interrupt": (DYNAMIC, [WAITS], ask.Interrupt()),
    "an interruption": (LOCAL, [ask.Interrupt()], ask.FinishInterruption()),
    "an edit": (LOCAL, [], edit("new")),
    "a promotion": (DYNAMIC, [send("new"), WAITS], promote(0)),
    "the head of the queue": (LOCAL, [send("new")], ask.FinishTurn()),
    "the client's time": (DYNAMIC, [WAITS], ask.CancelRequiresAction()),
    "the client": (DYNAMIC, [WAITS], submit(answer("a"))),
    "a person": (LOCAL, [ASKED], ask.DecideApproval("a", Verdict.DENY, ANN)),
    "a person's time": (LOCAL, [ASKED], ask.ExpireApprovals()),
}


@pytest.mark.parametrize("way", ["long", "short"])
@pytest.mark.parametrize("name", CLOSING)
async def test_the_result_that_closes_a_call_names_the_server_of_the_call(world, name, way):
    tool_name, leads_there, closing = CLOSING[name]
    call = replace(CALL, id="a", name=tool_name, mcp_server_config_id=SERVER)
    chat = await a_chat(world, tools=(DYNAMIC,), then=[ask.Acquire(HOLDER)])
    behind = [user("old")] if isinstance(closing, ask.EditMessage) else []
    await applied(world.ledger.apply(chat, [step(assistant(call), *behind), *leads_there]))

    await applied(ask_of(world, chat, fitted(closing, await world.rows(chat)), way))

    results = [
        part
        for message in await world.reading.history(chat)
        for part in message.body.parts
        if isinstance(part, ToolResultPart)
    ]
    assert [("a", tool_name, SERVER)] == [(r.id, r.name, r.mcp_server_config_id) for r in results]


def fitted(request, kept):
    """The same request, of the newest rows."""
    match request:
        case ask.PromoteQueued():
            return replace(request, queued_id=kept.queue[-1].id)
        case ask.EditMessage():
            return replace(request, message_id=kept.messages[-1].id)
        case _:
            return request


async def ask_of(world, chat, request, way):
    if way == "long":
        return await world.ledger.apply(chat, [request])
    held = await world.reading.view(chat)
    return await world.ledger.commit(held, [request], fence=fence_of(held.chat))
