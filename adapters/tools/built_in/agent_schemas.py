"""The arguments of the tools for agents, and what a model is told of these tools. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from actors.agents.rules import CHILDREN_MAX, TYPE_DESCRIPTIONS, types_available
from actors.chat.turn.ports import LocalTool
from actors.law.parts.message import JsonText
from actors.law.parts.prompt import ToolDefinition
from adapters.models.call_config import efforts_offered
from adapters.models.snapshot import ListedModel
from adapters.tools.dispatch import schema_of

WAIT_SECONDS = 300  # where the model does not say
WAIT_SECONDS_MAX = 3_600  # of one call; it may wait again
WAITED_FOR_MAX = 50  # agents in one call
LISTED = 10
LISTED_MAX = 50
DEADLINE_SECONDS = 60.0  # of everything but waiting

ChatIdText = Annotated[UUID, Meta(description="The agent's chat_id, as spawn_agent returned it.")]


TYPES = "The types of agents."  # in its place stand the types that there are


class SpawnAgent(Struct, frozen=True):
    type: Annotated[str, Meta(description=TYPES)]
    prompt: Annotated[
        str,
        Meta(
            description="The work, as text that stands by itself: the agent knows nothing of this"
            " conversation. Say the goal, what is known, and what its report has to contain."
        ),
    ]
    title: Annotated[str, Meta(description="A few words, for people.")] = ""
    model_config_id: Annotated[
        str, Meta(description="From list_subagent_models; leave it out for the usual one.")
    ] = ""
    reasoning_effort: Annotated[
        str, Meta(description="none, minimal, low, medium, high, xhigh or max.")
    ] = ""


class ListSubagentModels(Struct, frozen=True):
    pass


class WaitAgent(Struct, frozen=True):
    chat_id: Annotated[UUID | None, Meta(description="The agent to wait for.")] = None
    chat_ids: Annotated[
        list[UUID],
        Meta(description="Several agents to wait for at once.", max_length=WAITED_FOR_MAX),
    ] = []
    until: Annotated[
        Literal["all", "any"], Meta(description="Whether to wait for all of them or the first.")
    ] = "all"
    timeout_seconds: Annotated[
        int, Meta(description=f"How long at most; {WAIT_SECONDS} if left out.")
    ] = WAIT_SECONDS

    @property
    def agents(self) -> list[UUID]:
        first = [] if self.chat_id is None else [self.chat_id]
        return list(dict.fromkeys([*first, *self.chat_ids]))

    @property
    def wants_any(self) -> bool:
        return self.until == "any"

    @property
    def seconds(self) -> float:
        wanted = self.timeout_seconds if self.timeout_seconds > 0 else WAIT_SECONDS
        return float(min(wanted, WAIT_SECONDS_MAX))


class MessageAgent(Struct, frozen=True):
    chat_id: ChatIdText
    message: Annotated[str, Meta(description="What it is told.")]
    interrupt: Annotated[
        bool, Meta(description="Stop what it is doing first, keeping what it has so far.")
    ] = False


class InterruptAgent(Struct, frozen=True):
    chat_id: ChatIdText


class ListAgents(Struct, frozen=True):
    limit: int = LISTED
    offset: Annotated[int, Meta(ge=0, le=CHILDREN_MAX)] = 0


def model_document(model: ListedModel) -> Mapping[str, Any]:
    """A model that an agent can be spawned with."""
    efforts = efforts_offered(model.call)
    return {
        "model_config_id": str(model.id),
        "display_name": model.display_name,
        "model": model.model,
        "provider": "" if model.provider is None else model.provider.name,
        "context_limit": model.context_limit,
        "is_default": model.is_default,
        **({"reasoning_efforts": list(efforts)} if efforts else {}),
    }


def _tool(
    name: str,
    arguments: type[Struct],
    says: str,
    *,
    seconds: float = DEADLINE_SECONDS,
    aliases: tuple[str, ...] = (),
    only_waits: bool = False,
) -> LocalTool:
    """Return a tool for agents. All of them may run again after a crash: what was done is found
    done."""
    return LocalTool(
        ToolDefinition(name, says, schema_of(arguments)),
        seconds,
        repeatable=True,
        only_waits=only_waits,
        strict=True,
        aliases=aliases,
    )


def _spawn_tool(*, has_desktop: bool) -> LocalTool:
    """Return the tool that spawns, which tells of the types that there are."""
    tool = _tool(
        "spawn_agent",
        SpawnAgent,
        "Start an agent: another chat with its own context, which works beside you and reports."
        " Returns at once with its chat_id; use wait_agent for the report.",
    )
    types = "; ".join(
        f"{type.value}: {TYPE_DESCRIPTIONS[type]}" for type in types_available(has_desktop)
    )
    schema = JsonText(tool.tool.schema.replace(TYPES, types))
    return replace(tool, tool=replace(tool.tool, schema=schema))


_OTHERS = (
    _tool(
        "list_subagent_models",
        ListSubagentModels,
        "The models that an agent can be spawned with.",
    ),
    _tool(
        "wait_agent",
        WaitAgent,
        "Wait until agents have settled, and read their reports. `timed_out`: the time is over, the"
        " agent goes on working (`requires_action`: once your user has decided what it was asked),"
        " and you may wait again. `unfinished`: it rests, but was stopped"
        " before it could report; tell it to go on, or go on without it.",
        seconds=WAIT_SECONDS_MAX + DEADLINE_SECONDS,
        only_waits=True,
    ),
    _tool(
        "message_agent",
        MessageAgent,
        "Tell an agent something. If it rests it begins to work on it; if it works, it reads it"
        " when its turn is over.",
    ),
    _tool(
        "interrupt_agent",
        InterruptAgent,
        "Stop what an agent is doing. What it has said so far is kept, and it can be told more.",
        aliases=("close_agent",),
    ),
    _tool("list_agents", ListAgents, "The agents of this chat, and how they stand."),
)
TOOLS = (_spawn_tool(has_desktop=False), *_OTHERS)
TOOLS_WITH_DESKTOP = (_spawn_tool(has_desktop=True), *_OTHERS)
