"""What watchers are shown while an attempt runs: whole parts, and pieces of parts. Pure data.

Provisional: what is kept of it stands in the history once the step is committed.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from actors.law.chat import Role
from actors.law.parts.message import Part


@dataclass(frozen=True, slots=True)
class ArgsPiece:
    """Arguments of a call, as they come. The whole call follows, unless the answer is cut short."""

    id: str
    name: str
    args_delta: str
    provider_executed: bool = False
    mcp_server_config_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class ResultPiece:
    """The result of a tool, as it comes. `resets`: forget what came of it before."""

    id: str
    name: str
    result_delta: str
    resets: bool = False


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """`created_at`: when these thoughts began, the same for all their pieces."""

    text: str
    created_at: datetime | None = None


Piece = Part | ArgsPiece | ResultPiece | ReasoningPiece


@dataclass(frozen=True, slots=True)
class NumberedPiece:
    """A numbered piece of an episode. Numbers begin at 1 and have no gaps."""

    seq: int
    role: Role  # assistant or tool
    piece: Piece
