"""Functions become tools: their schemas, the values they get, and the words for what is wrong."""

import json
import subprocess
import sys
from datetime import date
from typing import Annotated, Literal
from uuid import UUID

import msgspec
import pytest
from pydantic import BaseModel, Field

from promptcorner import ext
from promptcorner.ext.arguments import UnreadableSignature
from promptcorner.ext.testing import CONTEXT


class Place(BaseModel):
    title: str = Field(description="Its name.", min_length=2)
    height: int = 0


class Trip(BaseModel):
    start: Place
    stops: list[Place] = []


class Query(msgspec.Struct):
    words: Annotated[str, ext.Meta(min_length=1, description="What to look for.")]
    limit: int = 10


class Tree(BaseModel):
    branches: list["Tree"] = []


@ext.tool(repeatable=True, consent="never", seconds=5)
async def forecast(
    city: str,
    context: ext.ToolContext,
    days: Annotated[int, ext.Meta(ge=1, le=7)] = 1,
    unit: Literal["celsius", "kelvin"] = "celsius",
    since: date | None = None,
) -> dict[str, object]:
    """Say the weather of a city."""
    return {"city": city, "days": days, "unit": unit, "since": since, "chat": context.chat_id}


@ext.tool
async def travel(trip: Trip) -> Place:
    """Travel."""
    return trip.stops[-1] if trip.stops else trip.start


@ext.tool
async def compare(left: Place, right: Place, note: str = "") -> str:
    """Compare two places."""
    return f"{left.title} {right.title}{note}"


@ext.tool
async def search(query: Query) -> list[str]:
    """Search."""
    return [query.words] * query.limit


async def called(tool, **arguments):
    said = await tool.call(CONTEXT, json.dumps(arguments))
    return json.loads(said.json), said.is_error


def test_what_a_tool_says_of_itself_is_read_off_its_function():
    assert ("forecast", "Say the weather of a city.") == (forecast.name, forecast.description)
    assert (True, "never", 5) == (forecast.repeatable, forecast.consent, forecast.seconds)
    assert {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1, "maximum": 7},
            "unit": {"enum": ["celsius", "kelvin"]},
            "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        },
        "required": ["city"],
    } == json.loads(forecast.schema)


def test_the_schema_of_a_pydantic_model_has_no_references():
    place = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "Its name.", "minLength": 2},
            "height": {"type": "integer"},
        },
        "required": ["title"],
    }

    assert {
        "type": "object",
        "properties": {"start": place, "stops": {"type": "array", "items": place}},
        "required": ["start"],
    } == json.loads(travel.schema)
    assert place == json.loads(compare.schema)["properties"]["left"]


async def test_values_arrive_as_their_types():
    said, is_error = await called(forecast, city="Oslo", since="2026-01-02")

    assert not is_error
    assert ("2026-01-02", 1) == (said["since"], said["days"])
    assert UUID(said["chat"]) == CONTEXT.chat_id
    assert (["a"] * 2, False) == await called(search, words="a", limit=2)
    trip = {"start": {"title": "aa"}, "stops": [{"title": "bb", "height": 3}]}
    assert ({"title": "bb", "height": 3}, False) == await called(travel, **trip)
    both = await called(compare, left={"title": "aa"}, right={"title": "bb"})
    assert ({"output": "aa bb"}, False) == both


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        (forecast, {}, "missing the required argument `city`"),
        (forecast, {"city": 5}, "city: expected `str`, got `int`"),
        (forecast, {"city": "x", "town": 1}, "there is no argument `town`"),
        (forecast, {"city": "x", "days": 9}, "days: expected `int` <= 7"),
        (search, {"words": ""}, "words: expected `str` of length >= 1"),
        (travel, {"start": {"title": "a"}}, "start.title: String should have at least 2"),
        (travel, {"stops": []}, "start: Field required"),
        (compare, {"left": {"title": "a"}, "right": {"title": "bb"}}, "left.title: String should"),
    ],
)
async def test_what_is_wrong_with_arguments_is_said_in_words(tool, arguments, words):
    said, is_error = await called(tool, **arguments)

    assert is_error
    assert said["error"].startswith(words), said


async def test_a_value_that_was_sent_is_not_repeated_in_the_error():
    said, _ = await called(travel, start={"title": "x" * 0, "height": "a secret"})

    assert "a secret" not in json.dumps(said)


async def test_a_failure_is_told_in_the_words_of_the_tool():
    @ext.tool
    async def fail() -> None:
        """Fail."""
        raise ext.ToolFailure("the shop is closed")

    assert ({"error": "the shop is closed"}, True) == await called(fail)


async def test_what_a_tool_raises_beside_that_comes_out():
    @ext.tool
    async def divide(by: int) -> float:
        """Divide."""
        return 1 / by

    with pytest.raises(ZeroDivisionError):
        await called(divide, by=0)


async def test_a_list_as_default_is_not_shared_between_calls():
    @ext.tool
    async def collect(more: list[int] = []) -> int:  # noqa: B006
        """Collect."""
        more.append(1)
        return len(more)

    assert (1, False) == await called(collect) == await called(collect)


async def untyped(city):
    """Say."""


async def starred(*cities: str):
    """Say."""


async def silent(city: str):
    pass


def blocking(city: str):
    """Say."""


async def circular(tree: Tree):
    """Climb."""


async def odd(which: complex):
    """Say."""


@pytest.mark.parametrize(
    ("function", "how", "words"),
    [
        (untyped, {}, "the parameter city has no type"),
        (starred, {}, "the parameter cities cannot be passed by name"),
        (silent, {}, "it needs a docstring"),
        (blocking, {}, "it must be an async function"),
        (circular, {}, "the arguments contain themselves"),
        (odd, {}, "the type complex cannot be described to a model"),
        (forecast.function, {"name": "a__b"}, "a name has 1 to 64 letters"),
        (forecast.function, {"name": "é"}, "a name has 1 to 64 letters"),
        (forecast.function, {"consent": "maybe"}, "must be never, by_policy or always"),
        (forecast.function, {"seconds": 0}, "must be more than 0"),
        (forecast.function, {"seconds": 3601}, "up to 3600"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_with_a_sentence(function, how, words):
    with pytest.raises(UnreadableSignature, match=words):
        ext.tool(**how)(function)


def test_pydantic_is_not_loaded_for_tools_that_do_not_use_it():
    code = """if True:
        import sys
        from promptcorner import ext

        @ext.tool
        async def add(left: int, right: int) -> int:
            "Add."
            return left + right

        assert '"left"' in add.schema
        print([name for name in sys.modules if name.startswith("pydantic")])
    """

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert "[]" == said.stdout.strip()
