"""What a model is asked: stored rows, the files they refer to, and the tools of the turn."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from actors.ids import FileId
from actors.machine.change import referenced_files
from actors.machine.chat import Chat, ChatError, Message, Role
from actors.parts.failure import ProviderFailure
from actors.parts.prompt import Asker, Prompt, Tool
from actors.prompts.files import Files, accepts
from actors.prompts.projection import Target, projected
from actors.prompts.selecting import IdentityOf
from actors.tools.gating import may_search
from actors.turn.ports import Model
from runtime.log import emit


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


class Prompting:
    """Fulfils `actors.turn.ports.Prompts`."""

    def __init__(self, around: Surroundings, files: FileReader) -> None:
        self._around = around
        self._files = files

    async def prompt_for(
        self, chat: Chat, history: Sequence[Message], model: Model, tools: Sequence[Tool]
    ) -> Prompt | ChatError:
        users = [row.body.parts for row in history if row.body.role is Role.USER]
        wanted = referenced_files(users)
        files = await self._files.read(wanted) if wanted else {}
        responses = model.transport == "openai-responses"
        target = Target(model.label, model.identity, accepts(model.label, responses=responses))
        standing = await self._around.standing(chat)
        made = projected(history, target=target, identity_of=standing.identity_of, files=files)
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
