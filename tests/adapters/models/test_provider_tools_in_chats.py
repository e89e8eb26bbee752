"""Searches that Anthropic runs itself, and pages that it reads, through whole turns of a chat.

The samples are written by hand after Anthropic's public documentation.
"""

import json

import trio

from actors.chat.turn.answering import CONTINUATIONS_MAX
from actors.law.parts.message import Cost
from actors.law.parts.prompt import AnthropicOptions, CallSettings, WebFetch, WebSearch
from tests.adapters.models.wired import a_config, a_wired_chat, sent
from tests.fakes.network import streamed, whole
from tests.fakes.scripted import ScriptedTools

CONFIG = a_config(
    "anthropic",
    "claude-sonnet-4-5",
    provider_tools=(WebSearch(), WebFetch()),
    settings=CallSettings(options=AnthropicOptions()),
)
FOUND = [
    {
        "type": "web_search_result",
        "url": "https://a.test/rivers",
        "title": "Rivers",
        "encrypted_content": "EqgfCioIARgB",
        "page_age": None,
    }
]


def event(type, **more):
    return f"event: {type}\ndata: {json.dumps({'type': type} | more)}\n\n".encode()


def text(said):
    return {"type": "text", "text": ""}, {"type": "text_delta", "text": said}


def search(id, query="rivers"):
    block = {"type": "server_tool_use", "id": id, "name": "web_search", "input": {}}
    args = json.dumps({"query": query})
    return block, {"type": "input_json_delta", "partial_json": args}


def found(id):
    return {"type": "web_search_tool_result", "tool_use_id": id, "content": FOUND}, None


def call(id, name="read"):
    block = {"type": "tool_use", "id": id, "name": name, "input": {}}
    return block, {"type": "input_json_delta", "partial_json": "{}"}


def thought(said, signature):
    block = {"type": "thinking", "thinking": said, "signature": signature}
    return block, None


def answer(*blocks, stop="end_turn", input_tokens=10, output_tokens=5):
    usage = {"input_tokens": input_tokens, "output_tokens": 1}
    body = event("message_start", message={"id": "msg", "usage": usage})
    for index, (block, delta) in enumerate(blocks):
        body += event("content_block_start", index=index, content_block=block)
        if delta is not None:
            body += event("content_block_delta", index=index, delta=delta)
        body += event("content_block_stop", index=index)
    ending = {"stop_reason": stop, "stop_sequence": None}
    body += event("message_delta", delta=ending, usage={"output_tokens": output_tokens})
    return [streamed(body + event("message_stop"))]


def blocks(message):
    """Return the type of each block of a message, with its text or id."""
    return [
        (each["type"], each.get("text") or each.get("id") or each.get("tool_use_id"))
        for each in message["content"]
    ]


async def settled(first, *others, then=None, **more):
    """The stage when all has been said; `then` is sent while the first answer is on its way."""
    async with a_wired_chat(CONFIG, [1.0, *first], *others, **more) as (stage, network):
        if then is not None:
            await stage.send(then)
        await trio.sleep(60)
        return stage, network


# an answer that the provider pauses

PAUSED = answer(text("I look it up. "), search("srv_1"), stop="pause_turn")
REST = answer(found("srv_1"), text("Three rivers."))


async def test_an_answer_that_is_paused_goes_on_in_the_same_turn(autojump_clock):
    stage, network = await settled(PAUSED, REST)

    assert stage.status == "waiting"
    assert stage.said == [
        ("user", "hello"),
        ("assistant", "I look it up. "),
        ("assistant", "web_search(srv_1)"),
        ("assistant", stage.said[3][1]),
        ("assistant", "SourcePart"),
        ("assistant", "Three rivers."),
    ]
    assert stage.said[3][1].startswith("srv_1=")
    assert len(stage.rows) == 2
    first, second = sent(network)
    assert second["messages"][:-1] == first["messages"]
    assert blocks(second["messages"][-1]) == [
        ("text", "I look it up. "),
        ("server_tool_use", "srv_1"),
    ]
    assert second["tools"] == first["tools"]


async def test_watchers_see_a_paused_answer_as_one(autojump_clock):
    stage, _ = await settled(PAUSED, REST)

    shown = stage.shown()
    assert shown[0] == "I look it up. "
    assert shown[-1] == "Three rivers."
    assert "web_search(srv_1)" in shown


async def test_a_paused_answer_goes_back_whole_with_the_next_message(autojump_clock):
    stage, network = await settled(PAUSED, REST, answer(text("Yes.")), then="sure?")

    [*_, last] = sent(network)
    assert stage.said[-1] == ("assistant", "Yes.")
    assert blocks(last["messages"][1]) == [
        ("text", "I look it up. "),
        ("server_tool_use", "srv_1"),
        ("web_search_tool_result", "srv_1"),
        ("text", "Three rivers."),
    ]
    assert last["messages"][1]["content"][2]["content"] == FOUND


async def test_thoughts_of_a_paused_answer_go_back_with_their_signatures(autojump_clock):
    paused = answer(thought("hm", "sig-1"), search("srv_1"), stop="pause_turn")

    _, network = await settled(paused, REST)

    [_, second] = sent(network)
    assert second["messages"][-1]["content"][0] == {
        "type": "thinking",
        "thinking": "hm",
        "signature": "sig-1",
    }


async def test_every_part_of_a_paused_answer_is_paid_and_the_last_one_fills_the_window(
    autojump_clock,
):
    stage, _ = await settled(
        answer(text("a "), stop="pause_turn", input_tokens=100),
        answer(text("b "), stop="pause_turn", input_tokens=200),
        answer(text("c"), input_tokens=300),
    )

    body = stage.rows[-1]
    assert body.cost == Cost(6, "table")  # two for each call
    assert body.usage.input_tokens == 300


async def test_an_answer_that_is_paused_for_ever_ends_the_turn_with_what_there_is(autojump_clock):
    paused = [answer(text(f"{n} "), stop="pause_turn") for n in range(CONTINUATIONS_MAX + 1)]

    stage, network = await settled(*paused)

    assert len(network.requests) == CONTINUATIONS_MAX + 1
    assert stage.status == "waiting"
    assert stage.said[-1] == ("assistant", f"{CONTINUATIONS_MAX} ")


OVERLOADED = [
    whole(b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', 529)
]


async def test_a_continuation_that_fails_is_a_failed_attempt_and_is_made_anew(autojump_clock):
    stage, network = await settled(PAUSED, OVERLOADED, answer(text("Three rivers.")))

    assert stage.said == [("user", "hello"), ("assistant", "Three rivers.")]
    assert [len(request["messages"]) for request in sent(network)] == [1, 2, 1]


# pages that Anthropic reads itself

PAGE = {
    "type": "web_fetch_result",
    "url": "https://a.test/rivers",
    "content": {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": "Three of them."},
        "title": "Rivers",
    },
    "retrieved_at": "2026-01-01T00:00:00Z",
}


def fetch(id):
    block = {"type": "server_tool_use", "id": id, "name": "web_fetch", "input": {}}
    args = json.dumps({"url": PAGE["url"]})
    return block, {"type": "input_json_delta", "partial_json": args}


def page(id):
    return {"type": "web_fetch_tool_result", "tool_use_id": id, "content": PAGE}, None


async def test_a_page_that_was_read_is_kept_and_goes_back_as_it_came(autojump_clock):
    read = answer(fetch("srv_1"), page("srv_1"), text("Three rivers."))

    stage, network = await settled(read, answer(text("Yes.")), then="sure?")

    [_, last] = sent(network)
    assert stage.said[1] == ("assistant", "web_fetch(srv_1)")
    assert stage.said[-1] == ("assistant", "Yes.")
    assert blocks(last["messages"][1]) == [
        ("server_tool_use", "srv_1"),
        ("web_fetch_tool_result", "srv_1"),
        ("text", "Three rivers."),
    ]
    assert last["messages"][1]["content"][1]["content"] == PAGE


async def test_a_page_that_is_read_beside_a_local_call_comes_with_the_next_answer(autojump_clock):
    tools = ScriptedTools().add("read")
    beside = answer(text("Both. "), fetch("srv_1"), call("toolu_1"), stop="tool_use")
    rest = answer(page("srv_1"), text("Three rivers."))

    stage, network = await settled(beside, rest, answer(text("Yes.")), then="sure?", tools=tools)

    [_, _, third] = sent(network)
    assert [blocks(message) for message in third["messages"][1:]] == [
        [("text", "Both. "), ("server_tool_use", "srv_1"), ("tool_use", "toolu_1")],
        [("tool_result", "toolu_1")],
        [("web_fetch_tool_result", "srv_1"), ("text", "Three rivers.")],
        [("text", "sure?")],
    ]
    assert stage.said[-1] == ("assistant", "Yes.")


# a search that is under way while a local tool is called

BESIDE = answer(text("Both. "), search("srv_1"), call("toolu_1"), stop="tool_use")


async def test_a_search_beside_a_local_call_goes_back_and_its_result_is_kept(autojump_clock):
    tools = ScriptedTools().add("read")

    stage, network = await settled(BESIDE, REST, answer(text("Yes.")), then="sure?", tools=tools)

    _, second, third = sent(network)
    beside = [("text", "Both. "), ("server_tool_use", "srv_1"), ("tool_use", "toolu_1")]
    assert [blocks(message) for message in second["messages"][1:]] == [
        beside,
        [("tool_result", "toolu_1")],
    ]
    assert [blocks(message) for message in third["messages"][1:]] == [
        beside,
        [("tool_result", "toolu_1")],
        [("web_search_tool_result", "srv_1"), ("text", "Three rivers.")],
        [("text", "sure?")],
    ]
    assert stage.said[-1] == ("assistant", "Yes.")


async def test_a_search_that_was_never_answered_is_left_out_of_the_next_turn(autojump_clock):
    tools = ScriptedTools().add("read")
    ended = answer(text("Enough."))

    stage, network = await settled(BESIDE, ended, answer(text("Yes.")), then="sure?", tools=tools)

    [*_, third] = sent(network)
    assert blocks(third["messages"][1]) == [("text", "Both. "), ("tool_use", "toolu_1")]
    assert stage.status == "waiting"
