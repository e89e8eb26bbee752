"""Messages on the wire: which of them a client sees, and how they look to him."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args
from uuid import UUID

import msgspec
import pytest

from actors.law.chat import (
    Body,
    ChatError,
    Message,
    QueuedMessage,
    RetryState,
    Role,
    UserMessage,
    Visibility,
)
from actors.law.ids import ChatId, FileId, MessageId, ModelConfigId, QueuedId, UserId
from actors.law.parts import message as model
from actors.law.parts.message import JsonText, TextPart, TokenUsage
from adapters.chats.wire.messages import (
    error_of,
    is_shown,
    json_of,
    message_of,
    part_of,
    parts_of,
    queued_of,
    retry_of,
)
from tests.fakes.records import unseen

CHAT = ChatId(UUID(int=1))
ANN = UserId(UUID(int=2))
SMART = ModelConfigId(UUID(int=3))
FILE = FileId(UUID(int=4))
AT = datetime(2026, 1, 2, 3, 4, 5, 600000, tzinfo=UTC)

# On every part of the reference, whatever its type.
ALWAYS = {
    "text": "",
    "mcp_server_config_id": None,
    "url": "",
    "media_type": "",
    "file_id": None,
    "file_name": "",
    "start_line": 0,
    "end_line": 0,
    "content": "",
    "context_file_path": "",
    "context_file_agent_id": None,
    "skill_name": "",
}


def on_the_wire(thing):
    return msgspec.json.decode(msgspec.json.encode(thing))


def saying(*parts, role=Role.ASSISTANT, **more):
    return Message(MessageId(41), 3, AT, False, Body(role, parts, **more))


def test_a_text_looks_as_it_does_in_the_reference():
    assert (
        b'{"type":"text","text":"hi","mcp_server_config_id":null,"url":"","media_type":"",'
        b'"file_id":null,"file_name":"","start_line":0,"end_line":0,"content":"",'
        b'"context_file_path":"","context_file_agent_id":null,"skill_name":""}'
        == msgspec.json.encode(part_of(TextPart("hi", JsonText('{"a":{}}'))))
    )


PARTS = [
    (
        model.ReasoningPart("hm", AT, AT, JsonText('{"signature":"s"}')),
        {"text": "hm", "created_at": "2026-01-02T03:04:05.600000Z"}
        | {"completed_at": "2026-01-02T03:04:05.600000Z"},
    ),
    (
        model.ToolCallPart("c", "execute", JsonText('{"a": 1}'), parsed_commands=(("ls", "-l"),)),
        {"tool_call_id": "c", "tool_name": "execute", "args": {"a": 1}}
        | {"parsed_commands": [["ls", "-l"]]},
    ),
    (
        model.ToolCallPart("c", "look", None, provider_executed=True, mcp_server_config_id=FILE),
        {"tool_call_id": "c", "tool_name": "look", "provider_executed": True}
        | {"mcp_server_config_id": str(FILE)},
    ),
    (
        model.ToolResultPart("c", "look", JsonText('"no"'), is_error=True, created_at=AT),
        {"tool_call_id": "c", "tool_name": "look", "result": "no", "is_error": True}
        | {"created_at": "2026-01-02T03:04:05.600000Z"},
    ),
    (
        model.ToolResultPart("c", "look", JsonText("null")),
        {"tool_call_id": "c", "tool_name": "look", "result": None},
    ),
    (
        model.SourcePart("s", "https://a.example", "A"),
        {"source_id": "s", "url": "https://a.example", "title": "A"},
    ),
    (
        model.FilePart("image/png", "a.png", FILE, "AAAA"),
        {"media_type": "image/png", "name": "a.png", "file_id": str(FILE)},
    ),
    (model.FilePart("image/png", data="AAAA"), {"media_type": "image/png", "data": "AAAA"}),
    (
        model.FileReferencePart("a.py", 3, 4, "x"),
        {"file_name": "a.py", "start_line": 3, "end_line": 4, "content": "x"},
    ),
    (
        model.ContextFilePart("AGENTS.md", "secret", True, FILE, "linux", "/home"),
        {"context_file_path": "AGENTS.md", "context_file_truncated": True}
        | {"context_file_agent_id": str(FILE)},
    ),
    (
        model.SkillPart("cook", "how to", "/skills", "SKILL.md"),
        {"skill_name": "cook", "skill_description": "how to"},
    ),
    (model.HookNoticePart("beware"), {"text": "beware"}),
]


@pytest.mark.parametrize(("part", "expected"), PARTS)
def test_a_part_shows_its_own_keys_and_those_of_every_part(part, expected):
    shown = on_the_wire(part_of(part))

    assert ALWAYS | expected == {key: value for key, value in shown.items() if key != "type"}


def test_what_a_hook_tells_the_model_is_left_out():
    shown = parts_of((model.HookContextPart("psst"), model.HookNoticePart("hey"), TextPart("a")))

    assert ["hook-notice", "text"] == [part.type for part in shown]


def test_a_message_has_what_was_recorded_of_it():
    message = saying(
        TextPart("a"),
        created_by=ANN,
        model_config_id=SMART,
        usage=TokenUsage(input_tokens=10, output_tokens=0, cache_read_tokens=3),
        context_limit=4096,
    )

    shown = on_the_wire(message_of(CHAT, message))

    assert {
        "id": 41,
        "chat_id": str(CHAT),
        "created_by": str(ANN),
        "model_config_id": str(SMART),
        "created_at": "2026-01-02T03:04:05.600000Z",
        "role": "assistant",
        "content": [{"type": "text"} | ALWAYS | {"text": "a"}],
        "usage": {"input_tokens": 10, "cache_read_tokens": 3, "context_limit": 4096},
    } == shown


def test_a_message_leaves_out_what_nobody_recorded():
    shown = on_the_wire(message_of(CHAT, saying(model.HookContextPart("psst"))))

    assert {"id", "chat_id", "created_at", "role"} == set(shown)


def test_clients_see_neither_systems_nor_models_messages_nor_deleted_ones():
    seen = saying(TextPart("a"))
    hidden = [
        replace(seen, deleted=True),
        saying(TextPart("a"), role=Role.SYSTEM),
        saying(TextPart("a"), visibility=Visibility.MODEL),
    ]

    assert is_shown(seen)
    assert is_shown(saying(TextPart("a"), visibility=Visibility.USER))
    assert not [message for message in hidden if is_shown(message)]


def test_what_waits_has_the_time_at_which_it_came():
    row = QueuedMessage(
        QueuedId(7), 1, UserMessage((TextPart("later"),), ANN, SMART), created_at=AT
    )

    shown = on_the_wire(queued_of(CHAT, row))

    assert {
        "id": 7,
        "chat_id": str(CHAT),
        "model_config_id": str(SMART),
        "content": [{"type": "text"} | ALWAYS | {"text": "later"}],
        "created_at": "2026-01-02T03:04:05.600000Z",
    } == shown


def test_an_error_without_words_gets_some():
    assert {
        "message": "The chat was stopped by an error.",
        "kind": "generic",
        "retryable": False,
    } == on_the_wire(error_of(ChatError("", kind="")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1}', b'{"a": 1}'),
        ('{\n"a":\r1}', b'{ "a": 1}'),
        ('"\\ud83d\\ude00"', b'"\\ud83d\\ude00"'),
        ('"\\ud83d"', b'"\\ufffd"'),
        ('"\\\\ud83d"', b'"\\\\ud83d"'),
    ],
)
def test_json_of_others_is_put_in_on_one_line_and_without_halves_of_characters(text, expected):
    assert expected == bytes(json_of(JsonText(text)))


@pytest.mark.parametrize("text", [None, "", "{", '"\ud83d"', "nope", '{"a": 1} 2'])
def test_what_is_no_json_is_left_out(text):
    assert msgspec.UNSET is json_of(text)


# What clients are not shown of what is stored, and why not.
HIDDEN = {
    model.TextPart: {"provider_metadata"},  # a provider's own notes
    model.ReasoningPart: {"provider_metadata"},
    model.ToolCallPart: {"provider_metadata"},
    model.ToolResultPart: {"provider_metadata"},
    model.SourcePart: {"provider_metadata"},
    model.FilePart: {"provider_metadata", "data"},  # a stored file is fetched by its id
    model.ContextFilePart: {"content", "os", "directory"},  # only the prompt needs these
    model.SkillPart: {"directory", "meta_file"},
    Message: {"revision", "deleted"},  # they say whether it is shown
    Body: {"visibility", "compressed", "reasoning_effort", "runtime_ms", "cost"},
    QueuedMessage: {"position"},  # the order of the queue says it
    UserMessage: {"created_by", "reasoning_effort"},
    ChatError: {"of_compaction"},  # only a retry needs it
}
SHOWN = {
    **{kind: part_of for kind in get_args(model.Part) if kind is not model.HookContextPart},
    Message: lambda message: message_of(CHAT, message),
    Body: lambda body: message_of(CHAT, Message(MessageId(1), 1, AT, False, body)),
    QueuedMessage: lambda row: queued_of(CHAT, row),
    UserMessage: lambda sent: queued_of(CHAT, QueuedMessage(QueuedId(1), 1, sent, created_at=AT)),
    ChatError: error_of,
    RetryState: retry_of,
}


@pytest.mark.parametrize("kind", SHOWN, ids=lambda kind: kind.__name__)
def test_every_field_is_shown_unless_it_is_named_as_hidden(kind):
    hidden = unseen(kind, lambda record: msgspec.json.encode(SHOWN[kind](record)))

    assert HIDDEN.get(kind, set()) == hidden
