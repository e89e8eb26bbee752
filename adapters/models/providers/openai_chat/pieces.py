"""Tool calls and thoughts that arrive in pieces, put together. Pure.

A piece of a call stands under an index, an id, both or neither. OpenAI numbers its calls and names
their ids once. Compatible servers leave out ids, or numbers, or send every call whole under number
0. A piece that has a name, and an id other than that of the call it would belong to, begins a new
call.

Thoughts are gathered so that they can be sent back exactly as they came. Servers stream
`reasoning_details` in pieces: pieces of one text, or of one summary, are joined; a signature
belongs to the text before it; encrypted thoughts come whole.
"""

import itertools
import json
from dataclasses import dataclass, field
from typing import Any

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


class CallAssembly:
    """The calls of one answer. `nonce` makes ids for servers that send none."""

    def __init__(self, nonce: str) -> None:
        self._nonce = nonce
        self._numbers = itertools.count()
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}

    def add(self, piece: wire.ToolCallDelta) -> list[Delta]:
        """Add a piece of a call, and return the deltas that it completes."""
        return self._call(piece).take(piece)

    def end(self) -> list[Delta]:
        """Return every call with all its arguments, in the order in which they began."""
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


Detail = dict[str, Any]

_JOINED = ("text", "summary")


class ThoughtAssembly:
    """The details of one block of reasoning."""

    def __init__(self) -> None:
        self._details: list[Detail] = []

    def add(self, details: list[Detail]) -> str:
        """Add pieces, and return the text in them that can be read."""
        for piece in details:
            if self._details and _continues(piece, self._details[-1]):
                self._details[-1] = _joined(self._details[-1], piece)
            else:
                self._details.append(piece)
        pieces = (piece.get(name) for piece in details for name in _JOINED)
        return "".join(piece for piece in pieces if isinstance(piece, str))

    def metadata(self) -> JsonText | None:
        if not self._details:
            return None
        return JsonText(
            json.dumps({METADATA: {"reasoning_details": self._details}}, separators=(",", ":"))
        )


def _continues(piece: Detail, last: Detail) -> bool:
    same = all(piece.get(name) == last.get(name) for name in ("type", "index"))
    return same and piece.get("type") in ("reasoning.text", "reasoning.summary")


def _joined(last: Detail, piece: Detail) -> Detail:
    """Return a detail with a further piece of it.

    The piece's values replace the earlier ones, except that texts add up. An empty signature is
    none.
    """
    whole = last | {name: value for name, value in piece.items() if value not in (None, "")}
    for name in _JOINED:
        if name in last and name in piece:
            whole[name] = (last[name] or "") + (piece[name] or "")
    return whole
