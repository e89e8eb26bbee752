"""What one process asks another about the commands of a chat, a line each way. Pure."""

from collections.abc import Sequence
from enum import Enum
from uuid import UUID

from msgspec import Struct

from actors.tools.workspace.ports import Process, Signal


class Deed(Enum):
    ALL = "all"
    WAIT = "wait"
    SIGNAL = "signal"


class Asked(Struct, frozen=True):
    do: Deed
    chat: UUID
    id: str = ""  # of the process that is meant
    seconds: float = 0.0  # to wait for its end
    signal: Signal = Signal.TERMINATE


class Told(Struct, frozen=True):
    """`is_known`: the process that is meant runs, or has run, here."""

    is_known: bool = True
    processes: Sequence[Process] = ()
    refused: str = ""
