"""The pieces that watchers are shown while an attempt runs: parts, and bits of parts. Pure data.

They are provisional: what is kept of them is in the history once the step is committed.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from actors.law.chat import Role
from actors.law.parts.message import Part


@dataclass(frozen=True, slots=True)
class ArgsPiece:
    """The next bit of a call's arguments. The whole call follows, if it is not cut off."""

    id: str
    name: str
    args_delta: str
    provider_executed: bool = False
    mcp_server_config_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ResultPiece:
    """The next bit of a tool's result. `resets`: what came of it before is to be forgotten."""

    id: str
    name: str
    result_delta: str
    resets: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """The next bit of a model's thoughts. `created_at`: when they began, the same for all bits."""

    text: str
    created_at: datetime | None = None


Piece = Part | ArgsPiece | ResultPiece | ReasoningPiece


@dataclass(frozen=True, slots=True)
class NumberedPiece:
    """A numbered piece of a preview. Numbers begin at 1 and have no gaps."""

    seq: int
    role: Role  # assistant or tool
    piece: Piece
    is_cut: bool = False  # the last one: the attempt goes on, and nothing more of it is shown
