"""The toolbox: tools from several sources as one toolset, for the chats that may have them."""

import logging
from dataclasses import replace

import pytest

from actors.chat.turn.ports import LocalTool
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.law.requests import DynamicTool
from adapters.tools.toolbox import DeclaredTools, Toolbox
from tests.actors.law.chats import State, a_chat
from tests.adapters.postgres.stores import new_chat_id
from tests.adapters.tools.offering import local_tools


class Source:
    def __init__(self, *names, description="here", **facts):
        schema = JsonText('{"type":"object","properties":{}}')
        self._tools = [
            LocalTool(ToolDefinition(name, description, schema), 1.0, **facts) for name in names
        ]

    async def offered(self, chat, history):
        return self._tools


def chat_of(**columns):
    return replace(a_chat(State.R0).chat, id=new_chat_id(), **columns)


def names(tools):
    return [tool.tool.name for tool in tools]


def shadowed(caplog):
    return [r.fields["tool"] for r in caplog.records if r.message == "tool.shadowed"]


async def test_of_two_tools_of_one_name_the_one_that_runs_here_is_told_of(caplog):
    async def declared(chat):
        return (DynamicTool("look", "there"), DynamicTool("other"))

    toolbox = Toolbox(DeclaredTools(declared), [Source("look")])

    with caplog.at_level(logging.WARNING):
        box = await toolbox.for_turn(chat_of(dynamic_tools=frozenset({"look", "other"})), [])

    assert [("look", "here"), ("other", "")] == [
        (t.name, t.description) for t in box.offered.for_model
    ]
    assert ["look"] == shadowed(caplog)


async def test_of_two_sources_that_offer_one_name_the_first_serves_it(caplog):
    first, second = Source("look"), Source("look", "stir", description="there")

    with caplog.at_level(logging.WARNING):
        tools = await local_tools(chat_of(), first, second)

    assert [("look", "here"), ("stir", "there")] == [
        (each.tool.name, each.tool.description) for each in tools
    ]
    assert ["look"] == shadowed(caplog)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, ["brand_new", "execute"]),
        ({"plan_mode": "plan"}, ["execute"]),
        ({"mode": "explore"}, ["execute"]),
        ({"parent_id": new_chat_id()}, ["execute"]),
    ],
)
async def test_a_tool_that_no_table_knows_breaks_no_chat_and_is_for_roots_that_work(
    columns, expected
):
    tools = await local_tools(chat_of(**columns), Source("brand_new", "execute"))

    assert expected == names(tools)


async def test_the_tools_of_servers_are_gated_by_their_source():
    tools = await local_tools(chat_of(mode="explore"), Source("wiki__look", is_foreign=True))

    assert ["wiki__look"] == names(tools)
