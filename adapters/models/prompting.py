"""What a model is asked: stored rows, the files they refer to, and the tools of the turn."""

from collections.abc import Callable, Sequence, Set
from typing import Protocol

from actors.ids import FileId, ModelConfigId
from actors.machine.change import referenced_files
from actors.machine.chat import Chat, ChatError, Message, Role
from actors.parts.failure import ProviderFailure
from actors.parts.prompt import Asker, Prompt, Tool
from actors.prompts.files import Files, accepts
from actors.prompts.projection import Target, projected
from actors.turn.ports import Model
from runtime.log import emit


class FileReader(Protocol):
    async def read(self, wanted: Set[FileId]) -> Files:
        """Those that are there."""
        ...


class Prompting:
    """Fulfils `actors.turn.ports.Prompts`."""

    def __init__(
        self, identity_of: Callable[[ModelConfigId | None], str | None], files: FileReader
    ) -> None:
        self._identity_of = identity_of
        self._files = files

    async def prompt_for(
        self, chat: Chat, history: Sequence[Message], model: Model, tools: Sequence[Tool]
    ) -> Prompt | ChatError:
        users = [row.body.parts for row in history if row.body.role is Role.USER]
        wanted = referenced_files(users)
        files = await self._files.read(wanted) if wanted else {}
        responses = model.transport == "openai-responses"
        target = Target(model.label, model.identity, accepts(model.label, responses=responses))
        made = projected(history, target=target, identity_of=self._identity_of, files=files)
        if isinstance(made, ProviderFailure):
            return ChatError(made.message, made.kind.value, made.provider, detail=made.detail)
        if made.removed:
            emit("prompt.repaired", "warning", chat=chat.id, removed=made.removed)
        return Prompt(
            model.name,
            made.messages,
            system=made.system,
            tools=tuple(tools),
            provider_tools=model.provider_tools,
            settings=model.settings,
            asker=Asker(
                chat.owner_id, chat.parent_id or chat.id, chat.id if chat.parent_id else None
            ),
        )
