"""What a call comes to, item by item."""

import json

import pytest
from mcp.types import CallToolResult

from adapters.mcp.results import MEDIA_CHARACTERS_MAX, output_of

PICTURE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
BINARY = {"type": "resource", "resource": {"uri": "u://x", "blob": "aGk=", "mimeType": "a/b"}}
LINK = {"type": "resource_link", "name": "n", "uri": "u://x", "description": "d"}
EMBEDDED = {"type": "resource", "resource": {"uri": "u://x", "text": "inside"}}


def words(said):
    return {"type": "text", "text": said}


def output(*content, **more):
    return output_of(CallToolResult.model_validate({"content": list(content), **more}))


@pytest.mark.parametrize(
    ("content", "more", "result"),
    [
        ([words("a"), words("b")], {}, {"output": "a\nb"}),
        ([words('{"a": 1}')], {}, {"a": 1}),
        ([EMBEDDED], {}, {"output": "inside"}),
        ([LINK], {}, {"output": "[resource n at u://x: d]"}),
        ([words("a")], {"structuredContent": {"b": 1}}, {"output": 'a\n{"b": 1}'}),
        ([words('{"b":1}')], {"structuredContent": {"b": 1}}, {"b": 1}),
        ([words("a"), PICTURE], {}, {"output": "a"}),
        ([words("\ud800")], {}, {"output": "\ufffd"}),
        ([], {}, {"output": ""}),
    ],
)
def test_text_wins(content, more, result):
    said = output(*content, **more)

    assert result == json.loads(said.result)
    assert (False, False) == (said.is_error, said.is_media)


@pytest.mark.parametrize(("item", "kind"), [(PICTURE, "image/png"), (BINARY, "a/b")])
def test_media_come_where_there_is_no_text(item, kind):
    said = output(item)

    assert said.is_media
    assert {"data": "aGk=", "mime_type": kind, "text": ""} == json.loads(said.result)


def test_media_that_are_too_big_are_an_error_in_words():
    said = output({**PICTURE, "data": "a" * (MEDIA_CHARACTERS_MAX + 4)})

    assert said.is_error
    assert "at most" in said.result


def test_an_error_is_one():
    assert {"error": "no"} == json.loads(output(words("no"), isError=True).result)
    assert output(isError=True).is_error
