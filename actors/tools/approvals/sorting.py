"""The open calls of a step, by what becomes of them: run, denied unrun, to be asked about. Pure.

A call that is refused anyway (its tool is not there, its arguments cannot be read or do not fit,
it needs a step to itself) is not asked about: its refusal is its result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from actors.law.chat import Chat
from actors.law.parts.message import JsonText, ToolCallPart
from actors.law.requests import CallToApprove
from actors.tools.approvals.policy import Consent, Known, Policy, known_as
from actors.tools.refusing import Bound, refusals

NOBODY = (
    "{tool} needs somebody's consent in this chat, and there is nobody to give it: it was not run."
    " Go on without it, or say what you would have done"
)
RULED_OUT = "{tool} is not allowed here: it was not run. Go on without it"


class Offered(Bound, Known, Protocol):
    pass


@dataclass(frozen=True, slots=True)
class Sorted:
    run: tuple[ToolCallPart, ...]  # with what is refused or denied, which is answered there
    denied: Mapping[str, str]  # of these, by their ids: the words that the model is told
    asks: tuple[CallToApprove, ...]


def sorted_out(
    calls: Sequence[ToolCallPart], chat: Chat, tools: Mapping[str, Offered], consent: Consent
) -> Sorted:
    answered = refusals(calls, tools)
    allowed = {(one.tool_call_id, one.tool) for one in chat.approvals if not one.is_open}
    denied: dict[str, str] = {}
    asks: list[CallToApprove] = []
    for call in calls:
        if call in answered:
            continue
        tool = tools[call.name]
        name = known_as(tool)
        match consent.to(tool, by_person=(call.id, name) in allowed):
            case Policy.ASK:
                asks.append(CallToApprove(call.id, name, _shown(call, tool)))
            case Policy.DENY:
                words = NOBODY if consent.policy is Policy.DENY else RULED_OUT
                denied[call.id] = words.format(tool=tool.tool.name)
            case Policy.ALLOW:
                pass
    asked = {ask.tool_call_id for ask in asks}
    return Sorted(tuple(call for call in calls if call.id not in asked), denied, tuple(asks))


def _shown(call: ToolCallPart, tool: Known) -> JsonText:
    """What a person decides about: the arguments; of a start, what would be run."""
    return call.args or JsonText("{}") if tool.start is None else tool.start.shown
