"""What a call comes to, item by item."""

import base64
import json

import pytest

from actors.law.parts.vendors import IMAGE_BYTES_MAX
from adapters.tools.mcp.chat_tools.results import MEDIA_BYTES_MAX, NOT_SHOWN, output_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
PDF = b"%PDF-1.7"
LINK = {"type": "resource_link", "name": "n", "uri": "u://x", "description": "d"}
EMBEDDED = {"type": "resource", "resource": {"uri": "u://x", "text": "inside"}}


def words(said):
    return {"type": "text", "text": said}


def encoded(data):
    return base64.b64encode(data).decode()


def image(data=PNG, kind="image/png"):
    return {"type": "image", "data": encoded(data), "mimeType": kind}


def sound(data=b"\0la", kind="audio/wav"):
    return {"type": "audio", "data": encoded(data), "mimeType": kind}


def blob(data, kind="application/octet-stream"):
    resource = {"uri": "u://x", "blob": encoded(data), "mimeType": kind}
    return {"type": "resource", "resource": resource}


def output(*content, **more):
    return output_of({"content": list(content), **more})


@pytest.mark.parametrize(
    ("content", "more", "result"),
    [
        ([words("a"), words("b")], {}, {"output": "a\nb"}),
        ([words('{"a": 1}')], {}, {"a": 1}),
        ([EMBEDDED], {}, {"output": "inside"}),
        ([LINK], {}, {"output": "[resource n at u://x: d]"}),
        ([words("a")], {"structuredContent": {"b": 1}}, {"output": 'a\n{"b": 1}'}),
        ([words('{"b":1}')], {"structuredContent": {"b": 1}}, {"b": 1}),
        ([], {"structuredContent": [1]}, [1]),
        ([words("3")], {"structuredContent": {"result": 3}}, 3),
        ([words("a")], {"structuredContent": {"result": "a"}}, {"output": "a"}),
        ([words("1"), words("b")], {"structuredContent": {"result": [1, "b"]}}, {"output": "1\nb"}),
        ([], {"structuredContent": {"result": []}}, {"result": []}),
        ([words("a")], {"structuredContent": {"result": "b"}}, {"output": 'a\n{"result": "b"}'}),
        ([words("a"), image()], {}, {"output": "a"}),
        ([words("\ud800")], {}, {"output": "\ufffd"}),
        ([words("a\0b")], {}, {"output": "a\0b"}),
        ([blob(b"a,b", "text/csv; charset=utf-8")], {}, {"output": "a,b"}),
        ([blob(b'{"a": 1}', "application/json")], {}, {"a": 1}),
        ([image(b"<svg/>", "image/svg+xml")], {}, {"output": "<svg/>"}),
        ([], {}, {"output": ""}),
    ],
)
def test_text_wins(content, more, result):
    said = output(*content, **more)

    assert result == json.loads(said.result)
    assert (False, False) == (said.is_error, said.is_media)


@pytest.mark.parametrize(
    ("items", "kind"),
    [
        ([image()], "image/png"),
        ([image(b"\xff\xd8\xff", "image/png")], "image/jpeg"),  # a provider would see the lie
        ([blob(PNG)], "image/png"),
        ([blob(PDF, "application/pdf")], "application/pdf"),
        ([sound()], "audio/wav"),
        ([image(b"BM", "image/bmp"), sound()], "audio/wav"),
        ([image(), sound()], "image/png"),
    ],
)
def test_a_file_comes_where_there_is_no_text_and_is_what_it_looks_like(items, kind):
    said = output(*items)

    assert said.is_media
    document = json.loads(said.result)
    assert (kind, "") == (document["mime_type"], document["text"])
    assert base64.b64decode(document["data"])


@pytest.mark.parametrize(
    ("item", "what"),
    [
        (image(b"BM", "image/bmp"), "image/bmp of 2 bytes"),
        (blob(b"PK\3\4\0", "application/zip"), "application/zip of 5 bytes"),
        (sound(kind="audio/unheard"), "audio/unheard of 3 bytes"),
        ({"type": "image", "data": "no base64", "mimeType": "image/png"}, "image/png"),
        ({"type": "image", "data": 7}, "image"),
        ({"type": "hologram", "x": 1}, "hologram"),
        ({"type": 7}, "something"),
        ("a word", "something"),
        ({"type": "text"}, "text"),
    ],
)
def test_what_cannot_be_shown_is_said(item, what):
    said = output(item)

    assert {"output": f"[the tool returned {what}, {NOT_SHOWN}]"} == json.loads(said.result)
    assert not said.is_error


def test_what_is_unknown_does_not_hide_what_is_not():
    assert {"output": "a"} == json.loads(output({"type": "hologram"}, words("a")).result)


def test_files_that_are_too_big_for_a_provider_are_an_error_in_words():
    said = output(image(PNG + bytes(MEDIA_BYTES_MAX)))

    assert MEDIA_BYTES_MAX < IMAGE_BYTES_MAX
    assert said.is_error
    assert f"at most {MEDIA_BYTES_MAX}" in said.result


def test_an_error_is_one():
    assert {"error": "no"} == json.loads(output(words("no"), isError=True).result)
    assert output(isError=True).is_error


@pytest.mark.parametrize("said", [{}, {"content": None}, {"content": "words"}])
def test_an_answer_that_is_none_says_nothing(said):
    assert {"output": ""} == json.loads(output_of(said).result)
