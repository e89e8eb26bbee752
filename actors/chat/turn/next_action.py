"""The rule for what a turn does next, read off its history. Pure: the same history, the same
action.

The first match wins: open calls are answered before anything else, a turn that is complete ends,
and only then is the model asked.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from actors.chat.turn.ports import LocalTool, OfferedTools
from actors.law.chat import Body, Chat, Message, Role, Visibility
from actors.law.closing import unanswered_calls
from actors.law.parts.message import ToolCallPart, ToolResultPart
from actors.law.requests import CallToApprove
from actors.prompts.fullness import is_worth_it
from actors.tools.approvals import ALLOW_ALL, Consent, sort_calls
from actors.tools.hooks.rules import is_nudge

NONE_DENIED: Mapping[str, str] = MappingProxyType({})
STEPS_PER_TURN_MAX = 1200  # assistant messages since the last prompt; then the turn ends, quietly


class EndReason(Enum):
    """The reason why a turn ends."""

    COMPLETE = "complete"
    TOOL = "ended_by_tool"
    STEPS = "steps_used_up"


@dataclass(frozen=True, slots=True)
class CallModel:
    pass


@dataclass(frozen=True, slots=True)
class RunTools:
    calls: tuple[ToolCallPart, ...]
    # Those of the calls, by id, that are not run but answered in these words.
    denied: Mapping[str, str] = field(default_factory=lambda: NONE_DENIED)
    calls_to_approve: tuple[
        CallToApprove, ...
    ] = ()  # for consent to other calls, once these have run


@dataclass(frozen=True, slots=True)
class AwaitClient:
    """Wait for the client to answer these calls, and for people to allow or deny others."""

    calls: tuple[ToolCallPart, ...]
    calls_to_approve: tuple[CallToApprove, ...] = ()


@dataclass(frozen=True, slots=True)
class Summarise:
    """Sum up the conversation, because a user has asked for it."""


@dataclass(frozen=True, slots=True)
class EndTurn:
    reason: EndReason


Action = CallModel | RunTools | AwaitClient | Summarise | EndTurn


def next_action(
    chat: Chat, history: Sequence[Message], offered: OfferedTools, consent: Consent = ALLOW_ALL
) -> Action:
    tools = tools_by_name(offered.local)
    declared = {tool.name for tool in offered.declared} - tools.keys()
    bodies = _latest(history)
    last = _last_assistant(bodies)
    if last is not None:
        action = _for_open_calls(open_calls(bodies[last:]), declared, tools, chat, consent)
        if action is not None:
            return action
    if chat.compaction_requested_at is not None and is_worth_it(history):
        return Summarise()
    turn = bodies[_prompt(bodies) :]
    if not _is_nudged(history):
        if _ended_by_tool(turn, tools):
            return EndTurn(EndReason.TOOL)
        if last is not None and last == len(bodies) - 1:
            return EndTurn(EndReason.COMPLETE)
    if sum(body.role is Role.ASSISTANT for body in turn) >= STEPS_PER_TURN_MAX:
        return EndTurn(EndReason.STEPS)
    return CallModel()


def tools_by_name(local: Iterable[LocalTool]) -> dict[str, LocalTool]:
    """Return the tools under every name that a model may call them by."""
    named = {alias: tool for tool in local for alias in tool.aliases}
    return named | {tool.tool.name: tool for tool in local}


def open_calls(tail: Sequence[Body]) -> tuple[ToolCallPart, ...]:
    """Return the calls of the first message, an assistant's, that have no result.

    One result answers an id, so of two calls under one id the first is the one that runs.
    """
    calls: dict[str, ToolCallPart] = {}
    for call in unanswered_calls(tuple(tail)):
        calls.setdefault(call.id, call)
    return tuple(calls.values())


def _for_open_calls(
    calls: tuple[ToolCallPart, ...],
    dynamic: Set[str],
    tools: dict[str, LocalTool],
    chat: Chat,
    consent: Consent,
) -> Action | None:
    # A call that a person was asked about runs here or not at all, even if its client has declared
    # a tool of its name by now.
    ours = {approval.tool_call_id for approval in chat.approvals}
    theirs = tuple(call for call in calls if call.name in dynamic and call.id not in ours)
    here = tuple(call for call in calls if call not in theirs)
    # An exclusive tool refuses all company, the client's calls too: they are refused together.
    if len(calls) > 1 and any(_exclusive(call, tools) for call in here):
        return RunTools(calls)
    found = sort_calls(here, chat, tools, consent)
    if found.run:
        return RunTools(found.run, found.denied, found.calls_to_approve)
    return AwaitClient(theirs, found.calls_to_approve) if calls else None


def _exclusive(call: ToolCallPart, tools: dict[str, LocalTool]) -> bool:
    tool = tools.get(call.name)
    return tool is not None and tool.exclusive


def _ended_by_tool(turn: Iterable[Body], tools: dict[str, LocalTool]) -> bool:
    return any(
        isinstance(part, ToolResultPart)
        and not part.is_error
        and part.name in tools
        and tools[part.name].ends_turn
        for body in turn
        if body.role is Role.TOOL
        for part in body.parts
    )


def _counts(message: Message) -> bool:
    """Tell whether a message is part of the turn: summaries, what they replaced, and what only the
    model sees are not."""
    body = message.body
    return not message.deleted and not body.compressed and body.visibility is not Visibility.MODEL


def _is_nudged(history: Sequence[Message]) -> bool:
    """Tell whether a hook has made the model go on after what it said last."""
    for message in reversed(history):
        if not message.deleted and is_nudge(message.body):
            return True
        if _counts(message):
            return False
    return False


def _latest(history: Sequence[Message]) -> list[Body]:
    """Return the end of what counts: from the turn's prompt, and the latest assistant message."""
    found: list[Body] = []
    wanted = {Role.USER, Role.ASSISTANT}
    for message in reversed(history):
        if _counts(message):
            found.append(message.body)
            wanted.discard(message.body.role)
            if not wanted:
                break
    return found[::-1]


def _last_assistant(bodies: Sequence[Body]) -> int | None:
    for index in range(len(bodies) - 1, -1, -1):
        if bodies[index].role is Role.ASSISTANT:
            return index
    return None


def _prompt(bodies: Sequence[Body]) -> int:
    """Return the index at which the turn begins: behind the last thing that a user said."""
    for index in range(len(bodies) - 1, -1, -1):
        if bodies[index].role is Role.USER:
            return index + 1
    return 0
