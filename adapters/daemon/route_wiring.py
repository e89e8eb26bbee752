"""Wiring of what clients reach: who asks, the routes, and the door before all of them.

From the first moment the probes answer; everything else does once it is opened. Streams are told of
the end before the chats are handed on: the process that takes a chat over serves its watchers.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    ExitStack,
    asynccontextmanager,
)
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import trio

from adapters.access.acl import ReaderStore
from adapters.access.admission import Admission
from adapters.access.changes import ChatSender
from adapters.access.hooked_requests import RequestHooks
from adapters.chats.as_tools.routes import ChatToolRoutes
from adapters.chats.files.routes import FileRoutes
from adapters.chats.files.store import FileStore
from adapters.chats.housekeeping.holds import HoldStore
from adapters.chats.housekeeping.wiring import HousekeepingParts, open_housekeeping
from adapters.chats.notices.wiring import NoticeParts, open_notices
from adapters.chats.overviews import OverviewStore, PinStore
from adapters.chats.request_repeats import Receipts, RequestRepeats
from adapters.chats.routes.chat_list import ChatListRoutes
from adapters.chats.routes.chats import ChatRoutes as ChatRoutes
from adapters.chats.routes.desktop import DesktopRoutes
from adapters.chats.routes.messages import MessageRoutes
from adapters.chats.routes.not_implemented import NotImplementedRoutes
from adapters.chats.routes.processes import ProcessRoutes
from adapters.chats.routes.pull_requests import pull_request_routes
from adapters.chats.routes.queue import QueueRoutes
from adapters.chats.routes.sharing import SharingRoutes
from adapters.chats.routes.titles import TitleRoutes
from adapters.chats.routes.turns import TurnRoutes
from adapters.chats.streams.wiring import StreamParts, open_streaming
from adapters.daemon.chat_wiring import ChatServices
from adapters.daemon.entry import RelayEdge, RequestEntry
from adapters.daemon.metrics.figures import CapacityMetrics
from adapters.daemon.metrics.flattened import with_process_label
from adapters.daemon.text_values import text_values
from adapters.http.door import Door
from adapters.http.endpoints import Routes
from adapters.http.health import DeploymentStatus
from adapters.http.host.server import HttpServer
from adapters.http.openapi_page import ApiDescription
from adapters.models.debug_runs.routes import DebugRunRoutes
from adapters.models.debug_runs.store import DebugRunStore
from adapters.models.routes.all_routes import catalogue_routes
from adapters.models.routes.settings import DaemonFeatures
from adapters.models.spend.all_routes import spend_routes
from adapters.people.auth.wiring import Auth, open_auth
from adapters.people.routes.all_routes import people_routes
from adapters.people.routes.schemas import ORGANIZATION
from adapters.plugins.identity import identify_by
from adapters.postgres.reading import MessagePages
from adapters.settings import Config
from adapters.tools.approvals.routes import Approvals
from adapters.tools.approvals.rule_routes import ConsentRuleRoutes
from adapters.tools.approvals.rule_store import ConsentRuleStore
from adapters.tools.approvals.store import ConsentStore
from adapters.tools.hooks.dispatcher import HookDispatcher
from adapters.tools.mcp.routes.all_routes import mcp_routes
from adapters.web.routes import web_rows
from adapters.workspaces.browsing.routes import BrowsingRoutes
from adapters.workspaces.routes import WorkspaceRoutes
from adapters.workspaces.store import OwnedWorkspaces
from adapters.workspaces.terminals.routes import TerminalRoutes
from runtime import threads as limits


@dataclass(frozen=True, slots=True)
class RouteDeps:
    """The objects that routes are made of."""

    config: Config
    chats: ChatServices
    auth: Auth
    admission: Admission
    overviews: OverviewStore
    streaming: StreamParts
    housekeeping: HousekeepingParts

    @property
    def organization(self) -> UUID:
        return self.auth.deployment.organization_id


@asynccontextmanager
async def open_routes(
    config: Config,
    chats: ChatServices,
    entry: RequestEntry,
    *,
    server: HttpServer,
    access_url: str,
    relay_edge: RelayEdge | None = None,
) -> AsyncIterator[None]:
    """Serve everything for the length of the block."""
    store = chats.store
    admission = Admission(store.pool, sharing=config.sharing)
    overviews = OverviewStore(store.pool, tell=store.bus.tell, lease_seconds=config.lease_seconds)
    async with (
        open_callers(
            config, chats, access_url=access_url, invites=relay_edge is None or relay_edge.is_first
        ) as auth,
        open_watching(config, chats, auth, admission, overviews, relay_edge) as streaming,
        keep_house(chats) as housekeeping,
        open_told(config, chats, auth, access_url) as notices,
    ):

        def report() -> Mapping[str, Any]:
            return {
                "server": server.statistics(),
                "door": door.statistics(),
                **statistics_of(chats, auth, streaming, housekeeping),
                **notices.statistics(),
                **({} if relay_edge is None else relay_edge.services.statistics()),
                "trio": trio.lowlevel.current_statistics(),
            }

        async def metrics() -> bytes:
            await capacity.update(chats.supervisor.slots.statistics())
            page = chats.figures.exposition()
            return page if relay_edge is None else with_process_label(relay_edge.number, page)

        capacity = CapacityMetrics(chats.figures, chats.previews, store.pool)
        deps = RouteDeps(config, chats, auth, admission, overviews, streaming, housekeeping)
        deployment = str(auth.deployment.id)
        health = DeploymentStatus(
            access_url=access_url,
            deployment_id=deployment,
            experiments=config.experiments,
            metrics=metrics,
            report=report,
        )
        api = api_routes(deps)
        rows = (row for subject in api for row in subject.endpoints())
        routes: Sequence[Routes] = (
            entry.probes,
            health,
            *api,
            ChatToolRoutes(rows, organization=deps.organization),
            *streaming.routes,
            *notices.routes,
            DesktopRoutes(admission, chats.desktops),
            NotImplementedRoutes(admission),
        )
        door = door_of(deps, routes, access_url=access_url)
        chats.figures.follow(report, door.durations)
        entry.probes.warn_of({"outbox": notices.sender.delay})
        with ExitStack() as opened:
            opened.callback(streaming.leave)
            opened.callback(notices.leave)
            opened.enter_context(entry.opened(door))
            if relay_edge is not None:
                opened.enter_context(relay_edge.opened(health.own(), auth.callers))
            yield


def keep_house(chats: ChatServices) -> AbstractAsyncContextManager[HousekeepingParts]:
    store, removed = chats.store, chats.lifecycle.caretaker.removed
    return open_housekeeping(store.pool, store.ledger, tell=store.bus.tell, removed=removed)


def open_callers(
    config: Config, chats: ChatServices, *, access_url: str, invites: bool
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


def open_watching(
    config: Config,
    chats: ChatServices,
    auth: Auth,
    admission: Admission,
    overviews: OverviewStore,
    relay_edge: RelayEdge | None,
) -> AbstractAsyncContextManager[StreamParts]:
    return open_streaming(
        chats.store.pool,
        chats.store.bus,
        chats.previews,
        chats.lifecycle.workspaces,
        admission=admission,
        overviews=overviews,
        organization=auth.deployment.organization_id,
        lease_seconds=config.lease_seconds,
        elsewhere=None if relay_edge is None else relay_edge.services.relays,
    )


def open_told(
    config: Config, chats: ChatServices, auth: Auth, access_url: str
) -> AbstractAsyncContextManager[NoticeParts]:
    return open_notices(
        chats.store.pool,
        chats.store.bus,
        chats.vault,
        people=auth.cached_users,
        access_url=access_url,
        allowed=tuple(config.private_networks),
    )


def door_of(deps: RouteDeps, routes: Sequence[Routes], *, access_url: str) -> Door:
    auth, config = deps.auth, deps.config
    rows = [auth.streams.guarding(row) for subject in routes for row in subject.endpoints()]
    rows += web_rows(auth, rows, folder=config.web_dir, embed_origins=config.embed_origins)
    published = ApiDescription(rows, access_url=access_url, values=text_values())
    return Door(
        [*rows, *published.endpoints()],
        auth.callers,
        origin=config.access_url,
        listening=listening_at(config, access_url),
        trusted=config.trusted_proxies,
        pages=config.cors_origins,
    )


def listening_at(config: Config, access_url: str) -> Collection[str]:
    """Return the HOST:PORT of the setting, and the one that is bound, where port 0 may have been
    asked for. Links begin with one of these unless `access_url` is set."""
    bound = urlsplit(access_url).netloc
    return {bound, f"{config.host}:{bound.rpartition(':')[2]}"}


def api_routes(deps: RouteDeps) -> Sequence[Routes]:
    """Return all routes but those about the deployment."""
    chats, auth, config = deps.chats, deps.auth, deps.config
    return (
        *people_routes(auth),
        *catalogue_routes(
            chats.catalogue,
            chats.vault,
            pool=chats.store.pool,
            tell=chats.store.bus.tell,
            people=auth.cached_users,
            organization=deps.organization,
            feature=DaemonFeatures(config.experiments, config.debug_logging_forced),
        ),
        *spend_routes(chats.spending, auth.cached_users, deps.organization, chats.store.bus.tell),
        *mcp_routes(
            chats.mcp,
            chats.vault,
            chats.store.pool,
            organization=deps.organization,
            organization_name=ORGANIZATION,
        ),
        DebugRunRoutes(DebugRunStore(chats.store.pool), admit=deps.admission.to_update),
        *chat_routes(deps),
        *pull_request_routes(chats.forges, chats.vault, deps.admission, auth.cached_users),
        *deps.housekeeping.routes(deps.admission, chats.catalogue, auth.cached_users),
    )


def sender_of(chats: ChatServices) -> ChatSender:
    hooks = RequestHooks(chats.hooks, chats.store.reading)
    store = chats.store
    return ChatSender(store.ledger, chats.supervisor, hooks, store.histories)


def chat_routes(deps: RouteDeps) -> Sequence[Routes]:
    chats, admission, overviews = deps.chats, deps.admission, deps.overviews
    pool, ledger, catalogue = chats.store.pool, chats.store.ledger, chats.catalogue
    organization, sharing = deps.organization, deps.config.sharing
    sending = sender_of(chats)
    files = FileStore(pool, sharing=sharing)
    owned = OwnedWorkspaces(pool, tell=chats.store.bus.tell, sharing=sharing)
    repeating, consents = RequestRepeats(Receipts(pool)), ConsentStore(pool)
    rules = ConsentRuleStore(pool, tell=chats.store.bus.tell)
    about = ChatRoutes(
        admission,
        overviews,
        pins=PinStore(pool),
        ledger=ledger,
        sending=sending,
        supervisor=chats.supervisor,
        catalogue=catalogue,
        files=files,
        contents=chats.store.files,
        repeating=repeating,
        consents=consents,
        holds=HoldStore(pool),
        servers=chats.mcp.registry,
        contexts=chats.contexts,
        named=chats.workspace_mcp.seen,
        workspaces=owned,
        organization=organization,
        tell=chats.store.bus.tell,
    )
    return (
        about,
        ChatListRoutes(overviews, owned, organization=organization, sharing=sharing),
        MessageRoutes(
            admission,
            MessagePages(pool),
            sending=sending,
            files=files,
            catalogue=catalogue,
            repeating=repeating,
            servers=chats.mcp.registry,
        ),
        QueueRoutes(admission, ledger, sending=sending, files=files, catalogue=catalogue),
        TurnRoutes(
            admission, sending, catalogue=catalogue, overviews=overviews, organization=organization
        ),
        Approvals(admission, consents, sending=sending, approving=chats.approving, own_rules=rules),
        ConsentRuleRoutes(chats.approving, rules),
        TitleRoutes(
            admission,
            chats.store.reading,
            overviews,
            catalogue=catalogue,
            keeper=chats.spending.keeper,
            recorder=chats.records,
            show=about.show,
        ),
        sharing_routes(deps),
        *workspace_routes(deps, owned),
        FileRoutes(files, organization=organization, link_key=chats.vault.derived("file links")),
    )


def workspace_routes(deps: RouteDeps, owned: OwnedWorkspaces) -> Sequence[Routes]:
    lifecycle = deps.chats.lifecycle
    return (
        WorkspaceRoutes(owned, lifecycle, organization=deps.organization),
        BrowsingRoutes(owned, deps.chats.browser),
        TerminalRoutes(owned, lifecycle.terminals, is_on=deps.config.terminals),
        ProcessRoutes(deps.admission, lifecycle.workspaces.table, lifecycle.workspaces.peers),
    )


def sharing_routes(deps: RouteDeps) -> SharingRoutes:
    store = deps.chats.store
    return SharingRoutes(
        deps.admission,
        ReaderStore(store.pool),
        organization=deps.organization,
        organization_name=ORGANIZATION,
        tell=store.bus.tell,
        sharing=deps.config.sharing,
    )


def statistics_of(
    chats: ChatServices, auth: Auth, streaming: StreamParts, housekeeping: HousekeepingParts
) -> Mapping[str, Any]:
    return {
        "housekeeping": housekeeping.housekeeper.statistics(),
        "supervisor": chats.supervisor.statistics(),
        "background": chats.background.statistics(),
        "episodes": chats.previews.statistics(),
        "histories": chats.store.histories.statistics(),
        "prompts": chats.prompts.statistics(),
        "catalogue": chats.catalogue.statistics(),
        **chats.reached.statistics(),
        "mcp": chats.mcp.statistics(),
        "workspaces": chats.lifecycle.statistics(),
        "browsing": chats.browser.statistics(),
        "workspace_servers": chats.workspace_mcp.statistics(),
        "contexts": chats.contexts.statistics(),
        "desktops": chats.desktops.statistics(),
        "skills": chats.skills.statistics(),
        "summaries": chats.summaries.statistics(),
        "debug_runs": chats.records.statistics(),
        "spend": chats.spending.budgets.statistics(),
        **({"hooks": chats.hooks.statistics()} if isinstance(chats.hooks, HookDispatcher) else {}),
        "prompt_files": chats.store.files.statistics(),
        "bus": chats.store.bus.statistics(),
        "hints": chats.store.hints.statistics(),
        "pool": chats.store.pool.statistics(),
        "own_pool": chats.store.own_pool.statistics(),
        "callers": auth.callers.statistics(),
        "people": auth.cached_users.statistics(),
        "open_streams": auth.streams.statistics(),
        **streaming.statistics(),
        **chats.forges.statistics(),
        "plugin": chats.plugins.statistics(),
        "threads": limits.statistics(),
    }
