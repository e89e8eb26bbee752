"""The ports through which tools reach the workspace of a chat. Adapters implement these.

What cannot be done comes back as `WorkspaceRefusal`, in words for the model. What is raised is a
bug. All paths are absolute and lie in the workspace.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol
from uuid import UUID

from actors.law.chat import Chat
from actors.tools.editing import EditedFile, FileEdits
from actors.tools.live_output import LivePiece
from actors.tools.output import OutputExcerpt


@dataclass(frozen=True, slots=True)
class WorkspaceRefusal:
    """The reason why something cannot be done, and what to do about it."""

    says: str


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """A file or folder in a directory."""

    name: str
    is_directory: bool
    size_bytes: int


class WorkspaceFiles(Protocol):
    """The files of one workspace. Symbolic links are followed as long as they do not lead out of
    it."""

    async def read(self, path: str, *, bytes_max: int) -> bytes | WorkspaceRefusal:
        """Return the whole file, or refuse one that is larger."""
        ...

    async def write(self, path: str, content: bytes) -> WorkspaceRefusal | None:
        """Write the whole file, and make the directories above it. An old file keeps its mode."""
        ...

    async def edit(self, files: Sequence[FileEdits]) -> Sequence[EditedFile] | WorkspaceRefusal:
        """Edit all of the files or none, unless a disk fails between two."""
        ...

    async def resolve(self, path: str) -> str | WorkspaceRefusal:
        """Return the path without symbolic links, as far as it exists."""
        ...

    async def entries(self, path: str) -> Sequence[DirectoryEntry] | WorkspaceRefusal:
        """List a directory: folders first, then by name."""
        ...


class Signal(Enum):
    TERMINATE = "terminate"
    KILL = "kill"


@dataclass(frozen=True, slots=True)
class Command:
    text: str  # for `sh -c`
    workdir: str = ""  # "": the workspace itself
    background: bool = False  # only said of it: nobody has to wait for any


@dataclass(frozen=True, slots=True)
class Process:
    """A command that was started, as it is now."""

    id: str
    command: str
    workdir: str
    background: bool
    output: OutputExcerpt
    started_at: datetime
    wall_ms: int  # it has run so far
    exit_code: int | None = None  # None: it runs
    ended_at: datetime | None = None
    why: str = ""  # it was ended, if not by itself

    @property
    def is_running(self) -> bool:
        return self.exit_code is None


@dataclass(frozen=True, slots=True)
class NotStarted:
    """The system did not start it."""

    says: str


ShowOutput = Callable[[LivePiece], object]


class Processes(Protocol):
    """The processes of one chat in one workspace, which no other chat sees. They outlive a turn."""

    async def start(self, command: Command) -> Process | NotStarted | WorkspaceRefusal: ...

    async def wait(
        self, id: str, seconds: float, *, show: ShowOutput | None = None
    ) -> Process | WorkspaceRefusal:
        """Wait until the process has ended, but not for longer than that. Meanwhile `show` is
        called with what it writes, if it runs in this process of the daemon."""
        ...

    async def all(self) -> Sequence[Process]:
        """Return the processes: those that run first, then the newest first."""
        ...

    async def signal(self, id: str, signal: Signal) -> WorkspaceRefusal | None:
        """Send a signal to the process and to all that it has started."""
        ...


@dataclass(frozen=True, slots=True)
class ChatWorkspace:
    """A workspace as one chat sees it."""

    id: UUID
    name: str
    home: str  # absolute, without symbolic links
    files: WorkspaceFiles
    processes: Processes


class ChatWorkspaces(Protocol):
    """A port to the workspaces of chats."""

    async def of(self, chat: Chat) -> ChatWorkspace | WorkspaceRefusal:
        """Return the chat's own workspace, or that of the chat that its family began with."""
        ...
