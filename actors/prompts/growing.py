"""A history converted once: the next step only adds what was said since. Pure.

A history that grows has the same rows as before, and new ones behind them. Any other change of it
(an edit, a summary, another target) converts it from the beginning.
"""

from collections.abc import Sequence
from sys import getsizeof

from actors.law.chat import Message, Role
from actors.law.ids import ModelConfigId
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
from actors.law.parts.prompt import PromptMessage, WrittenMessages, text_bytes
from actors.prompts.converting import StoredFiles, prompt_message, system_texts
from actors.prompts.pairing import Pairing
from actors.prompts.provider_tools import MergedNeighbours
from actors.prompts.selecting import (
    IdentityOf,
    Target,
    is_for_models,
    is_provider_executed,
    is_summary,
    model_rows,
    without_foreign_tools,
)

ROW_BYTES = 1024  # of a row and what is made of it, beside its texts: about


class GrowingPrompt:
    """One history as one target is told it."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._history: tuple[Message, ...] = ()  # as far as it has been looked at
        self._pairing = Pairing()
        self._latest: tuple[PromptMessage, ...] = ()  # behind what is paired once and for all
        self._merged = MergedNeighbours()
        self._text_bytes = self._counted = 0  # of the first so many messages
        self._sources: dict[ModelConfigId | None, str | None] = {}  # of what assistants said
        self.systems: tuple[str, ...] = ()  # what system messages say
        self.is_light = True  # no files and no media: it can be kept for the next step
        self.has_provider_tools = False  # calls or results of tools that a provider ran itself
        self.bytes_count = 0  # that it holds, with the rows and what is written of them: about
        self.written = WrittenMessages()  # what its provider has written of it

    def __len__(self) -> int:
        return len(self._history)

    def coming(self, history: Sequence[Message]) -> Sequence[Message]:
        """Return the rows of a history that are not converted yet."""
        return history[len(self._history) :] if self._is_beginning_of(history) else history

    def messages(
        self,
        history: Sequence[Message],
        files: StoredFiles,
        target: Target,
        identity_of: IdentityOf,
    ) -> tuple[PromptMessage, ...]:
        """Return what a target is told of a history, and keep it for the next step."""
        history = tuple(history)
        if not self._is_beginning_of(history) or self._is_told_otherwise(identity_of):
            self._reset()
        rows = [row for row in history[len(self._history) :] if is_for_models(row)]
        if any(is_summary(row) for row in rows):  # what stood before it is told no more
            self._reset()
            rows = list(model_rows(history))
        elif self._history:
            rows = [row for row in rows if not row.body.compressed]
        else:
            rows = list(model_rows(rows))
        self._history = history
        for row in rows:
            if row.body.role is Role.ASSISTANT:
                self._sources[row.body.model_config_id] = identity_of(row.body.model_config_id)
        self._add(without_foreign_tools(rows, identity_of, target.identity), files, target)
        self._latest = self._pairing.latest()
        return (*self._pairing.settled, *self._latest)

    def merged(self) -> tuple[PromptMessage, ...]:
        """Return the messages with neighbours of one role as one. None was said by a provider's
        own tools."""
        return self._merged.messages(self._pairing.settled, self._latest)

    def text_bytes(self) -> int:
        """Return the bytes of text and data of all messages."""
        settled = self._pairing.settled
        self._text_bytes += text_bytes(settled[self._counted :])
        self._counted = len(settled)
        return self._text_bytes + text_bytes(self._latest)

    def _add(self, rows: Sequence[Message], files: StoredFiles, target: Target) -> None:
        for row in rows:
            converted = prompt_message(row, files, target.rules.takes)
            if converted is not None:
                self._pairing.add(converted)
            self._look_at(row)
        self.systems += system_texts(tuple(row for row in rows if row.body.role is Role.SYSTEM))

    def _look_at(self, row: Message) -> None:
        self.bytes_count += row_bytes(row)
        for part in row.body.parts:
            if isinstance(part, FilePart) or (isinstance(part, ToolResultPart) and part.is_media):
                self.is_light = False
            if is_provider_executed(part):
                self.has_provider_tools = True

    def _is_beginning_of(self, history: Sequence[Message]) -> bool:
        # Tuples are compared row by row, and a row that is the same object costs 3 ns.
        return tuple(history[: len(self._history)]) == self._history

    def _is_told_otherwise(self, identity_of: IdentityOf) -> bool:
        """Tell whether models have another provider by now than when their messages were
        converted."""
        return any(identity_of(id) != source for id, source in self._sources.items())


def row_bytes(row: Message) -> int:
    """Return the bytes that a row takes in memory, with what is made of it: about."""
    return ROW_BYTES + sum(map(_text_bytes, row.body.parts))


def _text_bytes(part: Part) -> int:
    """Return the bytes of a part's long texts: as they are stored, as a provider writes them, and
    once more where a model is told them in other words."""
    match part:
        case TextPart(text) | HookContextPart(text):
            return 2 * getsizeof(text)
        case ReasoningPart(text):
            return 2 * getsizeof(text) + getsizeof(part.provider_metadata)
        case ToolCallPart():
            return 2 * getsizeof(part.args) + getsizeof(part.provider_metadata)
        case ToolResultPart():
            return 3 * getsizeof(part.result) + getsizeof(part.provider_metadata)
        case ContextFilePart() | FileReferencePart():
            return 3 * getsizeof(part.content)
        case FilePart():
            return getsizeof(part.data)
        case _:
            return 0
