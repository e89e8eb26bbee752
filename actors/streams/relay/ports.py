"""What links ask of the world, said as protocols. Adapters implement these."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from actors.law.ids import WorkerId
from actors.streams.relay.frames import News, Wish


@dataclass(frozen=True, slots=True)
class Unlinked:
    """There is no way to that process now; words for whoever runs it."""

    why: str
    is_fault: bool = True  # no: it has stopped, as processes do


class Line(Protocol):
    """A connection to another process. One task sends, one receives; both are bounded."""

    async def send(self, wishes: Sequence[Wish]) -> bool:
        """False: it is broken."""
        ...

    async def receive(self) -> Sequence[News] | None:
        """What has come, in order; it may be nothing. None: it is over."""
        ...


class Peers(Protocol):
    def connected(self, worker: WorkerId) -> AbstractAsyncContextManager[Line | Unlinked]:
        """A new connection to that process, which has proved to be it."""
        ...
