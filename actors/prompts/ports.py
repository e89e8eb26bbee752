"""What planning and skills ask of the world."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.law.chat import Chat
from actors.law.ids import FileId
from actors.prompts.skills import SkillSummary


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """Why a file cannot be read, in words for the model."""

    why: str


class PlanFiles(Protocol):
    """Where chats that have a workspace keep their plans."""

    async def place(self, chat: Chat) -> str | None:
        """The absolute path of this chat's plan, symbolic links resolved. None: it has no
        workspace, or none that can be reached."""
        ...

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | UnreadableFile:
        """What stands in it; a file that is larger than `bytes_max` is refused."""
        ...


class NoWorkspaces:
    """Plans are handed in as text."""

    async def place(self, chat: Chat) -> str | None:
        return None

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | UnreadableFile:
        return UnreadableFile("there is no workspace")


NO_WORKSPACES = NoWorkspaces()


@dataclass(frozen=True, slots=True)
class Document:
    """A file that a tool made, for the user to keep."""

    id: FileId
    name: str
    media_type: str
    content: bytes


class ChatFiles(Protocol):
    async def keep(self, chat: Chat, document: Document) -> bool:
        """Keep it and link it to the chat, all or nothing; the same id again changes nothing.
        False: the chat has as many files as it may have."""
        ...


@dataclass(frozen=True, slots=True)
class SkillText:
    """A skill of a workspace: where it stands, what it says, what lies beside it."""

    directory: str
    body: str  # without its front matter
    files: tuple[str, ...] = ()  # directories end with a slash; none while they cannot be listed


class WorkspaceSkills(Protocol):
    """Those of the workspaces in which chats work, as each chat has them pinned."""

    async def of(self, chat: Chat) -> Sequence[SkillSummary]:
        """Asked in every turn: waits for nothing that is known from the one before."""
        ...

    async def text(self, chat: Chat, name: str) -> SkillText | UnreadableFile: ...

    async def file(
        self, chat: Chat, name: str, path: str, *, bytes_max: int
    ) -> bytes | UnreadableFile:
        """As much of it as that; `path` is relative and leads nowhere else."""
        ...


class NoSkills:
    """Where no chat has a workspace."""

    async def of(self, chat: Chat) -> Sequence[SkillSummary]:
        return ()

    async def text(self, chat: Chat, name: str) -> SkillText | UnreadableFile:
        return UnreadableFile(f"name: there is no skill {name!r}")

    async def file(
        self, chat: Chat, name: str, path: str, *, bytes_max: int
    ) -> bytes | UnreadableFile:
        return UnreadableFile(f"name: there is no skill {name!r}")


NO_SKILLS = NoSkills()


class WorkspaceInstructions(Protocol):
    """What stands in the workspaces of chats for whoever works there."""

    async def told(self, chat: Chat) -> str | None:
        """The same in every turn, until somebody asks for another. None: there is nothing."""
        ...


class NoInstructions:
    """Where no chat has a workspace."""

    async def told(self, chat: Chat) -> str | None:
        return None


NO_INSTRUCTIONS = NoInstructions()
