"""What is not understood counts as no; what is understood says exactly what it says."""

import json
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.chat import Body, Message, Role
from actors.law.parts.message import (
    FilePart,
    HookContextPart,
    HookNoticePart,
    JsonText,
    TextPart,
    ToolCallPart,
)
from actors.tools.hooks.port import DECIDED_EVENTS, HookFailed, HookReply, HookSubject
from actors.tools.hooks.rules import PromptDenied, call_after, context_row, prompt_after, was_nudged
from adapters.tools.hooks.replies import CONTEXT_BYTES_MAX, REPLY_BYTES_MAX, read_reply
from adapters.tools.hooks.signing import HookQuestion

CALL = ToolCallPart("c", "execute", JsonText("{}"))


def read(document, event="pre_tool_use", status=200):
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read_reply(event, status, body)


@pytest.mark.parametrize("body", [b"", b" \n", {}, {"permission": None}])
def test_an_empty_answer_allows(body):
    assert HookReply() == read(body)


def test_an_answer_says_what_it_says():
    denied = read({"permission": {"decision": "deny", "reason": "r"}, "user_message": "u"})
    allowed = read(
        {"permission": {"decision": "allow", "input_override": {"a": 1}}, "model_context": "m"}
    )

    assert HookReply("deny", "r", None, "", "u") == denied
    assert HookReply("allow", "", JsonText('{"a": 1}'), "m") == allowed


@pytest.mark.parametrize(
    "body",
    [
        b"no",
        b"[]",
        b"{} {}",
        b'{"model_context": NaN}',
        b'{"permission": {}}',
        b'{"user_message": "a", "user_message": "b"}',
        b'{"permission": {"decision": "allow", "input_override": {"a": 1, "a": 2}}}',
        b'{"permission": {"decision": "deny", "decision": "allow"}}',
        {"model_context": 1},
        {"user_message": ["u"]},
        {"why": "x"},
        {"permission": "deny"},
        {"permission": {"decision": "maybe"}},
        {"permission": {"decision": "allow"}},
        {"permission": {"decision": "deny", "input_override": {}}},
        {"permission": {"decision": "deny", "because": "x"}},
        {"model_context": "x" * (CONTEXT_BYTES_MAX + 1)},
        {"model_context": "é" * (CONTEXT_BYTES_MAX // 2 + 1)},
        b"[" * 100_000,
        b"x" * (REPLY_BYTES_MAX + 1),
        b"\xff",
    ],
)
def test_what_is_not_understood_is_a_fault(body):
    assert "protocol_error" == read(body).fault


@pytest.mark.parametrize("status", [100, 301, 307, 400, 401, 500])
def test_only_success_is_an_answer(status):
    assert "http_error" == read({}, status=status).fault


def test_only_prompts_and_calls_are_decided_about():
    deny = {"permission": {"decision": "deny"}}
    for event in ("session_start", "post_tool_use", "pre_compact", "post_compact", "stop"):
        assert "protocol_error" == read(deny, event).fault
    assert {"user_prompt_submit", "pre_tool_use"} == DECIDED_EVENTS
    assert all("deny" == read(deny, event).decision for event in DECIDED_EVENTS)


@given(st.binary(max_size=200))
def test_nothing_breaks_the_reader(body):
    assert isinstance(read(body), HookReply | HookFailed)


def test_a_prompt_keeps_its_files_when_it_is_rewritten():
    file = FilePart("image/png", "a.png")
    reply = HookReply("allow", "", JsonText('{"prompt": "new"}'), "for the model", "for the user")

    assert (
        TextPart("new", hook_rewritten=True),
        file,
        HookContextPart("for the model"),
        HookNoticePart("for the user"),
    ) == prompt_after((TextPart("a"), file, TextPart("b")), reply)


@pytest.mark.parametrize(
    "override", ['{"prompt": " "}', '{"prompt": 1}', "{}", "[]", '{"prompt": "a", "b": 1}']
)
def test_an_override_of_a_prompt_is_one_text(override):
    found = prompt_after((TextPart("a"),), HookReply("allow", "", JsonText(override)))

    assert "protocol_error" == found.fault


def test_a_denied_prompt_says_why_in_words_for_its_sender():
    parts = (TextPart("a"),)
    assert PromptDenied("u") == prompt_after(parts, HookReply("deny", "r", user_message="u"))
    assert PromptDenied("r") == prompt_after(parts, HookReply("deny", "r"))
    assert PromptDenied("no reason was given") == prompt_after(parts, HookReply("deny"))


def test_an_override_of_a_call_is_an_object():
    changed = call_after(CALL, HookReply("allow", "", JsonText('{"a": 1}')))

    assert ('{"a": 1}', True) == (changed.args, changed.hook_rewritten)
    assert "protocol_error" == call_after(CALL, HookReply("allow", "", JsonText("[1]"))).fault
    assert CALL is call_after(CALL, HookReply())


def test_a_hook_makes_the_model_go_on_once_for_each_prompt():
    def history(*bodies):
        at = datetime.now(UTC)
        return [Message(id, 1, at, False, body) for id, body in enumerate(bodies)]

    prompt = Body(Role.USER, (TextPart("a"),))
    answer = Body(Role.ASSISTANT, (TextPart("b"),))
    nudge, told = context_row("go on", nudges=True), context_row("it is monday")

    assert not was_nudged(history(prompt, told, answer))
    assert was_nudged(history(prompt, answer, nudge, answer))
    assert not was_nudged(history(prompt, answer, nudge, answer, prompt, answer))


def test_a_question_can_be_asked_whatever_is_in_it():
    subject = HookSubject(UUID(int=1), UUID(int=2))
    body = HookQuestion(UUID(int=3), "stop", subject, {"half": "\ud800", "of": ["\udc00"]}).body()

    assert {"half": "\ufffd", "of": ["\ufffd"]} == json.loads(body)["data"]
    assert {"dispatch_id", "schema_version", "chat_id", "owner_id"} == json.loads(body)[
        "meta"
    ].keys()
