"""The prompt of a model's next call: stored rows, the files they refer to, and tools.

A history is converted once. The result is kept for the next step, which only adds to it, and for
the chat's next turns, as far as there is room. In Python's development mode (`python -X dev`) each
prompt is compared with one that is made anew.
"""

import sys
from collections import OrderedDict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Protocol

from actors.chat.turn.ports import Model
from actors.law.change import referenced_files
from actors.law.chat import Chat, ChatError, Message, Role
from actors.law.ids import ChatId, FileId, chat_name
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Asker, Prompt, ToolDefinition
from actors.prompts.converting import StoredFiles
from actors.prompts.growing import GrowingPrompt
from actors.prompts.projection import project
from actors.prompts.selecting import IdentityOf, Target
from actors.tools.gating import may_search
from runtime.log import emit
from runtime.statistics import CounterMetric, GaugeMetric

# Of all histories that are kept, with their rows and what providers have written of them. Beyond
# it, the history that was unused for longest is dropped, and converted anew.
KEPT_BYTES_MAX = 128 << 20


class PromptFileReader(Protocol):
    """A reader of the files that a history refers to."""

    async def read(self, wanted: Set[FileId]) -> StoredFiles:
        """Return the files that are there."""
        ...


@dataclass(frozen=True, slots=True)
class TurnContext:
    """The facts that hold for a turn of a chat.

    `words` are the system texts of this turn, which follow the system messages of the chat.
    `identity_of` returns the provider that a message came from, by its model.
    """

    words: tuple[str, ...]
    identity_of: IdentityOf


class TurnContexts(Protocol):
    """A source of the facts that hold for a chat's turn."""

    async def turn_context(self, chat: Chat) -> TurnContext: ...


@dataclass(frozen=True, slots=True)
class PromptingStatistics:
    """Counts of what is kept."""

    histories: Annotated[int, GaugeMetric("Histories of chats that are kept as prompts.")]
    bytes_count: Annotated[int, GaugeMetric("Bytes of histories that are kept as prompts.")]
    forgotten_count: Annotated[
        int, CounterMetric("Histories that were forgotten for want of room.")
    ]


class Prompting:
    """The maker of prompts; implements `actors.chat.turn.ports.Prompts`."""

    def __init__(
        self,
        contexts: TurnContexts,
        files: PromptFileReader,
        *,
        bytes_max: int = KEPT_BYTES_MAX,
    ) -> None:
        self._contexts = contexts
        self._files = files
        self._cache = PromptCache(bytes_max)
        self._is_checked = sys.flags.dev_mode

    async def prompt_for(
        self, chat: Chat, history: Sequence[Message], model: Model, tools: Sequence[ToolDefinition]
    ) -> Prompt | ChatError:
        target = Target(model.vendor, model.identity, model.rules)
        context = await self._contexts.turn_context(chat)
        reader = (target.provider, target.identity)
        known = self._cache.pop(chat.id, reader)
        coming = known.coming(history)  # what is kept has no files
        wanted = referenced_files(row.body.parts for row in coming if row.body.role is Role.USER)
        files = await self._files.read(wanted) if wanted else {}
        rules = partial(project, target=target, identity_of=context.identity_of, files=files)
        made = rules(history, known=known)
        if self._is_checked:
            assert made == rules(history), f"{chat_name(chat.id)}: what is kept of it is not so"
        self._cache.put(chat.id, reader, known)
        if isinstance(made, ProviderFailure):
            return ChatError(made.message, made.kind.value, made.provider, detail=made.detail)
        if made.removed:
            emit("prompt.repaired", "warning", chat=chat.id, removed=made.removed)
        return Prompt(
            model.name,
            made.messages,
            system=(*made.system, *context.words),
            tools=tuple(tools),
            provider_tools=model.provider_tools if may_search(chat) else (),
            settings=model.settings,
            asker=Asker(chat.owner_id, chat.root, None if chat.is_root else chat.id),
            bytes_count=made.bytes_count,
            written=known.written if known.is_light else None,
        )

    def forget(self, chat: ChatId) -> None:
        self._cache.forget(chat)

    def statistics(self) -> PromptingStatistics:
        return self._cache.statistics()


PromptReader = tuple[str, str | None]  # the provider that a prompt is for, and which account of it


class PromptCache:
    """A cache of converted histories, each with the provider that it was converted for."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._kept: OrderedDict[ChatId, tuple[PromptReader, GrowingPrompt]] = OrderedDict()
        self._bytes_count = 0
        self._forgotten_count = 0

    def pop(self, chat: ChatId, reader: PromptReader) -> GrowingPrompt:
        """Take out what is kept of a chat for this provider; empty if nothing is."""
        told, growing = self._kept.get(chat, (reader, GrowingPrompt()))
        self.forget(chat)
        return growing if told == reader else GrowingPrompt()

    def put(self, chat: ChatId, reader: PromptReader, growing: GrowingPrompt) -> None:
        """Keep a converted history, unless it has files or is too large."""
        if not growing.is_light or growing.bytes_count > self._bytes_max:
            return
        self._kept[chat] = (reader, growing)
        self._bytes_count += growing.bytes_count
        while self._bytes_count > self._bytes_max:
            self.forget(next(iter(self._kept)))
            self._forgotten_count += 1

    def forget(self, chat: ChatId) -> None:
        if (kept := self._kept.pop(chat, None)) is not None:
            self._bytes_count -= kept[1].bytes_count

    def statistics(self) -> PromptingStatistics:
        return PromptingStatistics(len(self._kept), self._bytes_count, self._forgotten_count)
