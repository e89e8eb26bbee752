"""The entry of all requests: it answers probes until a door is opened, and again at the end."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from adapters.daemon.relay_wiring import RelayServices
from adapters.http.door import Authenticator, Door
from adapters.http.endpoints import Caller, Endpoint, HttpResponse, Upgrade
from adapters.http.health import Probes
from adapters.http.refusals import HttpError
from adapters.http.requests import HttpRequest

RETRY_SECONDS = 1


class NoAuthenticator:
    """The authenticator of a door that is open to everybody."""

    async def let_in(self, request: HttpRequest, row: Endpoint) -> Caller | HttpResponse | None:
        return None


class RequestEntry:
    """The entry of all requests: it answers probes alone, and everything while a door is open."""

    def __init__(self, probes: Probes) -> None:
        self.probes = probes
        self._door = self._narrow("The server is starting.")

    @contextmanager
    def opened(self, door: Door) -> Iterator[None]:
        """Answer by this door for the length of the block."""
        self._door = door
        try:
            yield
        finally:
            self.close()

    def close(self) -> None:
        """Refuse new requests except probes; requests that have begun are served to their end."""
        self._door = self._narrow("The server is stopping.")

    def _narrow(self, why: str) -> Door:
        elsewhere = HttpError(503, why, headers=(("retry-after", str(RETRY_SECONDS)),))
        return Door(self.probes.endpoints(), NoAuthenticator(), elsewhere=elsewhere)

    async def answer(self, request: HttpRequest) -> HttpResponse | Upgrade:
        """Answer a request. Fulfils `adapters.http.host.server.Serve`."""
        return await self._door.answer(request)


@dataclass(frozen=True, slots=True)
class RelayEdge:
    """The part of this process that other processes reach, at an address of its own."""

    entry: RequestEntry
    services: RelayServices
    number: int | None = None  # among the processes of one parent, from 1

    @property
    def is_first(self) -> bool:
        return self.number in (None, 1)

    def opened(
        self, rows: Sequence[Endpoint], callers: Authenticator
    ) -> AbstractContextManager[None]:
        """Serve these rows there too, for the length of the block."""
        door = Door([*self.entry.probes.endpoints(), *rows], callers)
        return self.entry.opened(door)
