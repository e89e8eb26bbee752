"""A model's thoughts, gathered so that they can be sent back exactly as they came. Pure.

Servers stream `reasoning_details` in pieces. Pieces of one text, or of one summary, are joined;
a signature belongs to the text before it; encrypted thoughts come whole.
"""

import json
from typing import Any

from actors.law.parts.message import JsonText
from adapters.models.providers.openai_chat.messages import METADATA

Detail = dict[str, Any]

_JOINED = ("text", "summary")


class Thoughts:
    """The details of one block of reasoning."""

    def __init__(self) -> None:
        self._details: list[Detail] = []

    def add(self, details: list[Detail]) -> str:
        """Take pieces in. Returns what of them can be read."""
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
    """The newest of everything, except that texts add up. An empty signature is none yet."""
    whole = last | {name: value for name, value in piece.items() if value not in (None, "")}
    for name in _JOINED:
        if name in last and name in piece:
            whole[name] = (last[name] or "") + (piece[name] or "")
    return whole
