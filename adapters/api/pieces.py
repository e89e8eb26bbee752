"""What a watcher is sent of an attempt: a piece with its place, encoded once for all of them.

{"history_version":3,"generation_attempt":1,"seq":7,"role":"assistant","type":"text",
 "piece":{"text":"Hel","provider_metadata":null}}
"""

import msgspec

from actors.episodes.pieces import ArgsPiece, Piece, ReasoningPiece, ResultPiece, Said
from actors.ids import EpisodeKey
from actors.parts import model


class _Shown(msgspec.Struct, frozen=True):
    history_version: int
    generation_attempt: int
    seq: int
    role: str
    type: str
    piece: Piece


_encode = msgspec.json.Encoder().encode

_TYPES: dict[type[Piece], str] = {
    ArgsPiece: "args",
    ReasoningPiece: "reasoning",
    ResultPiece: "result",
    model.TextPart: "text",
    model.ReasoningPart: "reasoning",
    model.ToolCallPart: "tool-call",
    model.ToolResultPart: "tool-result",
    model.SourcePart: "source",
    model.FilePart: "file",
    model.FileReferencePart: "file-reference",
    model.ContextFilePart: "context-file",
    model.SkillPart: "skill",
    model.HookContextPart: "hook-context",
    model.HookNoticePart: "hook-notice",
}


def encoded(key: EpisodeKey, said: Said) -> bytes:
    """Fulfils `actors.episodes.buffer.Encode`."""
    piece = said.piece
    return _encode(
        _Shown(
            key.history_version,
            key.attempt,
            said.seq,
            said.role.value,
            _TYPES[type(piece)],
            piece,
        )
    )
