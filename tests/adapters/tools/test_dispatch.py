"""What a model is told of a tool's arguments, and what is wrong with those that it sends."""

import json
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from adapters.tools.dispatch import read_arguments, schema_of


class Edit(Struct, frozen=True):
    old_text: str
    replace_all: bool = False


class EditFile(Struct, frozen=True):
    path: Annotated[str, Meta(description="Absolute path.", min_length=1)]
    edits: Annotated[list[Edit], Meta(min_length=1)]
    signal: Literal["kill", "terminate"] = "terminate"
    title: str | None = None


class Nothing(Struct, frozen=True):
    pass


def test_a_schema_stands_by_itself():
    told = json.loads(schema_of(EditFile))

    assert ["path", "edits", "signal", "title"] == list(told["properties"])
    assert ["path", "edits"] == told["required"]
    assert {
        "type": "object",
        "properties": {"old_text": {"type": "string"}, "replace_all": {"type": "boolean"}},
        "required": ["old_text"],
    } == told["properties"]["edits"]["items"]
    assert "Absolute path." == told["properties"]["path"]["description"]


def test_a_tool_without_arguments_has_properties_all_the_same():
    assert {"type": "object", "properties": {}} == json.loads(schema_of(Nothing))


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("{}", "missing the required argument `path`"),
        ('{"path": "", "edits": [{"old_text": "a"}]}', "path: expected `str` of length >= 1"),
        ('{"path": "a", "edits": [{"old_text": 1}]}', "edits[0].old_text: expected `str`"),
        ('{"path": "a", "edits": [{"old_text": "b"}], "signal": "x"}', "signal: invalid enum"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(args, says):
    fault = read_arguments(EditFile, args)

    assert isinstance(fault, str)
    assert fault.startswith(says)


def test_arguments_are_read():
    args = '{"path": "a", "edits": [{"old_text": "b"}], "unknown": 1}'

    assert EditFile("a", [Edit("b")]) == read_arguments(EditFile, args)
