"""Wiring of everything that runs chats: models, tools, chat actors, their supervisor.

A part is started after all that it needs, and stopped before it. So the supervisor stops first,
with all its chats; then the background jobs; then the hints about what was given back; the
committer last, when no part is left that writes.
"""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import (
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass, replace
from functools import partial
from uuid import uuid4

from actors.chat.actor import ChatActor
from actors.chat.turn.deps import TurnDeps, TurnLimits
from actors.chat.turn.ports import Model
from actors.chat.turn.work import HeldChat
from actors.law.chat import Chat
from actors.law.ids import Holder, WorkerId
from actors.prompts.advice import AdvisedChats
from actors.streams.previews import Previews
from actors.supervisor import api
from actors.supervisor.actor import LEAVE_SECONDS, Supervisor
from actors.supervisor.api import Intake
from actors.supervisor.deps import SupervisorDeps, SupervisorLimits
from actors.tools.approval_rules import Policy
from actors.tools.approvals import ApprovalSettings
from actors.tools.hooks.port import NoHooks
from actors.upkeep.jobs import DRAIN_SECONDS, Background, open_background
from actors.upkeep.summary_jobs import AutomaticSummaries
from actors.upkeep.title_jobs import AutomaticTitles
from adapters.access.changes import ChatSender
from adapters.access.hooked_requests import RequestHooks
from adapters.chats.changes.wiring import ForgeParts, open_forges
from adapters.chats.files.store import ChatFileKeeper
from adapters.chats.streams.events import encode_piece
from adapters.chats.upkeep_stores import SummaryStorage
from adapters.daemon.metrics.figures import MetricsRegistry
from adapters.daemon.metrics.telemetry import PrometheusTelemetry
from adapters.daemon.provider_wiring import Reached, open_client
from adapters.daemon.store_wiring import Store, kept_bytes_of, open_store
from adapters.models.assembling import ProcessFacts
from adapters.models.catalogue import Catalogue, ConfiguredCompacting
from adapters.models.connecting import RehearsalHost
from adapters.models.costs import Bookkeeper
from adapters.models.debug_runs.recorder import CallRecords, RecordedModels
from adapters.models.debug_runs.wiring import open_records
from adapters.models.prompting import Prompting
from adapters.models.provider_config import ModelConfig
from adapters.models.providers.dial import Dial, dial_through, direct_dial, proxy_of, tls_context
from adapters.models.providers.http import HttpClient
from adapters.models.snapshot import REHEARSAL_MODEL
from adapters.models.spend.wiring import Spending, open_spending
from adapters.models.store.catalogue import CatalogueReader
from adapters.models.store.settings import SkillStore
from adapters.plugins.plugins import NO_PLUGINS, Plugins
from adapters.plugins.tools import PluginTools
from adapters.postgres.family import PostgresFamily
from adapters.settings import ADVISOR_EXPERIMENT, Config
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import Vault, open_vault
from adapters.tools.approvals.rule_store import ConsentRuleStore, KnownConsentRules
from adapters.tools.approvals.store import ConsentStore
from adapters.tools.built_in.sources import ToolDeps, built_in_sources
from adapters.tools.hooks.dispatcher import HookDispatcher
from adapters.tools.hooks.wiring import open_hooks
from adapters.tools.mcp.chat_tools.source import ServerTools
from adapters.tools.mcp.wiring import Mcp, open_mcp
from adapters.tools.mcp.workspaces.servers import (
    WorkspaceServers,
    open_workspace_servers,
    trust_of,
)
from adapters.tools.toolbox import DeclaredTools, Toolbox
from adapters.workspaces.browsing.browser import WorkspaceBrowser
from adapters.workspaces.context.pinned_contexts import PinnedContexts, open_contexts
from adapters.workspaces.context.skills import SkillIndex
from adapters.workspaces.context.turn_context import TurnWords, WorkspacePlans
from adapters.workspaces.desktop.desktops import Desktops, open_desktops
from adapters.workspaces.lifecycle import WorkspaceLifecycle, open_lifecycle
from adapters.workspaces.local import open_workspaces
from runtime.children import Child, Children, open_children
from runtime.clock import wall
from runtime.lag import LoopLag
from runtime.restart import Restart

STOP_SECONDS = 10.0  # for the supervisor, when its chats have had theirs; then it is cancelled
# Between two searches for chats that no hint named, such as those of a process that was killed:
# another process takes them within the lease and this.
POLL_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Basis:
    """The parts of a process that need no database, made before everything else."""

    models: Sequence[ModelConfig]  # that the environment offers
    dial: Dial
    vault: Vault
    previews: Previews
    intake: Intake
    plugins: Plugins
    lag: LoopLag

    def worker(self) -> WorkerId | None:
        """Return by which id other processes know this one; None before its first lease."""
        return self.intake.slots.worker


@dataclass(frozen=True, slots=True)
class ChatServices:
    """The parts that run chats, as routes use them."""

    store: Store
    catalogue: Catalogue
    vault: Vault
    mcp: Mcp
    lifecycle: WorkspaceLifecycle
    workspace_mcp: WorkspaceServers
    contexts: PinnedContexts
    skills: SkillIndex
    summaries: AutomaticSummaries
    prompts: Prompting
    previews: Previews
    supervisor: Supervisor
    background: Background
    figures: MetricsRegistry
    spending: Spending
    records: CallRecords
    plugins: Plugins
    browser: WorkspaceBrowser
    forges: ForgeParts
    approving: ApprovalSettings
    desktops: Desktops
    hooks: HookDispatcher | NoHooks
    reached: Reached


def basis_of(
    config: Config, models: Sequence[ModelConfig], dial: Dial, plugins: Plugins = NO_PLUGINS
) -> Basis:
    vault = open_vault(config.secret_key, config.data_dir)
    intake = Intake(capacity_of(config), uuid4)
    return Basis(models, dial, vault, Previews(encode_piece), intake, plugins, LoopLag())


@asynccontextmanager
async def open_chats(
    config: Config, basis: Basis, conninfo: str, *, url: str = ""
) -> AsyncIterator[ChatServices]:
    """Run chats for the length of the block, and hand them on at its end; others are at `url`."""
    vault, previews, figures = basis.vault, basis.previews, MetricsRegistry()
    async with (
        open_store(config, conninfo, previews, url=url) as store,
        open_client(basis.dial, basis.lag) as reached,
        open_background(drain_seconds=min(DRAIN_SECONDS, config.drain_seconds)) as background,
        open_catalogue(config, store, basis, reached.client) as catalogue,
        open_records(config, store.pool, store.bus, basis.worker, catalogue) as records,
        open_hooks(config, basis.dial, store.pool, figures) as hooks,
        open_spending(store.pool, catalogue, basis.worker, config.lease_seconds) as spending,
        open_workspaces(config, store.pool) as workspaces,
        open_forges(config, store.pool, store.bus, vault, workspaces) as forges,
        open_contexts(workspaces, store.pool, store.bus) as contexts,
        open_mcp(store.pool, store.bus, vault=vault, allowed=tuple(config.private_networks)) as mcp,
        open_consent(config, store) as approving,
        open_workspace_servers(workspaces, contexts, trust_of(config), approving) as workspace_mcp,
        open_desktops(workspaces) as desktops,
        open_lifecycle(
            config, workspaces, store.bus, (contexts, workspace_mcp, desktops)
        ) as lifecycle,
        open_children("chats of this process", capacity=1) as children,
    ):
        skills, plans = skills_of(store, contexts), WorkspacePlans(workspaces)
        advised = AdvisedChats(ADVISOR_EXPERIMENT in config.experiments)
        words = words_of(catalogue, contexts, skills, plans, advised)
        prompts = Prompting(words, store.files, bytes_max=kept_bytes_of(config) // 2)
        guards = TurnLimits(config.startup_seconds, config.silence_seconds)
        server_tools = ServerTools(mcp.calls, workspace_mcp, catalogue, figures.note_search)
        deps = ToolDeps(
            bus=store.bus,
            sending=ChatSender(store.ledger, basis.intake, RequestHooks(hooks, store.reading)),
            family=PostgresFamily(store.pool),
            catalogue=catalogue,
            prompts=prompts,
            limits=guards,
            spending=spending,
            recorder=records,
            advised=advised,
            files=ChatFileKeeper(store.pool),
            plans=plans,
            skills=skills,
            workspaces=workspaces,
            lifecycle=lifecycle,
            desktops=desktops,
            usable_servers=mcp.registry.usable,
        )
        titles = titles_of(store, background, catalogue, spending.keeper, records)
        world = turn_deps_of(store, basis, deps, titles, figures, server_tools, approving)
        world = replace(world, hooks=hooks)
        supervisor = start_supervisor(config, store, basis, world, children)
        summaries = summaries_of(store, background, catalogue, spending.keeper, records)
        with following(config, store, skills, server_tools, summaries):
            asked = (catalogue, vault, mcp, lifecycle, workspace_mcp, contexts, skills, summaries)
            running = (prompts, previews, supervisor, background, figures, spending, records)
            files, opened = WorkspaceBrowser(workspaces), (forges, approving, desktops, hooks)
            beside = (basis.plugins, files, *opened)
            yield ChatServices(store, *asked, *running, *beside, reached)


def skills_of(store: Store, contexts: PinnedContexts) -> SkillIndex:
    return SkillIndex(SkillStore(store.pool, tell=store.bus.tell), contexts)


@contextmanager
def following(
    config: Config,
    store: Store,
    skills: SkillIndex,
    servers: ServerTools,
    summaries: AutomaticSummaries,
) -> Iterator[None]:
    """Tell these parts the news for the length of the block."""
    with skills.follow(store.bus), servers.follow(store.bus), ExitStack() as more:
        if config.summaries:
            more.enter_context(store.bus.follow_commits(summaries.note_commit))
        yield


def turn_deps_of(
    store: Store,
    basis: Basis,
    deps: ToolDeps,
    titles: AutomaticTitles,
    figures: MetricsRegistry,
    servers: ServerTools,
    approving: ApprovalSettings,
) -> TurnDeps:
    return TurnDeps(
        ledger=store.ledger,
        reading=store.reading,
        models=deps.catalogue,
        prompts=deps.prompts,
        tools=toolbox_of(store, deps, basis.plugins, servers),
        journal=store.journal,
        prices=deps.spending.prices,
        previews=basis.previews,
        histories=store.histories,
        titles=titles,
        compacting=ConfiguredCompacting(deps.catalogue),
        books=deps.spending.keeper,
        budgets=deps.spending.budgets,
        recorder=deps.recorder,
        telemetry=PrometheusTelemetry(figures),
        limits=deps.limits,
        approving=approving,
    )


def words_of(
    catalogue: Catalogue,
    contexts: PinnedContexts,
    skills: SkillIndex,
    plans: WorkspacePlans,
    advised: AdvisedChats,
) -> TurnWords:
    return TurnWords(catalogue, skills=skills, workspace=contexts, advised=advised, plans=plans)


def toolbox_of(store: Store, deps: ToolDeps, plugins: Plugins, servers: ServerTools) -> Toolbox:
    """Return all tools of chats. Of two tools of one name the first counts, so those of servers,
    which strangers name, come last."""
    declared = DeclaredTools(store.reading.dynamic_tools)
    return Toolbox(declared, (*built_in_sources(deps), PluginTools(plugins), servers))


@asynccontextmanager
async def open_consent(config: Config, store: Store) -> AsyncIterator[ApprovalSettings]:
    """Know for the length of the block what consent calls need."""
    rules = KnownConsentRules(ConsentRuleStore(store.pool, tell=store.bus.tell))
    with rules.follow(store.bus):
        yield ApprovalSettings(
            ConsentStore(store.pool),
            Policy(config.approval_policy),
            config.approval_rules,
            config.approval_deadline,
            rules,
        )


def titles_of(
    store: Store,
    background: Background,
    catalogue: Catalogue,
    keeper: Bookkeeper,
    records: CallRecords,
) -> AutomaticTitles:
    def choose(chat: Chat, model: Model) -> Model | None:
        found = catalogue.for_automatic_titles(chat, model)
        return None if found is None else records.recorded(found, chat, "title_generation")

    return AutomaticTitles(background, store.titles, store.files, choose=choose, books=keeper)


def summaries_of(
    store: Store,
    background: Background,
    catalogue: Catalogue,
    keeper: Bookkeeper,
    records: CallRecords,
) -> AutomaticSummaries:
    return AutomaticSummaries(
        background,
        SummaryStorage(store.pool, tell=store.bus.tell),
        histories=store.reading,
        models=RecordedModels(catalogue, records, "quickgen"),
        books=keeper,
        may_be_asked=lambda model: model.config_id != REHEARSAL_MODEL,
    )


@asynccontextmanager
async def open_catalogue(
    config: Config, store: Store, basis: Basis, client: HttpClient
) -> AsyncIterator[Catalogue]:
    """Open the catalogue of models: those of the database and the environment.

    The rehearsal is offered for as long as there are no others.
    """
    stage = RehearsalHost()
    catalogue = Catalogue(
        CatalogueReader(store.pool),
        ProcessFacts.of_environment(basis.models, config.environ, wall()),
        vault=basis.vault,
        client=client,
        rehearsal=stage,
        allow_user_keys=config.user_keys,
    )
    async with open_children("catalogue", capacity=1) as children:
        children.start(Child(name="rehearsal", body=stage.run, restart=Restart()))
        with catalogue.follow(store.bus):
            await catalogue.begin()
            yield catalogue


def capacity_of(config: Config) -> SupervisorLimits:
    return SupervisorLimits(
        roots=config.root_chats,
        children=config.child_chats,
        poll_seconds=POLL_SECONDS,
        lease_seconds=config.lease_seconds,
        drain_seconds=config.drain_seconds,
    )


def start_supervisor(
    config: Config, store: Store, basis: Basis, world: TurnDeps, children: Children
) -> Supervisor:
    def live(me: Holder, held: HeldChat) -> ChatActor:
        return ChatActor(me, held, world)

    leases, ledger, reading, bus = store.leases, store.ledger, store.reading, store.bus
    capacity = capacity_of(config)
    supervisor = Supervisor(
        SupervisorDeps(leases, ledger, reading, bus, live, uuid4, capacity), basis.intake
    )
    children.start(
        Child(
            name="supervisor",
            body=supervisor.run,
            restart=Restart(),
            mailbox=supervisor.mailbox,
            tell_to_stop=partial(api.drain, supervisor.address),
            grace_seconds=config.drain_seconds + LEAVE_SECONDS + STOP_SECONDS,
        )
    )
    return supervisor


def dial_of(environ: Mapping[str, str]) -> Dial:
    """Return how providers are reached: directly, or by the proxy that the environment names."""
    context = tls_context()
    try:
        proxy = proxy_of(environ)
    except ValueError as error:
        subject, _, fact = str(error).partition(": ")
        raise CannotStart(subject, fact) from error
    direct = direct_dial(context)
    return direct if proxy is None else dial_through(direct, proxy, context)
