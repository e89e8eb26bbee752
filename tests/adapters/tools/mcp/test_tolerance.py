"""What servers say, as the SDK takes it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.tools.mcp.http import ServerAddress, Visit
from adapters.tools.mcp.sdk.clients import connect
from adapters.tools.mcp.tolerance import StreamMender, make_fit, mend, raw_result
from tests.fakes.tool_server import Raw, a_server, listing, tool


@pytest.mark.parametrize(
    "odd",
    [
        {"name": "a"},
        {"name": "a", "inputSchema": {}},
        {"name": "a", "inputSchema": None, "description": None, "annotations": None},
        {"name": "a", "inputSchema": {"type": ["object", "null"]}, "outputSchema": 7},
        {"name": "a", "inputSchema": [], "title": 7, "icons": "x", "_meta": []},
        {"name": "a", "annotations": {"readOnlyHint": "yes"}, "execution": {"taskSupport": "?"}},
    ],
)
async def test_an_odd_tool_is_listed_and_hides_no_other(odd):
    answers = {"tools/list": {"tools": [odd, tool("b"), {"title": "nameless"}, 7]}}
    async with a_server(answers) as s, connect(ServerAddress(s.url), Visit()) as client:
        tools = (await client.list_tools()).tools

    assert ["a", "b"] == [tool.name for tool in tools]
    assert all("object" == tool.input_schema["type"] for tool in tools)


def test_what_is_used_of_a_tool_is_kept():
    hints = {"readOnlyHint": True, "idempotentHint": False, "destructiveHint": True}
    listed = tool("a", "Does it.", {"type": "object", "x": 1}, annotations=hints)

    [kept] = make_fit({**listing(listed), "nextCursor": "2"})["tools"]

    assert ("a", "Does it.", {"type": "object", "x": 1}) == (
        kept["name"],
        kept["description"],
        kept["inputSchema"],
    )
    assert {"readOnlyHint": True, "idempotentHint": False} == kept["annotations"]


@pytest.mark.parametrize(
    "said",
    [
        {"content": [{"type": "hologram", "x": 1}, {"type": "text", "text": "hi"}]},
        {"content": [{"type": "image", "data": "aGk="}]},
        {"structuredContent": {"a": 1}},
        {"content": "words", "isError": "yes"},
        {"content": [{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}], "more": 1},
    ],
)
async def test_what_came_of_a_call_is_handed_through(said):
    async with (
        a_server({"tools/call": said}) as s,
        connect(ServerAddress(s.url), Visit()) as client,
    ):
        result = await client.call_tool("echo", {})

    assert said == raw_result(result)
    assert bool(said.get("isError")) is result.is_error


async def test_that_a_result_is_not_what_was_promised_does_not_hide_it():
    promised = tool("echo", outputSchema={"type": "object", "required": ["a"]})
    answers = {"tools/list": listing(promised), "tools/call": {"structuredContent": {"b": 1}}}

    async with a_server(answers) as s, connect(ServerAddress(s.url), Visit()) as client:
        before = await client.call_tool("echo", {})
        await client.list_tools()
        after = await client.call_tool("echo", {})

    assert {"structuredContent": {"b": 1}} == raw_result(before) == raw_result(after)
    assert 1 == s.methods().count("tools/list")


def test_other_answers_are_left_alone():
    hello = {"protocolVersion": "1", "capabilities": {"tools": {}}}

    assert hello == make_fit(hello)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # httpcore2's own
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_half_a_character_does_not_lose_an_answer(kind):
    async def cut(asked):
        said = {"content": [{"type": "text", "text": "cut \ud83d"}]}
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": said}).encode()
        framed = b"event: message\ndata: " + body + b"\n\n"
        is_stream = kind == "text/event-stream"
        return Raw(framed if is_stream else body, headers={"content-type": kind})

    answers = {"tools/call": cut}
    async with a_server(answers) as s, connect(ServerAddress(s.url), Visit()) as client:
        result = await client.call_tool("echo", {})

    assert "cut \ufffd" == raw_result(result)["content"][0]["text"]


PIECES = st.sampled_from(
    [
        rb"\ud83d",
        rb"\ude00",
        rb"\uD83D",
        rb"\\",
        rb"\n",
        rb"\u00e9",
        b"a",
        "é".encode(),
        b'"',
        b"\n",
    ]
)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (rb'"cut \ud83d"', rb'"cut \ufffd"'),
        (rb'"\uDE00 cut"', rb'"\ufffd cut"'),
        (rb'"\ud83d\ude00"', rb'"\ud83d\ude00"'),
        (rb'"\ud83d\ud83d\ude00\ude00"', rb'"\ufffd\ud83d\ude00\ufffd"'),
        (rb'"\\ud83d"', rb'"\\ud83d"'),
        (rb'"\\\ud83d"', rb'"\\\ufffd"'),
        (rb'"\u00e9\ud7ff"', rb'"\u00e9\ud7ff"'),
    ],
)
def test_only_halves_are_mended(data, expected):
    assert expected == mend(data)


@given(st.lists(PIECES, max_size=12).map(b"".join), st.lists(st.integers(1, 9), max_size=40))
def test_a_stream_is_mended_however_it_is_cut(data, sizes):
    mending, said, rest = StreamMender(), b"", data
    for size in sizes:
        said += mending.feed(rest[:size])
        rest = rest[size:]
    said += mending.feed(rest) + mending.rest()

    assert mend(data) == said


@given(st.text(st.characters(codec=None), max_size=20))
def test_what_was_mended_can_be_read_by_all(text):
    read = json.loads(mend(json.dumps(text).encode()))

    assert len(read.encode()) >= len(text.encode(errors="ignore"))


def test_what_is_over_is_not_held_back():
    event = b'data: {"text":"a\\n"}\n\n'

    assert event == StreamMender().feed(event)


@pytest.mark.parametrize("before", [b"", b"a", b"\\u0041"])
def test_no_more_is_held_back_than_may_be_an_escape(before):
    """A server may send backslashes without an end: what is held back has no other bound."""
    mending, sent = StreamMender(), before + b"\\" * 65_536
    said = mending.feed(sent)

    assert len(sent) - len(said) <= 12
    for _ in range(3):
        assert 65_536 - 12 <= len(mending.feed(b"\\" * 65_536))
