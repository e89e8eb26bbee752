"""What is kept of an attempt that was cut short: pieces of its episode to messages. Pure.

Text and thoughts are kept as far as they had come. A call is kept if its arguments are whole and
valid; what is left of a call nobody could execute is dropped. A result is kept if it is whole and
answers a call that is kept here or was committed before. What then still lacks a result is closed
by the law when the interruption is finished.
"""

from collections.abc import Iterable, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from actors.episodes.pieces import ArgsPiece, Piece, ReasoningPiece, ResultPiece, Said
from actors.ids import ModelConfigId
from actors.machine.chat import Body, Role
from actors.parts.json_text import is_json
from actors.parts.model import (
    FilePart,
    JsonText,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)


def partial_rows(
    said: Iterable[Said],
    *,
    open_calls: Set[str],
    now: datetime,
    runtime_ms: int | None,
    model_config_id: ModelConfigId | None = None,
) -> tuple[Body, ...]:
    """`open_calls`: committed before and not answered. `runtime_ms`: None if no model was asked."""
    draft = _Draft(set(open_calls), now)
    for piece in said:
        if piece.role is Role.ASSISTANT:
            draft.hear(piece.piece)
        elif isinstance(piece.piece, ToolResultPart):
            draft.answer(piece.piece)
    rows = [replace(row, model_config_id=model_config_id) for row in draft.finish()]
    for index, row in enumerate(rows):
        if row.role is Role.ASSISTANT and any(not isinstance(p, FilePart) for p in row.parts):
            rows[index] = replace(row, runtime_ms=runtime_ms or None)
            break
    return tuple(rows)


@dataclass(slots=True)
class _Text:
    pieces: list[str]

    def part(self) -> Part | None:
        return TextPart("".join(self.pieces))


@dataclass(slots=True)
class _Thought:
    pieces: list[str]
    began: datetime
    ended: datetime
    notes: JsonText | None

    def part(self) -> Part | None:
        return ReasoningPart("".join(self.pieces), self.began, self.ended, self.notes)


@dataclass(slots=True)
class _Whole:
    whole: Part

    def part(self) -> Part | None:
        return self.whole


@dataclass(slots=True)
class _Call:
    """Arguments on their way, until the whole call comes and wins."""

    piece: ArgsPiece
    args: list[str] = field(default_factory=list)
    whole: ToolCallPart | None = None

    def part(self) -> Part | None:
        if self.whole is not None:
            return self.whole if self.whole.args and is_json(self.whole.args) else None
        args = "".join(self.args)
        if not args or not is_json(args):
            return None
        piece = self.piece
        return ToolCallPart(
            piece.id,
            piece.name,
            JsonText(args),
            piece.provider_executed,
            mcp_server_config_id=piece.mcp_server_config_id,
            created_at=piece.created_at,
        )


@dataclass(slots=True)
class _Draft:
    waiting: set[str]  # calls that may still be answered
    now: datetime
    rows: list[Body] = field(default_factory=list)
    coming: list[_Text | _Thought | _Whole | _Call] = field(default_factory=list)
    calls: dict[str, _Call] = field(default_factory=dict)

    def hear(self, piece: Piece) -> None:
        match piece:
            case ArgsPiece(id=id) if id:
                call = self._call(id, piece)
                if call.whole is None:
                    call.args.append(piece.args_delta)
            case ToolCallPart(id=id) if id:
                self._call(id, ArgsPiece(id, piece.name, "")).whole = piece
            case ReasoningPiece():
                self._think(piece)
            case TextPart(text=text):
                self._speak(text)
            case ArgsPiece() | ToolCallPart() | ResultPiece():
                pass  # without an id nothing can answer it; pieces of results are never kept
            case _:
                self.coming.append(_Whole(piece))

    def answer(self, result: ToolResultPart) -> None:
        """The first whole result counts, and only for a call that is kept."""
        self._flush()
        if result.id in self.waiting and is_json(result.result):
            self.waiting.discard(result.id)
            self.rows.append(Body(Role.TOOL, (result,)))

    def finish(self) -> list[Body]:
        self._flush()
        return self.rows

    def _call(self, id: str, piece: ArgsPiece) -> _Call:
        if (call := self.calls.get(id)) is None:
            call = self.calls[id] = _Call(piece)
            self.coming.append(call)
        return call

    def _speak(self, text: str) -> None:
        last = self.coming[-1] if self.coming else None
        if isinstance(last, _Text):
            last.pieces.append(text)
        else:
            self.coming.append(_Text([text]))

    def _think(self, piece: ReasoningPiece) -> None:
        last = self.coming[-1] if self.coming else None
        if not isinstance(last, _Thought):
            last = _Thought([], piece.created_at or self.now, self.now, None)
            self.coming.append(last)
        last.pieces.append(piece.text)
        last.notes = piece.provider_metadata or last.notes

    def _flush(self) -> None:
        """Close the assistant's message that is in the making."""
        parts = tuple(part for coming in self.coming if (part := coming.part()) is not None)
        self.coming.clear()
        self.calls.clear()
        if parts:
            self.rows.append(Body(Role.ASSISTANT, parts))
            called = (p for p in parts if isinstance(p, ToolCallPart) and not p.provider_executed)
            self.waiting |= {call.id for call in called}
