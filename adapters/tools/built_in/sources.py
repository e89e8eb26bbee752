"""The tools that come with the daemon, in the order in which a model is told of them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from actors.agents.ports import FamilyReader
from actors.agents.rules import NO_DESKTOP_IN_PLANS
from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import CallRecorder, Prompts
from actors.law.chat import Chat
from actors.law.store.ports import Bus
from actors.prompts.advice import AdvisedChats
from actors.prompts.ports import ChatFiles, PlanFiles
from adapters.access.changes import ChatSender
from adapters.models.catalogue import Catalogue
from adapters.models.spend.consenting import SpendConsent
from adapters.models.spend.wiring import Spending
from adapters.tools.built_in.advisor import AdvisorTool
from adapters.tools.built_in.agent_recorder import AgentRecorder
from adapters.tools.built_in.agents import AgentTools
from adapters.tools.built_in.computer import ComputerTool
from adapters.tools.built_in.lifecycle import LifecycleTools
from adapters.tools.built_in.planning import PlanningTools
from adapters.tools.built_in.skills import SkillTools
from adapters.tools.built_in.workspace import WorkspaceTools
from adapters.tools.toolbox import ToolSource
from adapters.workspaces.context.skills import SkillIndex
from adapters.workspaces.desktop.desktops import Desktops
from adapters.workspaces.lifecycle import WorkspaceLifecycle
from adapters.workspaces.local import LocalWorkspaces


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDeps:
    """The parts of the daemon that built-in tools work with."""

    bus: Bus
    sending: ChatSender
    family: FamilyReader
    catalogue: Catalogue
    prompts: Prompts
    limits: TurnLimits
    spending: Spending
    recorder: CallRecorder
    advised: AdvisedChats
    files: ChatFiles
    plans: PlanFiles
    skills: SkillIndex
    workspaces: LocalWorkspaces
    lifecycle: WorkspaceLifecycle
    desktops: Desktops
    # The servers of tools that a chat may use in its next step; an agent that explores gets them.
    usable_servers: Callable[[Chat], Awaitable[tuple[UUID, ...]]]


async def _why_no_desktop(deps: ToolDeps, chat: Chat) -> str | None:
    """Return why an agent of this chat cannot operate a desktop, or None if it can."""
    if chat.is_planning:
        return NO_DESKTOP_IN_PLANS
    return deps.desktops.why_none or await deps.catalogue.why_no_desktop_model(chat.owner_id)


def built_in_sources(deps: ToolDeps) -> Sequence[ToolSource]:
    """Return the sources of all built-in tools. A new tool is one more line here."""
    return (
        PlanningTools(deps.files, deps.plans),
        AdvisorTool(
            deps.advised,
            deps.catalogue,
            deps.prompts,
            deps.limits,
            deps.spending.keeper,
            deps.recorder,
        ),
        SkillTools(deps.skills),
        WorkspaceTools(deps.workspaces, deps.files),
        LifecycleTools(deps.lifecycle),
        ComputerTool(deps.desktops, deps.files),
        AgentTools(
            deps.sending,
            deps.family,
            deps.bus,
            deps.catalogue,
            deps.usable_servers,
            why_no_desktop=partial(_why_no_desktop, deps),
            recorder=AgentRecorder(deps.desktops, deps.files),
        ),
        SpendConsent(deps.spending.store, deps.catalogue.settings),
    )
