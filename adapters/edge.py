"""What clients reach, put together: who asks, what is served, the door before all of it.

From the first moment the probes answer; everything else does when it stands.
"""

from collections.abc import Sequence

from adapters.api.auth.shown import Head
from adapters.api.door.app import Door
from adapters.api.endpoints import Answer, Caller, Endpoint, Upgrade
from adapters.api.host.requests import Request
from adapters.api.probes import Probes
from adapters.api.refused import Refused

RETRY_SECONDS = 1


class Nobody:
    """Callers of a door behind which everything is open to all."""

    async def let_in(self, head: Head, row: Endpoint) -> Caller | Answer | None:
        return None


class Entrance:
    """Where the host asks: the probes alone until all doors are open."""

    def __init__(self, probes: Probes) -> None:
        starting = Refused(
            503, "The server is starting.", headers=(("retry-after", str(RETRY_SECONDS)),)
        )
        self._door = Door(probes.endpoints(), Nobody(), elsewhere=starting)

    def open(self, door: Door) -> None:
        self._door = door

    async def answer(self, request: Request) -> Answer | Upgrade:
        """Fulfils `adapters.api.host.server.Serve`."""
        return await self._door.answer(request)


def rows_of(routes: Sequence[Probes]) -> list[Endpoint]:
    return [row for subject in routes for row in subject.endpoints()]
