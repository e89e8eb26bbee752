"""What planning asks of the world."""

from dataclasses import dataclass
from typing import Protocol

from actors.ids import FileId
from actors.machine.chat import Chat


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file cannot be read, in words for the model."""

    why: str


class PlanFiles(Protocol):
    """Where chats that have a workspace keep their plans."""

    async def place(self, chat: Chat) -> str | None:
        """The absolute path of this chat's plan, symbolic links resolved. None: it has no
        workspace, or none that can be reached."""
        ...

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | Unreadable:
        """What stands in it; a file that is larger than `bytes_max` is refused."""
        ...


class NoWorkspaces:
    """Plans are handed in as text."""

    async def place(self, chat: Chat) -> str | None:
        return None

    async def read(self, chat: Chat, path: str, *, bytes_max: int) -> bytes | Unreadable:
        return Unreadable("there is no workspace")


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
