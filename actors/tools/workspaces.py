"""What tools ask of the place where a chat works, said as protocols. Adapters implement these.

What cannot be done comes back as `WorkspaceRefusal`, in words for the model. What is raised is a
bug. All paths are absolute and lie in the workspace.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Protocol
from uuid import UUID

from actors.law.chat import Chat
from actors.tools.editing import EditedFile, FileEdits
from actors.tools.output import OutputExcerpt


@dataclass(frozen=True, slots=True)
class WorkspaceRefusal:
    """Why not, and what to do about it."""

    says: str


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    """What a directory holds."""

    name: str
    is_directory: bool
    size_bytes: int


class WorkspaceFiles(Protocol):
    """Of one workspace. Symbolic links are followed as long as they do not lead out of it."""

    async def read(self, path: str, *, bytes_max: int) -> bytes | WorkspaceRefusal:
        """The whole file; one that is larger is refused."""
        ...

    async def write(self, path: str, content: bytes) -> WorkspaceRefusal | None:
        """Put it there as a whole, with the directories above it. An old file keeps its mode."""
        ...

    async def edit(self, files: Sequence[FileEdits]) -> Sequence[EditedFile] | WorkspaceRefusal:
        """All of them or none, but for a disk that fails between two."""
        ...

    async def resolve(self, path: str) -> str | WorkspaceRefusal:
        """Without symbolic links, as far as the path exists."""
        ...

    async def entries(self, path: str) -> Sequence[DirectoryEntry] | WorkspaceRefusal:
        """Directories first, then by name."""
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


class Processes(Protocol):
    """Of one chat in one workspace: nobody sees those of another. They outlive a turn."""

    async def start(self, command: Command) -> Process | NotStarted | WorkspaceRefusal: ...

    async def wait(self, id: str, seconds: float) -> Process | WorkspaceRefusal:
        """Until it has ended, but not for longer."""
        ...

    async def all(self) -> Sequence[Process]:
        """Those that run first, then the newest first."""
        ...

    async def signal(self, id: str, signal: Signal) -> WorkspaceRefusal | None:
        """To the process and to all that it has started."""
        ...


@dataclass(frozen=True, slots=True)
class ChatWorkspace:
    """As one chat sees it."""

    id: UUID
    name: str
    home: str  # absolute, without symbolic links
    files: WorkspaceFiles
    processes: Processes


class ChatWorkspaces(Protocol):
    async def of(self, chat: Chat) -> ChatWorkspace | WorkspaceRefusal:
        """The chat's own, or that of the chat that its family began with."""
        ...
