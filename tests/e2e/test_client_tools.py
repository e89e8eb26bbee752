"""Tools that a client's program runs, on a real daemon that comes to no harm."""

import json

import pytest
import trio

from promptcorner_client import api, errors
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.tools import tool
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.tool_programs import (
    ADMIN,
    LAMPS,
    MARKS,
    provider,
    results,
    stock,
    turns,
    url,
    waited,
    without_waiting,
)

__all__ = ["provider", "url", "without_waiting"]
pytestmark = MARKS


async def test_a_model_calls_a_function_of_the_program_and_says_what_it_returned(url, provider):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock])
        seen = await waited(client, chat, stock)

    assert ("waiting", "Three lamps.") == (seen.status, seen.answer)
    assert [("stock", "3", False)] == results(seen)
    first, second = turns(provider, chat)
    assert "How many of an article are in the store." in str(first["body"])
    assert "tool_result" in str(second["body"])


async def test_calls_of_local_tools_come_first_and_the_model_sees_all_of_them(url, provider):
    calls = 'stock:{"article": "lamps"} list_templates:{} stock:{"article": "chairs"}'
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(f"[[tool-calls: {calls}]] [[text: Both.]]", tools=[stock])
        seen = await waited(client, chat, stock)

    [local, *ours] = results(seen)
    assert "list_templates" == local[0]
    assert [("stock", "3", False), ("stock", "12", False)] == ours
    assert 2 == len(turns(provider, chat))


async def test_many_rounds_of_the_same_calls_are_answered_one_after_the_other(url):
    counted = 0

    @tool
    async def next_page() -> int:
        nonlocal counted
        counted += 1
        return counted

    async with AsyncClient(url, ADMIN) as client:
        marker = "[[tool-calls: next_page:{}]] [[tool-rounds: 12]] [[text: All read.]]"
        chat = await client.create(marker, tools=[next_page])
        seen = await waited(client, chat, next_page)

    assert [str(number) for number in range(1, 13)] == [said for _, said, _ in results(seen)]


async def test_results_that_are_too_much_are_cut_to_what_a_request_may_hold(url):
    @tool
    async def read_log() -> str:
        return "begin" + "\n" * 400_000 + "end"

    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(
            "[[tool-calls: read_log:{} read_log:{}]] [[text: Read.]]", tools=[read_log]
        )
        asking = await waited(client, chat)
        too_much = [
            {"tool_call_id": call.tool_call_id, "output": "x" * 131_000, "is_error": False}
            for call in asking.pending
        ]
        with pytest.raises(errors.RequestRefused) as refused:
            await client.request(api.tool_results(chat.id, too_much))
        seen = await waited(client, chat, read_log)
        with pytest.raises(errors.RequestRefused) as too_long:
            await client.create("x" * 262_144, tools=[read_log])

    assert (413, 413) == (refused.value.status, too_long.value.status)
    assert "Read." == seen.answer
    texts = [json.loads(said)["output"] for _, said, _ in results(seen)]
    assert [("begin", "end")] * 2 == [(text[:5], text[-3:]) for text in texts]


async def test_an_interrupt_cancels_what_runs_and_the_model_hears_of_it(url):
    began, ended = trio.Event(), trio.Event()

    @tool
    async def wait_for_ever():
        began.set()
        try:
            await trio.sleep_forever()
        finally:
            ended.set()

    async with AsyncClient(url, ADMIN) as client, trio.open_nursery() as nursery:
        chat = await client.create(
            "[[tool-calls: wait_for_ever:{}]] [[text: Never mind.]]", tools=[wait_for_ever]
        )
        nursery.start_soon(client.attend, chat.id, [wait_for_ever])
        with trio.fail_after(EVENTUALLY_SECONDS):
            await began.wait()
            await client.request(api.interrupt(chat.id))
            await ended.wait()
        seen = await waited(client, chat, wait_for_ever)
        nursery.cancel_scope.cancel()

    assert "Never mind." == seen.answer
    assert [("wait_for_ever", '"interrupted by user"', True)] == results(seen)


ODD = {
    "no schema": None,
    "a word": "none",
    "a list": {"type": "array", "items": {}},
    "odd properties": {"properties": {"a": "string", "b": True}, "required": ["a", "zz", 3]},
    "whole": {
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/At"}},
        "required": ["at"],
        "$defs": {"At": {"type": "string"}},
        "additionalProperties": False,
    },
}


async def test_whatever_a_client_declares_the_provider_is_sent_an_object_with_properties(
    url, provider
):
    tools = [
        {"name": name.replace(" ", "-"), "description": None, "input_schema": schema}
        for name, schema in ODD.items()
    ]
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create("[[text: Fine.]]", unsafe_dynamic_tools=tools)
        assert "Fine." == (await waited(client, chat)).answer

    told = {
        tool["name"]: tool["input_schema"] for tool in turns(provider, chat)[0]["body"]["tools"]
    }
    nothing = {"type": "object", "properties": {}}
    assert [nothing] * 3 == [told[name] for name in ("no-schema", "a-word", "a-list")]
    odd = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]}
    assert odd == told["odd-properties"]
    kept = {key: ODD["whole"][key] for key in ("type", "properties", "required", "$defs")}
    assert kept == told["whole"]


async def test_a_tool_of_the_name_of_one_that_runs_here_is_not_the_clients_to_run(url, provider):
    @tool(name="list_templates")
    async def shadowed():
        """Never called."""
        raise AssertionError("the daemon has one of this name")

    async with AsyncClient(url, ADMIN) as client:
        marker = '[[tool-calls: list_templates:{} stock:{"article": "lamps"}]] [[text: Both.]]'
        chat = await client.create(marker, tools=[shadowed, stock])
        seen = await waited(client, chat, shadowed, stock)

    assert "Both." == seen.answer
    [(first, said, is_error), (second, three, _)] = results(seen)
    assert ("list_templates", False, "stock", "3") == (first, is_error, second, three)
    assert "templates" in said
    names = [tool["name"] for tool in turns(provider, chat)[0]["body"]["tools"]]
    assert 1 == names.count("list_templates")


async def test_a_chat_that_plans_has_none_of_them_and_has_them_again_when_it_works(url, provider):
    async with AsyncClient(url, ADMIN) as client:
        chat = await client.create(LAMPS, tools=[stock], plan_mode="plan")
        planned = await waited(client, chat, stock)
        sent = await client.request(api.send(chat.id, LAMPS, plan_mode=""))
        with trio.fail_after(EVENTUALLY_SECONDS):
            worked = await client.wait(chat.id, since=sent.message.id, tools=[stock])

    offered = [
        "stock" in [tool["name"] for tool in turn["body"]["tools"]]
        for turn in turns(provider, chat)
    ]
    assert [False, False, True, True] == offered
    [(_, refused, is_error)] = results(planned)
    assert is_error
    assert "there is no tool stock" in refused
    assert ("stock", "3", False) == results(worked)[-1]


async def test_agents_that_a_chat_spawns_have_none_of_them(url, provider):
    spawn = '{"type": "general", "prompt": "count", "title": "count"}'
    async with AsyncClient(url, ADMIN) as client:
        marker = f"[[tool-calls: spawn_agent:{spawn}]] [[text: Sent.]]"
        chat = await client.create(marker, tools=[stock])
        assert "Sent." == (await waited(client, chat, stock)).answer
        [child] = (await client.request(api.get_chat(chat.id))).children
        assert "waiting" == (await waited(client, child)).status

    offered = [{tool["name"] for tool in turn["body"]["tools"]} for turn in turns(provider, chat)]
    [of_the_child] = [names for names in offered if "spawn_agent" not in names]
    assert "execute" in of_the_child
    assert "stock" not in of_the_child
