"""What a watcher is sent: every kind of piece, with its place."""

import json
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from actors.law.chat import Role
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts import message as model
from actors.law.parts.message import JsonText
from actors.streams.pieces import ArgsPiece, NumberedPiece, ReasoningPiece, ResultPiece
from adapters.chats.streams.events import as_sse, encode_piece
from tests.fakes.records import unseen

KEY = EpisodeKey(ChatId(uuid4()), 3, 1)
AT = datetime(2026, 1, 2, tzinfo=UTC)


def shown(piece, *, seq=1, role=Role.ASSISTANT):
    return json.loads(encode_piece(KEY, NumberedPiece(seq, role, piece)))


def told(piece):
    """What a client finds in it, beside the zeros."""
    part = shown(piece)["message_part"]["part"]
    return {key: value for key, value in part.items() if value not in (None, "", 0)}


def test_a_piece_comes_with_its_place():
    sent = shown(model.ToolResultPart("c1", "f", JsonText("1")), seq=7, role=Role.TOOL)

    part = sent["message_part"].pop("part")
    assert {
        "type": "message_part",
        "chat_id": str(KEY.chat),
        "message_part": {
            "role": "tool",
            "history_version": 3,
            "generation_attempt": 1,
            "seq": 7,
        },
    } == sent
    assert "tool-result" == part["type"]


def test_the_last_piece_that_is_shown_of_an_attempt_says_so():
    cut = json.loads(encode_piece(KEY, NumberedPiece(8, Role.ASSISTANT, model.TextPart(""), True)))

    assert (8, True) == (cut["message_part"]["seq"], cut["message_part"]["truncated"])
    assert "id: 3.1.8" in as_sse([json.dumps(cut).encode()]).decode()
    assert "true" in as_sse([json.dumps(cut).encode()]).decode()


@pytest.mark.parametrize(
    ("piece", "expected"),
    [
        (model.TextPart("Hel"), {"type": "text", "text": "Hel"}),
        (
            ReasoningPiece("hm", AT),
            {"type": "reasoning", "text": "hm", "created_at": "2026-01-02T00:00:00Z"},
        ),
        (
            ArgsPiece("c1", "f", '{"a"'),
            {"type": "tool-call", "tool_call_id": "c1", "tool_name": "f", "args_delta": '{"a"'},
        ),
        (
            ArgsPiece("c1", "f", "", provider_executed=True),
            {"type": "tool-call", "tool_call_id": "c1", "tool_name": "f"}
            | {"provider_executed": True},
        ),
        (
            model.ToolCallPart("c1", "f", JsonText('{"a":1}'), created_at=AT),
            {"type": "tool-call", "tool_call_id": "c1", "tool_name": "f", "args": {"a": 1}}
            | {"created_at": "2026-01-02T00:00:00Z"},
        ),
        (
            model.ToolCallPart("c1", "f", JsonText("{broken")),
            {"type": "tool-call", "tool_call_id": "c1", "tool_name": "f"},
        ),
        (
            model.ToolResultPart("c1", "f", JsonText("1"), is_error=True),
            {"type": "tool-result", "tool_call_id": "c1", "tool_name": "f", "result": 1}
            | {"is_error": True},
        ),
        (
            ResultPiece("c1", "f", "half"),
            {"type": "tool-result", "tool_call_id": "c1", "tool_name": "f"}
            | {"result_delta": "half"},
        ),
        (
            ResultPiece("c1", "f", "", resets=True),
            {"type": "tool-result", "tool_call_id": "c1", "tool_name": "f", "result_reset": True},
        ),
        (
            model.SourcePart("s1", "https://example.org"),
            {"type": "source", "source_id": "s1", "url": "https://example.org"},
        ),
        (
            model.FilePart("image/png", data="aGk="),
            {"type": "file", "media_type": "image/png", "data": "aGk="},
        ),
    ],
)
def test_a_piece_is_told_as_the_part_that_it_is_of(piece, expected):
    assert expected == told(piece)


@pytest.mark.parametrize("kind", [ArgsPiece, ResultPiece, ReasoningPiece])
def test_every_field_of_a_piece_is_told(kind):
    assert set() == unseen(kind, told)


def test_halves_of_characters_are_mended():
    assert {"type": "text", "text": "a\N{REPLACEMENT CHARACTER}"} == told(model.TextPart("a\ud83d"))
