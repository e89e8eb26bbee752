"""The words that a turn is told after the chat's own system rows, and that are never stored.

In this order: what the chat is to others; what stands in its workspace; which skills there are;
what its user tells all of their chats; what it may do in this mode; that it may ask for advice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import trio

from actors.agents.rules import EXPLORE, OPERATE, family_instructions
from actors.law.chat import Chat
from actors.law.ids import ModelConfigId
from actors.prompts.advice import GUIDANCE, NO_ADVICE, AdvisedChats
from actors.prompts.ports import (
    NO_INSTRUCTIONS,
    NO_WORKSPACES,
    PlanFiles,
    UnreadableFile,
    WorkspaceInstructions,
)
from actors.prompts.skills import skill_index
from actors.tools.gating import ChatKind, kind_of
from actors.tools.plans import plan_path
from actors.tools.workspaces import ChatWorkspaces, WorkspaceRefusal
from adapters.models.catalogue import Catalogue
from adapters.models.prompt_texts import (
    PLAN_MODE,
    PLAN_MODE_CHILD,
    plan_file_path,
    user_instructions,
)
from adapters.models.prompting import TurnContext
from adapters.models.settings import PLAN_MODE_INSTRUCTIONS
from adapters.models.snapshot import CatalogueSnapshot
from adapters.workspaces.context.skills import SkillIndex

PLACE_SECONDS_MAX = 35.0  # to find the plan's file; then the chat plans without one


class TurnWords:
    """Fulfils `adapters.models.prompting.TurnContexts`."""

    def __init__(
        self,
        catalogue: Catalogue,
        *,
        skills: SkillIndex,
        workspace: WorkspaceInstructions = NO_INSTRUCTIONS,
        advised: AdvisedChats = NO_ADVICE,
        plans: PlanFiles = NO_WORKSPACES,
    ) -> None:
        self._catalogue = catalogue
        self._skills = skills
        self._workspace = workspace
        self._advised = advised
        self._plans = plans

    async def turn_context(self, chat: Chat) -> TurnContext:
        contents = await self._catalogue.snapshot()
        own = await self._catalogue.own(chat.owner_id)
        words = [*family_instructions(chat)]
        if told := await self._workspace.instructions(chat):
            words.append(told)
        if told := skill_index(await self._skills.of(chat)):
            words.append(told)
        if own.settings.prompt:
            words.append(user_instructions(own.settings.prompt))
        words += mode_instructions(kind_of(chat), contents)
        if kind_of(chat) is ChatKind.ROOT_PLAN and (path := await self._plan_path(chat)):
            words.append(plan_file_path(path))
        if chat in self._advised:
            words.append(GUIDANCE)
        return TurnContext(tuple(words), partial(identity_of, contents))

    async def _plan_path(self, chat: Chat) -> str | None:
        with trio.move_on_after(PLACE_SECONDS_MAX):
            return await self._plans.place(chat)
        return None


def mode_instructions(kind: ChatKind, contents: CatalogueSnapshot) -> Iterator[str]:
    """Yield what a chat of this kind is told about what it may do."""
    match kind:
        case ChatKind.EXPLORE:
            yield EXPLORE
        case ChatKind.ROOT_PLAN:
            yield PLAN_MODE
            if more := contents.settings.value(PLAN_MODE_INSTRUCTIONS):
                yield str(more)
        case ChatKind.CHILD_PLAN:
            yield PLAN_MODE_CHILD
        case ChatKind.COMPUTER_USE:
            yield OPERATE
        case ChatKind.ROOT | ChatKind.CHILD:
            pass


def identity_of(contents: CatalogueSnapshot, id: ModelConfigId | None) -> str | None:
    """Return which provider a message came from, or None if that is not known any more."""
    if id is not None:
        provider = contents.known.get(id)
    else:
        provider = None if contents.default is None else contents.default.provider_id
    return None if provider is None else str(provider)


@dataclass(frozen=True, slots=True)
class WorkspacePlans:
    """Fulfils `actors.prompts.ports.PlanFiles`."""

    workspaces: ChatWorkspaces

    async def place(self, chat: Chat) -> str | None:
        workspace = await self.workspaces.of(chat)
        return (
            None if isinstance(workspace, WorkspaceRefusal) else plan_path(workspace.home, chat.id)
        )

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | UnreadableFile:
        workspace = await self.workspaces.of(chat)
        if isinstance(workspace, WorkspaceRefusal):
            return UnreadableFile(workspace.says)
        where = await workspace.files.resolve(path)
        if where != path:
            why = (
                where.says
                if isinstance(where, WorkspaceRefusal)
                else "a symbolic link leads elsewhere"
            )
            return UnreadableFile(f"{path}: {why}; write the plan there, as a file")
        found = await workspace.files.read(path, bytes_max=bytes_max)
        return UnreadableFile(found.says) if isinstance(found, WorkspaceRefusal) else found
