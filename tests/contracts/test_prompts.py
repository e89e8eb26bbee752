"""Whatever stands in a history, each provider is asked in a way that it does not refuse.

The rules are the vendors': they refuse a whole conversation for one call without its result. Any
history is made up, also ones that no program of ours would store, and asked of every wire.
"""

import itertools
import json
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from actors.law.chat import Role, Visibility
from actors.law.failures.classify import history_mismatch
from actors.law.parts.message import ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import OPENAI, OPENROUTER, vendor_of
from actors.prompts.projection import project
from actors.prompts.selecting import Target
from adapters.models.providers.anthropic import request as anthropic
from adapters.models.providers.google import request as google
from adapters.models.providers.openai_chat import request as chat
from adapters.models.providers.openai_responses import request as responses
from tests.actors.prompts.rows import history, row

OURS, THEIRS = UUID(int=1), UUID(int=2)
NOTES = (
    '{"anthropic":{"signature":"s"}}',
    '{"anthropic":{"redacted_data":"x"}}',
    '{"anthropic":{"web_search":[]}}',
    '{"anthropic":{"web_fetch":{"type":"web_fetch_result","url":"u"}}}',
    '{"openai_responses":{"reasoning":{"id":"rs_1","encrypted_content":"e","summary":[]}}}',
    '{"openai_responses":{"item":{"type":"web_search_call","id":"w"},"led_by":"rs_1"}}',
    '{"google":{"thought_signature":"s"}}',
)

OWN_RESULTS = ("web_search_tool_result", "web_fetch_tool_result")
IDS = st.sampled_from(["a", "b", "c d", "c.d", "w"])
TEXTS = st.sampled_from(["", " ", "so", "nul \0 \ufffd"])
NOTED = st.sampled_from([None, *NOTES])
OWN = st.booleans() | st.just(False)
PARTS = st.one_of(
    st.builds(TextPart, TEXTS),
    st.builds(ReasoningPart, TEXTS, provider_metadata=NOTED),
    st.builds(
        ToolCallPart,
        IDS,
        st.sampled_from(["f", "web_search", "web_fetch"]),
        st.sampled_from([None, "{}", '{"x":1}', "[]", '{"bro']),
        OWN,
        provider_metadata=NOTED,
    ),
    st.builds(
        ToolResultPart,
        IDS,
        st.sampled_from(["f", "web_search", "web_fetch"]),
        st.sampled_from(['{"output":"ok"}', '{"error":"no"}', "[1]", '"x"']),
        st.booleans(),
        provider_executed=OWN,
        provider_metadata=NOTED,
    ),
)
ROWS = st.builds(
    lambda role, parts, **more: row(role, *parts, **more),
    st.sampled_from([Role.USER, Role.ASSISTANT, Role.ASSISTANT, Role.TOOL, Role.SYSTEM]),
    st.lists(PARTS, max_size=4),
    visibility=st.sampled_from([Visibility.BOTH, Visibility.BOTH, Visibility.MODEL]),
    compressed=st.sampled_from([False] * 9 + [True]),
    deleted=st.sampled_from([False] * 9 + [True]),
    model=st.sampled_from([OURS, THEIRS, None]),
)


def check_anthropic(body):
    messages = body["messages"]
    roles = [message["role"] for message in messages]
    every = [b["id"] for m in messages for b in m["content"] if b["type"] == "tool_use"]
    assert len(every) == len(set(every))
    assert all(one != other for one, other in itertools.pairwise(roles))
    for said, answered in itertools.zip_longest(messages, messages[1:]):
        assert said["content"]
        if said["role"] == "user":
            continue
        calls = [block["id"] for block in said["content"] if block["type"] == "tool_use"]
        blocks = answered["content"] if answered else []
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        assert calls == results
        assert len(calls) == len(set(calls))
        assert [b["type"] for b in blocks[: len(calls)]] == ["tool_result"] * len(calls)
        for block in said["content"]:
            assert block["type"] not in ("tool_use", "server_tool_use") or block["input"] == dict(
                block["input"]
            )
    if messages and roles[0] == "user":
        assert not any(b["type"] == "tool_result" for b in messages[0]["content"])
    check_own_tools(messages)


def check_own_tools(messages):
    """Check that each call of Anthropic's own has its result: behind it, or in the next message of
    the assistant. Of the last message it may still run. Only results of tools stand between."""
    running = {}
    for said in messages:
        before = set(running)
        for block in said["content"]:
            if said["role"] == "user":
                assert not running or block["type"] == "tool_result"
            elif block["type"] == "server_tool_use":
                assert block["id"] not in running
                running[block["id"]] = f"{block['name']}_tool_result"
            elif block["type"] in OWN_RESULTS:
                assert running.pop(block["tool_use_id"]) == block["type"]
        assert said["role"] == "user" or not before & running.keys()


def check_chat(body):
    wanted = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert wanted
            assert message["tool_call_id"] == wanted.pop(0)
            continue
        assert not wanted
        calls = message.get("tool_calls", [])
        wanted = [call["id"] for call in calls]
        assert len(wanted) == len(set(wanted))
        for call in calls:
            assert isinstance(json.loads(call["function"]["arguments"]), dict)


def check_responses(body):
    wanted = []
    for item in body["input"]:
        match item.get("type"):
            case "function_call":
                assert item["call_id"] not in wanted
                wanted.append(item["call_id"])
            case "function_call_output":
                wanted.remove(item["call_id"])
            case None:
                assert not wanted or item["role"] == "assistant"
    assert not wanted


def check_google(body):
    wanted = []
    for content in body["contents"]:
        assert content["parts"]
        told = [
            part["functionResponse"]["name"] for part in content["parts"] if _is(part, "Response")
        ]
        assert told == wanted
        wanted = [part["functionCall"]["name"] for part in content["parts"] if _is(part, "Call")]
    assert not wanted


def _is(part, kind):
    return f"function{kind}" in part


WIRES = {
    "anthropic": (lambda p: anthropic.body(p, model=None, extra={}), "claude", check_anthropic),
    "openai": (lambda p: chat.request_body(p, OPENAI.dialect, stream=True), "gpt-4o", check_chat),
    "openrouter": (
        lambda p: chat.request_body(p, OPENROUTER.dialect, stream=True),
        "x/y",
        check_chat,
    ),
    "openai-responses": (
        lambda p: responses.request_body(p, stream=True),
        "gpt-5",
        check_responses,
    ),
    "google": (google.request_body, "gemini-3-pro", check_google),
}


THOUGHT = ReasoningPart("", provider_metadata=NOTES[4])
SEARCH_OF_OURS = ToolCallPart("a", "f", "{}", False, provider_metadata=NOTES[5])


def is_torn(row):
    """Signed as a whole, with a result in it that belongs to nothing: it can be neither sent nor
    mended, and no provider says so."""
    parts = row.body.parts
    return any(getattr(part, "provider_metadata", None) in NOTES[:2] for part in parts) and any(
        isinstance(part, ToolResultPart) and part.provider_executed for part in parts
    )


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60, deadline=None)
@given(rows=st.lists(ROWS, max_size=7))
@example([row(Role.ASSISTANT, THOUGHT, SEARCH_OF_OURS)])
def test_whatever_was_said_no_provider_refuses_it(wire, rows):
    ask, model, check = WIRES[wire]
    target = Target(wire, "ours", vendor_of(wire).rules)
    identities = {OURS: "ours", THEIRS: "theirs"}

    made = project(history(*rows), target=target, identity_of=identities.get, files={})

    if made == history_mismatch(wire):
        assert any(map(is_torn, rows))
        return
    check(json.loads(ask(Prompt(model, made.messages, made.system))))
