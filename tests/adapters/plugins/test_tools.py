"""Tools of plugins in a chat: who has them, what their calls come to, whom they are asked of."""

import json

import pytest
import trio

from actors.chat.turn.ports import ToolInvocation
from actors.law.parts.message import ToolCallPart
from actors.tools.approval_rules import Policy, read_rules
from actors.tools.approvals import Consent
from adapters.plugins.plugins import open_plugins
from adapters.plugins.tools import FAILED, PluginTools
from tests.actors.law.chats import a_chat
from tests.adapters.tools.offering import local_tools

CODE = """
@ext.tool(consent="never", repeatable=True, seconds=7)
async def look(context: ext.ToolContext) -> dict:
    "Look."
    return {"call": context.call_id, "chat": context.chat_id, "since": context.seconds_since_begun}

@ext.tool
async def write(text: str) -> None:
    "Write."

@ext.tool(consent="always")
async def erase() -> None:
    "Erase."

@ext.tool
async def crash() -> None:
    "Fail."
    raise KeyError("a secret of the plugin")

@ext.tool
async def leave(what: str) -> None:
    "Leave open what it has opened."
    if what == "scope":
        trio.CancelScope().__enter__()
    else:
        await trio.open_nursery().__aenter__()

@ext.tool
async def exit() -> None:
    "Leave."
    raise SystemExit

@ext.tool
async def flood(count: int) -> str:
    "Say too much."
    return "x" * count

@ext.tool
async def nest(depth: int) -> list:
    "Nest."
    found = []
    for _ in range(depth):
        found = [found]
    return found

@ext.tool
async def strange() -> object:
    "Return what is no JSON."
    return object()

every = [look, write, erase, crash, leave, exit, flood, nest, strange]
"""


@pytest.fixture
async def tools(install):
    install("worker", CODE, tools="every")
    async with open_plugins(["worker"]) as plugins:
        source = PluginTools(plugins)
        source.loop = next(iter(plugins)).loop
        yield source


def chat(**about):
    return a_chat(**about).chat


async def names(tools, **about):
    return [local.tool.name for local in await local_tools(chat(**about), tools)]


async def said(tools, name, **arguments):
    call = ToolCallPart("call-1", name, json.dumps(arguments))
    output = await tools.run(ToolInvocation(chat(), call, (), print, 1.5), name)
    return json.loads(output.result), output.is_error


async def test_a_chat_that_plans_or_explores_has_those_that_only_read(tools):
    assert 9 == len(await names(tools))
    assert ["look"] == await names(tools, plan_mode="plan")
    assert ["look"] == await names(tools, mode="explore")


async def test_what_a_tool_says_of_itself_is_known_to_the_turn(tools):
    look, write, *_ = await tools.offered(chat(), ())

    assert (7, True, True, "never", "worker") == (
        look.deadline_seconds,
        look.repeatable,
        look.strict,
        look.consent,
        look.plugin,
    )
    assert (False, "by_policy") == (write.repeatable, write.consent)


async def test_a_call_knows_where_it_comes_from(tools):
    found, is_error = await said(tools, "look")

    assert not is_error
    assert {"call": "call-1", "chat": str(chat().id), "since": 1.5} == found


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("crash", {}, FAILED),
        ("strange", {}, FAILED),
        ("exit", {}, "the plugin of this tool failed: its code raised SystemExit"),
        ("flood", {"count": 5_000_000}, "its result has 5000013 bytes, it can have 4194304"),
        ("nest", {"depth": 1_000_000}, FAILED),
    ],
)
async def test_a_fault_is_the_result_of_its_call(tools, name, arguments, words, entries):
    found, is_error = await said(tools, name, **arguments)

    assert is_error
    assert found["error"].endswith(words)
    [entry] = entries.of("plugin.call_failed")
    assert ("worker", name) == (entry["plugin"], entry["tool"])
    assert 1 == tools.loop.statistics().failed_count


@pytest.mark.parametrize("what", ["scope", "nursery"])
async def test_a_call_that_leaves_something_open_ends_no_other(tools, what):
    await said(tools, "leave", what=what)
    found, is_error = await said(tools, "look")

    assert ("call-1", False) == (found.get("call"), is_error), found


async def test_a_call_is_cancelled_with_its_chat(tools):
    with trio.move_on_after(0) as limit:
        await said(tools, "write", text="a")

    assert limit.cancelled_caught


@pytest.mark.parametrize(
    ("policy", "rules", "expected"),
    [
        ("allow", "", {"look": "allow", "write": "allow", "erase": "ask"}),
        ("ask", "", {"look": "allow", "write": "ask", "erase": "ask"}),
        ("deny", "", {"look": "allow", "write": "deny", "erase": "deny"}),
        ("allow", "erase=allow, look=ask", {"look": "ask", "write": "allow", "erase": "allow"}),
    ],
)
async def test_a_tool_says_whether_a_person_is_asked(tools, policy, rules, expected):
    consent = Consent(Policy(policy), read_rules(rules))

    found = {local.tool.name: consent.to(local).value for local in await tools.offered(chat(), ())}

    assert expected == {name: found[name] for name in expected}
