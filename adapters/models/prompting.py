"""What a model is asked: stored rows, the files they refer to, and the tools of the turn.

A long history is converted once: what came of it is kept for the next step, which only adds to it.
"""

from collections import OrderedDict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from actors.ids import ChatId, FileId
from actors.machine.change import referenced_files
from actors.machine.chat import Chat, ChatError, Message, Role
from actors.parts.failure import ProviderFailure
from actors.parts.prompt import Asker, Prompt, Tool
from actors.prompts.files import Files, accepts
from actors.prompts.growing import Growing
from actors.prompts.projection import Target, projected
from actors.prompts.selecting import IdentityOf
from actors.tools.gating import may_search
from actors.turn.ports import Model
from runtime.log import emit

ROWS_MIN = 100  # of a history that is kept converted: 1 ms; a shorter one is converted each time
# Of all that are kept; some 3 KB each, most of it texts that are there anyway while a chat is at
# work. Beyond it the history that was not asked for longest is forgotten, and converted anew.
ROWS_MAX = 20_000


class FileReader(Protocol):
    async def read(self, wanted: Set[FileId]) -> Files:
        """Those that are there."""
        ...


@dataclass(frozen=True, slots=True)
class Standing:
    """What holds for a turn of a chat: words that stand after its own system rows, whatever is
    said; and which provider a message came from, by its model."""

    words: tuple[str, ...]
    identity_of: IdentityOf


class Surroundings(Protocol):
    async def standing(self, chat: Chat) -> Standing: ...


@dataclass(frozen=True, slots=True)
class PromptingStatistics:
    histories: int  # that are kept converted
    rows: int
    forgotten_count: int  # for want of room


class Prompting:
    """Fulfils `actors.turn.ports.Prompts`."""

    def __init__(self, around: Surroundings, files: FileReader) -> None:
        self._around = around
        self._files = files
        self._known = Known(ROWS_MAX)

    async def prompt_for(
        self, chat: Chat, history: Sequence[Message], model: Model, tools: Sequence[Tool]
    ) -> Prompt | ChatError:
        users = [row.body.parts for row in history if row.body.role is Role.USER]
        wanted = referenced_files(users)
        files = await self._files.read(wanted) if wanted else {}
        responses = model.transport == "openai-responses"
        target = Target(model.label, model.identity, accepts(model.label, responses=responses))
        standing = await self._around.standing(chat)
        key = (chat.id, target.provider, target.identity)
        known = self._known.pop(key)
        made = projected(
            history, target=target, identity_of=standing.identity_of, files=files, known=known
        )
        self._known.put(key, known)
        if isinstance(made, ProviderFailure):
            return ChatError(made.message, made.kind.value, made.provider, detail=made.detail)
        if made.removed:
            emit("prompt.repaired", "warning", chat=chat.id, removed=made.removed)
        return Prompt(
            model.name,
            made.messages,
            system=(*made.system, *standing.words),
            tools=tuple(tools),
            provider_tools=model.provider_tools if may_search(chat) else (),
            settings=model.settings,
            asker=Asker(chat.owner_id, chat.root, None if chat.is_root else chat.id),
        )

    def statistics(self) -> PromptingStatistics:
        return self._known.statistics()


Key = tuple[ChatId, str, str | None]  # a chat, and whom it asks


class Known:
    """Histories as their targets were told them last."""

    def __init__(self, rows_max: int) -> None:
        self._rows_max = rows_max
        self._kept: OrderedDict[Key, Growing] = OrderedDict()
        self.rows = 0
        self._forgotten_count = 0

    def pop(self, key: Key) -> Growing:
        growing = self._kept.pop(key, None)
        self.rows -= 0 if growing is None else len(growing)
        return growing or Growing()

    def put(self, key: Key, growing: Growing) -> None:
        """If it is worth it."""
        if not growing.is_light or len(growing) < ROWS_MIN:
            return
        self._kept[key] = growing
        self.rows += len(growing)
        while self.rows > self._rows_max:
            self.pop(next(iter(self._kept)))
            self._forgotten_count += 1

    def statistics(self) -> PromptingStatistics:
        return PromptingStatistics(len(self._kept), self.rows, self._forgotten_count)
