"""What clients reach, put together: who asks, what is served, the door before all of it.

From the first moment the probes answer; everything else does when it stands. Streams are told of
the end before the chats are handed on: whoever takes a chat over serves its watchers.
"""

from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import trio

from adapters.access.acl import ReaderStore
from adapters.access.admission import Admission
from adapters.access.changes import ChatSender
from adapters.chats.files.routes import Files
from adapters.chats.files.store import FileStore
from adapters.chats.routes.chat_list import ChatList
from adapters.chats.routes.chats import Chats as ChatRoutes
from adapters.chats.routes.later import Later
from adapters.chats.routes.messages import Messages
from adapters.chats.routes.queue import Queue
from adapters.chats.routes.sharing import Sharing
from adapters.chats.routes.titles import Titles
from adapters.chats.routes.turns import Turns
from adapters.chats.shelf.pins import Pins
from adapters.chats.shelf.receipts import Receipts
from adapters.chats.shelf.repeating import RequestRepeats
from adapters.chats.shelf.shelf import OverviewStore
from adapters.chats.streams.wiring import StreamParts, open_streaming
from adapters.daemon.composing import Chats
from adapters.daemon.metrics.labelled import of_process
from adapters.daemon.metrics.pools import Pools
from adapters.daemon.relaying import Relaying
from adapters.http.door import Authenticator, Door
from adapters.http.endpoints import Caller, Endpoint, HttpResponse, Routes, Upgrade
from adapters.http.health import DeploymentStatus, Probes
from adapters.http.host.server import HttpServer
from adapters.http.openapi_page import ApiDescription
from adapters.http.refusals import HttpError
from adapters.http.requests import HttpRequest
from adapters.models.routes.all_routes import catalogue_routes
from adapters.models.routes.settings import Feature
from adapters.people.auth.wiring import Auth, open_auth
from adapters.people.routes.all_routes import people_routes
from adapters.people.routes.schemas import ORGANIZATION
from adapters.plugins.identity import identify_by
from adapters.postgres.conversation.pages import Pages
from adapters.settings import Config
from adapters.tools.approvals.routes import Approvals
from adapters.tools.approvals.store import Consents
from adapters.tools.mcp.routes.all_routes import mcp_routes
from adapters.workspaces.routes import WorkspaceRoutes
from adapters.workspaces.store import OwnedWorkspaces
from runtime import threads as limits

RETRY_SECONDS = 1


class Nobody:
    """Callers of a door behind which everything is open to all."""

    async def let_in(self, request: HttpRequest, row: Endpoint) -> Caller | HttpResponse | None:
        return None


class Entrance:
    """Where the host asks: the probes alone, but for as long as all doors are open."""

    def __init__(self, probes: Probes) -> None:
        self.probes = probes
        self._door = self._narrow("The server is starting.")

    @contextmanager
    def opened(self, door: Door) -> Iterator[None]:
        self._door = door
        try:
            yield
        finally:
            self.close()

    def close(self) -> None:
        """Who comes now should go elsewhere; who is in is served to his end."""
        self._door = self._narrow("The server is stopping.")

    def _narrow(self, why: str) -> Door:
        elsewhere = HttpError(503, why, headers=(("retry-after", str(RETRY_SECONDS)),))
        return Door(self.probes.endpoints(), Nobody(), elsewhere=elsewhere)

    async def answer(self, request: HttpRequest) -> HttpResponse | Upgrade:
        """Fulfils `adapters.http.host.server.Serve`."""
        return await self._door.answer(request)


@dataclass(frozen=True, slots=True)
class Beside:
    """What other processes reach of this one, at an address of its own."""

    entrance: Entrance
    relaying: Relaying
    number: int | None = None  # among the processes of one parent, from 1

    @property
    def is_first(self) -> bool:
        return self.number in (None, 1)

    def opened(
        self, rows: Sequence[Endpoint], callers: Authenticator
    ) -> AbstractContextManager[None]:
        """These are served there, beside the probes."""
        door = Door([*self.entrance.probes.endpoints(), *rows], callers)
        return self.entrance.opened(door)


@dataclass(frozen=True, slots=True)
class Ground:
    """What the subjects stand on."""

    config: Config
    chats: Chats
    auth: Auth
    admission: Admission
    shelf: OverviewStore
    streaming: StreamParts

    @property
    def organization(self) -> UUID:
        return self.auth.deployment.organization_id


@asynccontextmanager
async def open_edge(
    config: Config,
    chats: Chats,
    entrance: Entrance,
    *,
    server: HttpServer,
    access_url: str,
    beside: Beside | None = None,
) -> AsyncIterator[None]:
    """Everything is served as long as the block is."""
    store = chats.store
    admission = Admission(store.pool, sharing=config.sharing)
    shelf = OverviewStore(store.pool, tell=store.bus.tell, lease_seconds=config.lease_seconds)
    async with (
        open_callers(
            config, chats, access_url=access_url, invites=beside is None or beside.is_first
        ) as auth,
        open_streaming(
            store.pool,
            store.bus,
            chats.previews,
            admission=admission,
            shelf=shelf,
            organization=auth.deployment.organization_id,
            lease_seconds=config.lease_seconds,
            elsewhere=None if beside is None else beside.relaying.relays,
        ) as streaming,
    ):

        def report() -> Mapping[str, Any]:
            return {
                "server": server.statistics(),
                "door": door.statistics(),
                **statistics_of(chats, auth, streaming),
                **({} if beside is None else beside.relaying.statistics()),
                "trio": trio.lowlevel.current_statistics(),
            }

        async def metrics() -> bytes:
            await pools.look(chats.supervisor.slots.statistics())
            page = chats.figures.exposition()
            return page if beside is None else of_process(beside.number, page)

        pools = Pools(chats.figures, chats.previews, store.pool)
        ground = Ground(config, chats, auth, admission, shelf, streaming)
        deployment = str(auth.deployment.id)
        health = DeploymentStatus(
            access_url=access_url, deployment_id=deployment, metrics=metrics, report=report
        )
        subjects: Sequence[Routes] = (
            entrance.probes,
            health,
            *subjects_of(ground),
            *streaming.routes,
            Later(),
        )
        door = door_of(ground, subjects, access_url=access_url)
        chats.figures.follow(report, door.durations)
        with ExitStack() as opened:
            opened.callback(streaming.leave)
            opened.enter_context(entrance.opened(door))
            if beside is not None:
                opened.enter_context(beside.opened(health.own(), auth.callers))
            yield


def open_callers(
    config: Config, chats: Chats, *, access_url: str, invites: bool
) -> AbstractAsyncContextManager[Auth]:
    return open_auth(
        chats.store.pool,
        chats.store.bus,
        chats.vault,
        admin_token=config.admin_token,
        access_url=access_url,
        invites=invites,
        processes=config.processes,
        identify=identify_by(chats.plugins, config.trusted_proxies),
    )


def door_of(ground: Ground, subjects: Sequence[Routes], *, access_url: str) -> Door:
    auth, config = ground.auth, ground.config
    rows = [auth.streams.guarding(row) for subject in subjects for row in subject.endpoints()]
    published = ApiDescription(rows, access_url=access_url)
    return Door(
        [*rows, *published.endpoints()],
        auth.callers,
        origin=config.access_url,
        listening=listening_at(config, access_url),
        trusted=config.trusted_proxies,
    )


def listening_at(config: Config, access_url: str) -> Collection[str]:
    """HOST:PORT as it was set, and as it became; where `access_url` is set, neither is asked."""
    bound = urlsplit(access_url).netloc
    return {bound, f"{config.host}:{bound.rpartition(':')[2]}"}


def subjects_of(ground: Ground) -> Sequence[Routes]:
    """Everything of the API that is not about the deployment as such."""
    chats, auth, config = ground.chats, ground.auth, ground.config
    return (
        *people_routes(auth),
        *catalogue_routes(
            chats.catalogue,
            chats.vault,
            pool=chats.store.pool,
            tell=chats.store.bus.tell,
            people=auth.known,
            feature=Feature(config.experiments),
        ),
        *mcp_routes(
            chats.mcp,
            chats.vault,
            chats.store.pool,
            organization=ground.organization,
            organization_name=ORGANIZATION,
        ),
        *chat_subjects(ground),
    )


def chat_subjects(ground: Ground) -> Sequence[Routes]:
    chats, admission, shelf = ground.chats, ground.admission, ground.shelf
    pool, ledger, catalogue = chats.store.pool, chats.store.ledger, chats.catalogue
    organization, sharing = ground.organization, ground.config.sharing
    sending = ChatSender(ledger, chats.supervisor)
    files = FileStore(pool, sharing=sharing)
    owned = OwnedWorkspaces(pool, tell=chats.store.bus.tell, sharing=sharing)
    repeating, consents = RequestRepeats(Receipts(pool)), Consents(pool)
    about = ChatRoutes(
        admission,
        shelf,
        pins=Pins(pool),
        ledger=ledger,
        sending=sending,
        supervisor=chats.supervisor,
        catalogue=catalogue,
        files=files,
        contents=chats.store.files,
        repeating=repeating,
        consents=consents,
        servers=chats.mcp.known,
        contexts=chats.contexts,
        named=chats.near.seen,
        workspaces=owned,
        organization=organization,
    )
    return (
        about,
        ChatList(shelf, owned, organization=organization, sharing=sharing),
        Messages(
            admission,
            Pages(pool),
            sending=sending,
            files=files,
            catalogue=catalogue,
            repeating=repeating,
            servers=chats.mcp.known,
        ),
        Queue(admission, ledger, sending=sending, files=files, catalogue=catalogue),
        Turns(admission, sending, shelf=shelf, organization=organization),
        Approvals(admission, consents, sending=sending),
        Titles(
            admission,
            chats.store.reading,
            shelf,
            catalogue=catalogue,
            keeper=chats.keeper,
            show=about.show,
        ),
        Sharing(
            admission,
            ReaderStore(pool),
            organization=organization,
            organization_name=ORGANIZATION,
            dropped=ground.streaming.viewers.look_soon,
            sharing=sharing,
        ),
        WorkspaceRoutes(owned, chats.lifecycle, organization=organization),
        Files(files, organization=organization, link_key=chats.vault.derived("file links")),
    )


def statistics_of(chats: Chats, auth: Auth, streaming: StreamParts) -> Mapping[str, Any]:
    return {
        "supervisor": chats.supervisor.statistics(),
        "background": chats.background.statistics(),
        "episodes": chats.previews.statistics(),
        "prompts": chats.prompts.statistics(),
        "catalogue": chats.catalogue.statistics(),
        "mcp": chats.mcp.statistics(),
        "workspaces": chats.lifecycle.statistics(),
        "workspace_servers": chats.near.statistics(),
        "contexts": chats.contexts.statistics(),
        "skills": chats.skills.statistics(),
        "summaries": chats.summaries.statistics(),
        "prompt_files": chats.store.files.statistics(),
        "bus": chats.store.bus.statistics(),
        "hints": chats.store.hints.statistics(),
        "pool": chats.store.pool.statistics(),
        "callers": auth.callers.statistics(),
        "people": auth.known.statistics(),
        "open_streams": auth.streams.statistics(),
        **streaming.statistics(),
        "plugin": chats.plugins.statistics(),
        "threads": limits.statistics(),
    }
