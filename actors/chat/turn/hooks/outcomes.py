"""The messages of a step after a policy hook has answered. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from actors.law.chat import Body, Chat, ChatError, Role
from actors.law.parts.message import HookNoticePart, Part, ToolCallPart
from actors.tools.hooks.port import HookEvent, HookFailed, HookReply
from actors.tools.hooks.rules import (
    DeniedCall,
    call_after,
    context_row,
    denied_result,
    failed_error,
    notice_parts,
)


@dataclass(frozen=True, slots=True)
class Hooked:
    """The messages of a step after the hooks were asked, and why the chat stops behind them."""

    rows: tuple[Body, ...]
    error: ChatError | None = None
    goes_on: bool = False  # a hook wants the model to say more


def our_calls(rows: Sequence[Body]) -> tuple[ToolCallPart, ...]:
    """Return the calls of an answer that are run here or by the client."""
    found = (_our_call(part) for row in rows for part in row.parts)
    return tuple(call for call in found if call is not None)


def admitted(
    chat: Chat,
    rows: tuple[Body, ...],
    replies: Sequence[tuple[ToolCallPart, HookReply | HookFailed]],
) -> tuple[Body, ...] | HookFailed:
    """Return the messages of an answer: its calls as they were rewritten, and results of those that
    were denied. One call that could not be asked about is enough to stop all of them."""
    after: dict[str, ToolCallPart] = {}
    denied: list[Body] = []
    heard: list[HookReply] = []
    for call, reply in replies:
        if isinstance(reply, HookFailed):
            return reply
        found = call_after(call, reply)
        if isinstance(found, HookFailed):
            return found
        if isinstance(found, DeniedCall):
            denied.append(_denied_row(found, chat))
        else:
            after[call.id] = found
        heard.append(reply)
    hooked = tuple(replace(row, parts=_rewritten(row.parts, after)) for row in rows)
    notices = [part for reply in heard for part in notice_parts(reply)]
    contexts = [row for reply in heard for row in context_rows(reply)]
    return (*with_notices(hooked, *notices), *denied, *contexts)


def with_replies(
    event: HookEvent, rows: tuple[Body, ...], replies: Sequence[HookReply | HookFailed]
) -> Hooked:
    heard = [reply for reply in replies if isinstance(reply, HookReply)]
    failed = next((reply for reply in replies if isinstance(reply, HookFailed)), None)
    contexts = [row for reply in heard for row in context_rows(reply)]
    error = None if failed is None else failed_error(event, failed)
    return Hooked((*rows, *contexts), error)


def context_rows(reply: HookReply) -> tuple[Body, ...]:
    return (context_row(reply.model_context),) if reply.model_context else ()


def with_notices(rows: tuple[Body, ...], *notices: HookNoticePart) -> tuple[Body, ...]:
    """Put notices behind what a model has said: that is where users are shown them."""
    said = [row for row in rows if row.role is Role.ASSISTANT]
    if not (said and notices):
        return rows
    told = replace(said[-1], parts=(*said[-1].parts, *notices))
    return tuple(told if row is said[-1] else row for row in rows)


def _denied_row(denied: DeniedCall, chat: Chat) -> Body:
    return Body(Role.TOOL, (denied_result(denied),), model_config_id=chat.last_model_config_id)


def _rewritten(parts: tuple[Part, ...], after: dict[str, ToolCallPart]) -> tuple[Part, ...]:
    ours = ((part, _our_call(part)) for part in parts)
    return tuple(part if call is None else after.get(call.id, part) for part, call in ours)


def _our_call(part: Part) -> ToolCallPart | None:
    """Return a call that the provider does not run itself."""
    return part if isinstance(part, ToolCallPart) and not part.provider_executed else None
