"""Functions declared as tools: what the model is told of them, and what they are called with."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import pytest
import trio
from msgspec import Meta

from promptcorner_client.tools import NO_OBJECT, definitions, tool


@tool
async def weather(
    city: Annotated[str, Meta(description="Its name.")],
    days: int = 1,
    *,
    unit: Literal["C", "F"] = "C",
    near: list[str] | None = None,
):
    """The weather of a city."""
    return (city, days, unit, near)


def test_the_model_is_told_of_the_parameters_by_their_types():
    expected = {
        "name": "weather",
        "description": "The weather of a city.",
        "input_schema": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Its name."},
                "days": {"type": "integer"},
                "unit": {"enum": ["C", "F"]},
                "near": {
                    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
                },
            },
            "required": ["city"],
        },
    }

    assert [expected] == definitions([weather])


async def test_a_function_is_called_with_what_its_types_make_of_the_arguments():
    taken = weather.read('{"city": "Rome", "near": ["Ostia"], "unheard_of": 1}')

    assert ("Rome", 1, "C", ["Ostia"]) == await weather.run(taken)


async def test_structured_parameters_come_as_what_they_are_declared():
    @dataclass
    class Place:
        city: str
        heights: list[float]

    @tool
    async def climb(place: Place, then: Place | None = None):
        return place

    [definition] = definitions([climb])
    place = definition["input_schema"]["properties"]["place"]
    assert ["city", "heights"] == place["required"]
    assert "$ref" not in str(definition)
    taken = climb.read('{"place": {"city": "Rome", "heights": [1, 2.5]}}')
    assert Place("Rome", [1.0, 2.5]) == await climb.run(taken)


async def test_a_schema_of_ones_own_is_told_as_it_is_and_the_object_comes_as_it_is():
    schema = {"type": "object", "properties": {"a-b": {}}, "required": ["a-b"]}

    @tool(name="look-up", description="Looks it up.", schema=schema)
    async def look(arguments: Mapping[str, Any]):
        return arguments["a-b"]

    assert [("look-up", "Looks it up.", schema)] == [
        (tool["name"], tool["description"], tool["input_schema"]) for tool in definitions([look])
    ]
    assert [1] == await look.run(look.read('{"a-b": [1]}'))
    assert NO_OBJECT == look.read('["a-b"]')


@pytest.mark.parametrize("schema", [None, {}, {"type": "object", "properties": {}}])
def test_a_tool_without_parameters_needs_no_arguments(schema):
    @tool(schema=schema)
    async def now():
        """The time."""

    [definition] = definitions([now])
    assert schema in (None, definition["input_schema"])
    assert {} == now.read("{}") == now.read("")


@pytest.mark.parametrize("schema", [None, {"properties": {"days": {}}}])
def test_arguments_that_were_lost_are_not_taken_for_defaults(schema):
    @tool(schema=schema)
    async def forecast(days: int = 1):
        """The weather."""

    assert NO_OBJECT == forecast.read("")


async def test_a_function_that_blocks_runs_in_a_thread_and_one_that_hangs_is_left_there():
    may_end = threading.Event()

    @tool
    def block(seconds: float):
        may_end.wait(seconds)
        return threading.current_thread() is threading.main_thread()

    assert False is await block.run({"seconds": 0})
    with trio.move_on_after(0.01) as limit:
        await block.run({"seconds": 60})
    may_end.set()
    assert limit.cancelled_caught


async def test_what_calls_a_coroutine_without_looking_like_one_is_awaited():
    class Lookup:
        __name__ = "lookup"

        async def __call__(self, city: str):
            return city

    class Named:
        async def look(self, city: str):
            return city

    assert "Rome" == await tool(Named().look).run({"city": "Rome"})
    made = tool(name="lookup", schema={})(lambda arguments: Lookup()(arguments["city"]))
    assert "Rome" == await made.run({"city": "Rome"})


def test_a_tool_is_still_the_function_that_it_was():
    @tool
    def double(n: int):
        return 2 * n

    assert 6 == double(3) == double(n=3)


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (lambda: tool(lambda x: x), "a name is 1 to 64"),
        (lambda: tool(name="a b")(len), "a name is 1 to 64"),
        (lambda: tool(name="f", seconds=300)(of_any), "can be up to 270"),
        (lambda: tool(name="f", seconds=0)(of_any), "can be up to 270"),
        (lambda: tool(name="f")(lambda x: x), "parameter x: has no type"),
        (lambda: tool(of_any), "parameter words: cannot be given by name"),
        (lambda: tool(of_a_lock), "custom types"),
        (lambda: definitions([weather, weather]), "weather come twice"),
    ],
)
def test_what_cannot_be_a_tool_is_said_where_it_is_declared(declare, says):
    with pytest.raises((TypeError, ValueError), match=says):
        declare()


def of_any(*words: str):
    """Takes what cannot be named."""


def of_a_lock(lock: threading.Event):
    """Takes what no JSON holds."""


async def test_a_default_that_can_change_is_the_functions_own():
    @tool
    async def collect(word: str, into: list[str] = ["first"]):  # noqa: B006
        into.append(word)
        return list(into)

    await collect.run(collect.read('{"word": "a"}'))

    assert ["first", "a", "b"] == await collect.run(collect.read('{"word": "b"}'))
    assert msgspec.json.encode(definitions([collect]))
