"""Tool calls that arrive in pieces, each piece under an index, an id, both or neither. Pure.

OpenAI numbers its calls and names their ids once. Compatible servers leave out ids, or numbers,
or send every call whole under number 0. A piece that has a name, and an id other than that of the
call it would belong to, begins a new call.
"""

import itertools
from dataclasses import dataclass, field

import msgspec

from actors.law.parts.deltas import Delta, ToolCall, ToolInputDelta, ToolInputStarted
from actors.law.parts.message import JsonText
from adapters.models.providers.openai_chat import wire
from adapters.models.providers.openai_chat.messages import METADATA


@dataclass(slots=True)
class _Call:
    id: str
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    extra: wire.Extra | None = None
    started: bool = False

    def take(self, piece: wire.ToolCallDelta) -> list[Delta]:
        self.extra = piece.extra_content or self.extra
        self.name = self.name or piece.function.name or ""
        args = piece.function.arguments
        if args:
            self.pieces.append(args)
        if not self.name:
            return []  # nothing can be shown of a call without a name
        if self.started:
            return [ToolInputDelta(self.id, self.name, args)] if args else []
        self.started = True
        begun = ToolInputStarted(self.id, self.name)
        args = "".join(self.pieces)
        return [begun, ToolInputDelta(self.id, self.name, args)] if args else [begun]

    def whole(self) -> ToolCall:
        metadata = None
        if self.extra is not None:
            kept = {METADATA: {"extra_content": self.extra}}
            metadata = JsonText(msgspec.json.encode(kept).decode())
        args = JsonText("".join(self.pieces) or "{}")
        return ToolCall(self.id, self.name, args, metadata=metadata)


class Calls:
    """All calls of one answer. `nonce` makes ids for servers that send none."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._numbers = itertools.count()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, piece: wire.ToolCallDelta) -> list[Delta]:
        return self._call(piece).take(piece)

    def end(self) -> list[Delta]:
        """Every call with all its arguments, in the order in which they began."""
        whole: list[Delta] = [call.whole() for call in self._calls if call.name]
        self._calls.clear()
        self._by_index.clear()
        return whole

    def _call(self, piece: wire.ToolCallDelta) -> _Call:
        known = self._known(piece)
        begins = piece.function.name and (
            (piece.id and known is not None and piece.id != known.id)
            or (not piece.id and piece.index is None)
        )
        if known is None or begins:
            known = _Call(piece.id or f"call_{self._nonce}_{next(self._numbers)}")
            self._calls.append(known)
            if piece.index is not None:
                self._by_index[piece.index] = known
        return known

    def _known(self, piece: wire.ToolCallDelta) -> _Call | None:
        if piece.index is not None:
            return self._by_index.get(piece.index)
        if piece.id:
            return next((call for call in self._calls if call.id == piece.id), None)
        return self._calls[-1] if self._calls else None
