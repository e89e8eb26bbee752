"""Tools of the client as the model is told of them, whatever the client has declared."""

import json
import logging
from dataclasses import replace

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from actors.law.requests import DynamicTool
from adapters.tools.toolbox import (
    CHARACTERS_MAX,
    CHATS_MAX,
    NO_PARAMETERS,
    DeclaredTools,
    parameters,
)
from tests.actors.law.chats import State, a_chat
from tests.adapters.postgres.stores import new_chat_id


class Stored:
    """What the chats were born with."""

    def __init__(self, *tools):
        self.tools = tools
        self.reads = []

    async def __call__(self, chat):
        self.reads.append(chat)
        return self.tools


def born_with(*names, **more):
    chat = a_chat(State.R0).chat
    return replace(chat, id=new_chat_id(), dynamic_tools=frozenset(names), **more)


def shown(schema):
    return json.loads(parameters(schema if isinstance(schema, str) else json.dumps(schema)))


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({}, {}),
        ({"type": "object"}, {}),
        ({"type": "array"}, {}),
        ({"properties": {"a": {"type": "string"}}}, {"a": {"type": "string"}}),
        ({"properties": {"a": "string", "b": True}}, {"a": {}, "b": {}}),
        ({"title": "T", "additionalProperties": False, "properties": {"a": {}}}, {"a": {}}),
    ],
)
def test_of_a_schema_what_describes_parameters_is_told(declared, expected):
    assert {"type": "object", "properties": expected} == shown(declared)


@pytest.mark.parametrize(
    ("required", "expected"),
    [
        (["b", "a"], ["a", "b"]),
        (["a", "a", "unheard of", 3], ["a"]),
        ([], None),
        (None, None),
        ("a", None),
        (["unheard of"], None),
    ],
)
def test_what_is_required_is_there_and_nothing_is_required_by_nothing(required, expected):
    declared = {"properties": {"a": {}, "b": {}}, "required": required}

    assert expected == shown(declared).get("required")


def test_what_parameters_refer_to_comes_with_them():
    place = {"type": "object"}
    declared = {"properties": {"at": {"$ref": "#/$defs/Place"}}, "$defs": {"Place": place}}

    assert {"Place": place} == shown(declared)["$defs"]


@pytest.mark.parametrize(
    "declared",
    ["", "{", "[]", "null", '"x"', '{"properties": [1]}', '{"a":' * 20_000 + "1" + "}" * 20_000],
)
async def test_a_tool_whose_schema_cannot_be_read_is_offered_without_parameters(declared, caplog):
    chat = born_with("look")
    tools = DeclaredTools(Stored(DynamicTool("look", "Looks.", JsonText(declared))))

    with caplog.at_level(logging.WARNING):
        assert (ToolDefinition("look", "Looks.", NO_PARAMETERS),) == await tools.of(chat)

    assert ["tool.unreadable"] == [record.message for record in caplog.records]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
keys = st.sampled_from(["type", "properties", "required", "$defs", "title", "x"])


@given(st.dictionaries(keys, json_values))
def test_whatever_is_declared_a_provider_gets_an_object_with_properties(declared):
    schema = parameters(json.dumps(declared))

    if schema is not None:
        told = json.loads(schema)
        assert "object" == told["type"]
        assert all(isinstance(about, dict) for about in told["properties"].values())
        assert set(told.get("required", ())) <= told["properties"].keys()
        assert told.get("required", True)
        assert told.keys() <= {"type", "properties", "required", "$defs", "definitions"}


async def test_what_a_chat_was_born_with_is_read_once_and_never_for_others():
    stored = Stored(DynamicTool("look"))
    tools = DeclaredTools(stored)
    chat, other = born_with("look"), born_with()

    for _ in range(3):
        assert 1 == len(await tools.of(chat))
        assert () == await tools.of(other)

    assert [chat.id] == stored.reads


async def test_so_many_chats_are_known_and_the_one_asked_for_longest_ago_is_read_again():
    stored = Stored(DynamicTool("look"))
    tools = DeclaredTools(stored)
    chats = [born_with("look") for _ in range(CHATS_MAX + 1)]
    for chat in (*chats[:2], chats[0], *chats[2:]):
        await tools.of(chat)

    await tools.of(chats[0])
    await tools.of(chats[1])

    assert [*(chat.id for chat in chats), chats[1].id] == stored.reads


async def test_chats_with_many_words_about_their_tools_do_not_fill_the_memory():
    stored = Stored(DynamicTool("look", "x" * (CHARACTERS_MAX // 3)))
    tools = DeclaredTools(stored)
    chats = [born_with("look") for _ in range(4)]
    for chat in chats:
        await tools.of(chat)

    await tools.of(chats[-1])
    await tools.of(chats[-2])
    assert 4 == len(stored.reads)
    await tools.of(chats[0])
    assert 5 == len(stored.reads)


async def test_two_who_ask_at_once_are_both_answered(autojump_clock):
    class Slow(Stored):
        async def __call__(self, chat):
            await trio.sleep(1)
            return await super().__call__(chat)

    tools = DeclaredTools(Slow(DynamicTool("look")))
    chat, found = born_with("look"), []

    async def ask():
        found.append(await tools.of(chat))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        nursery.start_soon(ask)

    assert found[0] == found[1] != ()


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ({}, 1),
        ({"plan_mode": "plan"}, 0),
        ({"mode": "explore"}, 0),
        ({"mode": "computer_use"}, 0),
        ({"parent_id": new_chat_id()}, 0),
    ],
)
async def test_only_a_root_that_works_has_any(kind, count):
    tools = DeclaredTools(Stored(DynamicTool("look")))

    assert count == len(await tools.of(born_with("look", **kind)))
