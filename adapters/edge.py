"""What clients reach, put together: who asks, what is served, the door before all of it.

From the first moment the probes answer; everything else does when it stands.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

from adapters.api.auth.callers import Callers
from adapters.api.auth.shown import Head
from adapters.api.auth.signing import Signing
from adapters.api.door.app import Door
from adapters.api.endpoints import Answer, Caller, Endpoint, Routes, Upgrade
from adapters.api.host.requests import Request
from adapters.api.host.server import Server
from adapters.api.openapi.published import Published
from adapters.api.probes import Probes
from adapters.api.refused import Refused
from adapters.api.routes.health import Health
from adapters.api.routes.later import Later
from adapters.composing import Chats
from adapters.config import Config
from adapters.postgres.people.tokens import Tokens
from adapters.postgres.people.usage import Usage

RETRY_SECONDS = 1


class Nobody:
    """Callers of a door behind which everything is open to all."""

    async def let_in(self, head: Head, row: Endpoint) -> Caller | Answer | None:
        return None


class Entrance:
    """Where the host asks: the probes alone until all doors are open."""

    def __init__(self, probes: Probes) -> None:
        self.probes = probes
        starting = Refused(
            503, "The server is starting.", headers=(("retry-after", str(RETRY_SECONDS)),)
        )
        self._door = Door(probes.endpoints(), Nobody(), elsewhere=starting)

    def open(self, door: Door) -> None:
        self._door = door

    async def answer(self, request: Request) -> Answer | Upgrade:
        """Fulfils `adapters.api.host.server.Serve`."""
        return await self._door.answer(request)


@asynccontextmanager
async def open_edge(
    config: Config, chats: Chats, entrance: Entrance, *, server: Server, access_url: str
) -> AsyncIterator[None]:
    """Everything is served as long as the block is."""
    signing = Signing(chats.vault.derived("csrf"), chats.vault.derived("ticket"))
    tokens = Tokens(chats.store.pool)
    usage = Usage(tokens)
    callers = Callers(tokens, signing, used=usage.note)

    def report() -> Mapping[str, Any]:
        return {
            "server": server.statistics(),
            "door": door.statistics(),
            "callers": callers.statistics(),
            "supervisor": chats.supervisor.statistics(),
            "background": chats.background.statistics(),
            "episodes": chats.episodes.statistics(),
            "bus": chats.store.bus.statistics(),
            "pool": chats.store.pool.statistics(),
            "trio": trio.lowlevel.current_statistics(),
        }

    figures = chats.figures
    health = Health(
        access_url=access_url, deployment_id="", metrics=figures.exposition, report=report
    )
    subjects: Sequence[Routes] = (entrance.probes, health, Later())
    rows = [row for subject in subjects for row in subject.endpoints()]
    published = Published(rows, access_url=access_url)
    door = Door([*rows, *published.endpoints()], callers, origin=config.access_url)
    figures.follow(report, door.counts)
    entrance.open(door)
    yield
