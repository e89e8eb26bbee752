"""The ports through which prompts reach plans, files, skills and instructions of workspaces."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.law.chat import Chat
from actors.law.ids import FileId
from actors.prompts.skills import SkillSummary


@dataclass(frozen=True, slots=True)
class UnreadableFile:
    """The reason why a file cannot be read, in words for the model."""

    why: str


class PlanFiles(Protocol):
    """The files in which chats that have a workspace keep their plans."""

    async def place(self, chat: Chat) -> str | None:
        """Return the absolute path of this chat's plan, with symbolic links resolved.

        None: it has no workspace, or none that can be reached.
        """
        ...

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | UnreadableFile:
        """Return the file's content, or refuse one that is larger than `bytes_max`."""
        ...


class NoWorkspaces:
    """A deployment without workspaces: plans are handed in as text."""

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
    """A port that keeps files which tools have made."""

    async def keep(self, chat: Chat, document: Document) -> bool:
        """Keep the file and link it to the chat, all or nothing. The same id again changes nothing.

        Return False if the chat has as many files as it may have.
        """
        ...


@dataclass(frozen=True, slots=True)
class SkillText:
    """A skill of a workspace: where it stands, its text, and the files beside it."""

    directory: str
    body: str  # without its front matter
    files: tuple[str, ...] = ()  # directories end with a slash; none while they cannot be listed


class WorkspaceSkills(Protocol):
    """The skills of the workspaces in which chats work, as each chat has them pinned."""

    async def of(self, chat: Chat) -> Sequence[SkillSummary]:
        """List the chat's skills. It is asked in every turn, and waits for nothing that is known
        already."""
        ...

    async def text(self, chat: Chat, name: str) -> SkillText | UnreadableFile: ...

    async def file(
        self, chat: Chat, name: str, path: str, *, bytes_max: int
    ) -> bytes | UnreadableFile:
        """Return as much of the file as `bytes_max`. `path` is relative and must not lead
        elsewhere."""
        ...


class NoSkills:
    """A deployment in which no chat has a workspace."""

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
    """The instructions that stand in the workspaces of chats."""

    async def instructions(self, chat: Chat) -> str | None:
        """Return the instructions, or None if there are none.

        They are the same in every turn, until newer ones are asked for.
        """
        ...


class NoInstructions:
    """A deployment in which no chat has a workspace."""

    async def instructions(self, chat: Chat) -> str | None:
        return None


NO_INSTRUCTIONS = NoInstructions()
