"""A history converted once: the next step only adds what was said since. Pure.

A history that grows has the same rows as before, the very same objects, and new ones behind them.
Any other change of it (an edit, a summary, another target) converts it from the beginning.
"""

from collections.abc import Sequence
from operator import is_
from sys import getsizeof

from actors.law.chat import Message
from actors.law.parts.message import (
    ContextFilePart,
    FilePart,
    FileReferencePart,
    HookContextPart,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import PromptMessage
from actors.prompts.converting import Accepts, StoredFiles, prompt_message
from actors.prompts.pairing import Pairing
from actors.prompts.selecting import is_provider_executed

ROW_BYTES = 1024  # of a row and what is made of it, beside its texts: about


class GrowingPrompt:
    """One history as one target is told it."""

    def __init__(self) -> None:
        self._rows: Sequence[Message] = ()
        self._pairing = Pairing()
        self.is_light = True  # no files and no media: it can be kept for the next step
        self.has_provider_tools = False  # calls or results of tools that a provider ran itself
        self.bytes_count = 0  # that it holds, with the rows themselves: about

    def __len__(self) -> int:
        return len(self._rows)

    def messages(
        self, rows: Sequence[Message], files: StoredFiles, takes: Accepts | None
    ) -> tuple[PromptMessage, ...]:
        if not self._is_beginning_of(rows):
            self._rows, self._pairing = (), Pairing()
            self.is_light, self.has_provider_tools, self.bytes_count = True, False, 0
        for row in rows[len(self._rows) :]:
            converted = prompt_message(row, files, takes)
            if converted is not None:
                self._pairing.add(converted)
            self._look_at(row.body.parts)
        self._rows = rows
        return self._pairing.messages()

    def _look_at(self, parts: Sequence[Part]) -> None:
        self.bytes_count += ROW_BYTES
        for part in parts:
            self.bytes_count += _text_bytes(part)
            if isinstance(part, FilePart) or (isinstance(part, ToolResultPart) and part.is_media):
                self.is_light = False
            if is_provider_executed(part):
                self.has_provider_tools = True

    def _is_beginning_of(self, rows: Sequence[Message]) -> bool:
        return len(self._rows) <= len(rows) and all(map(is_, self._rows, rows))


def _text_bytes(part: Part) -> int:
    """Return the bytes of a part's long texts, counted twice where a model is told them in other
    words."""
    match part:
        case TextPart(text) | HookContextPart(text):
            return getsizeof(text)
        case ReasoningPart(text):
            return getsizeof(text) + getsizeof(part.provider_metadata)
        case ToolCallPart():
            return getsizeof(part.args) + getsizeof(part.provider_metadata)
        case ToolResultPart():
            return 2 * getsizeof(part.result) + getsizeof(part.provider_metadata)
        case ContextFilePart() | FileReferencePart():
            return 2 * getsizeof(part.content)
        case _:
            return 0
