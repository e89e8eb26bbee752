"""What a watcher is sent: every kind of piece, with its place."""

import json
from datetime import UTC, datetime
from typing import get_args
from uuid import uuid4

import pytest

from actors.episodes.pieces import ArgsPiece, Piece, ReasoningPiece, ResultPiece, Said
from actors.ids import ChatId, EpisodeKey
from actors.machine.chat import Role
from actors.parts import model
from actors.parts.model import JsonText
from adapters.api.pieces import encoded

KEY = EpisodeKey(ChatId(uuid4()), 3, 1)
AT = datetime(2026, 1, 2, tzinfo=UTC)


def shown(piece, *, seq=1, role=Role.ASSISTANT):
    return json.loads(encoded(KEY, Said(seq, role, piece)))


def test_a_piece_comes_with_its_place():
    place = {"history_version": 3, "generation_attempt": 1, "seq": 7, "role": "tool"}

    sent = shown(ResultPiece("c1", "f", "half"), seq=7, role=Role.TOOL)

    assert place == {name: sent[name] for name in place}
    assert ("result", "half") == (sent["type"], sent["piece"]["result_delta"])


@pytest.mark.parametrize(
    ("type", "piece"),
    [
        ("text", model.TextPart("Hel")),
        ("reasoning", ReasoningPiece("hm", AT)),
        ("args", ArgsPiece("c1", "f", '{"a"')),
        ("tool-call", model.ToolCallPart("c1", "f", JsonText("{}"))),
        ("tool-result", model.ToolResultPart("c1", "f", JsonText("1"))),
        ("source", model.SourcePart("s1", "https://example.org")),
        ("file", model.FilePart("image/png", data="aGk=")),
    ],
)
def test_a_piece_says_of_what_type_it_is(type, piece):
    assert type == shown(piece)["type"]


def test_every_piece_there_is_has_a_type():
    from adapters.api.pieces import _TYPES

    assert set(get_args(Piece)) == set(_TYPES)
