"""The points of a turn at which the policy hooks are asked, and what becomes of their answers.

Each returns what is to be committed, so that what a hook said and what it was about are written
together. In a deployment without hooks nothing is asked, and `is_on` is all that is looked at.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import trio

from actors.chat.turn.commits import Committed, commit, end_turn, end_with_error
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.hooks.outcomes import (
    Hooked,
    admitted,
    context_rows,
    our_calls,
    with_notices,
    with_replies,
)
from actors.chat.turn.work import HeldChat
from actors.law.chat import Body, Chat, ChatError, Message, Role
from actors.law.parts.message import HookNoticePart, ToolCallPart, ToolResultPart
from actors.law.requests import (
    Abandon,
    CommitStep,
    FinishError,
    RecordGenerationAttempt,
    Request,
)
from actors.tools.hooks.port import HookEvent, HookFailed, HookReply, HookSubject
from actors.tools.hooks.rules import (
    call_data,
    context_row,
    doubled_ids,
    failed_error,
    notice_parts,
    result_data,
    subject_of,
    was_nudged,
)

PROMPT: HookEvent = "user_prompt_submit"


async def begin_session(held: HeldChat, deps: TurnDeps) -> Committed | None:
    """Ask at the beginning of a life of the chat's actor. None: the turn goes on as it is."""
    chat, history = held.stored.chat, held.history or ()
    if not deps.hooks.begins_session(chat):
        return None
    has_said = any(row.body.role is Role.ASSISTANT for row in history)
    source = {"source": "resume" if has_said else "startup"}
    reply = await deps.hooks.ask("session_start", subject_of(chat, history), source)
    if isinstance(reply, HookFailed):
        return await end_with_error(held, FinishError(failed_error("session_start", reply)), deps)
    _hold_notices(chat, [reply], deps)
    rows = context_rows(reply)
    return await commit(held, [CommitStep(rows)], deps, of_attempt=True) if rows else None


async def admit_calls(
    chat: Chat, history: Sequence[Message], rows: tuple[Body, ...], deps: TurnDeps
) -> tuple[Body, ...] | ChatError:
    """Ask about each call of an answer that is to be run here or by the client. Return the messages
    of the step: calls as they were rewritten, and results of those that were denied."""
    if not deps.hooks.is_on:
        return rows
    calls = our_calls(rows)
    if doubled_ids(calls):
        doubled = HookFailed("protocol_error", "two calls of one answer have the same id")
        return failed_error("pre_tool_use", doubled)
    subject = subject_of(chat, history)
    replies = await _all_of([partial(_ask_before, call, subject, deps) for call in calls])
    found = admitted(chat, rows, list(zip(calls, replies, strict=True)))
    if isinstance(found, HookFailed):
        return failed_error("pre_tool_use", found)
    return with_notices(found, *map(HookNoticePart, deps.hooks.take_notices(chat.id)))


async def _ask_before(
    call: ToolCallPart, subject: HookSubject, deps: TurnDeps
) -> HookReply | HookFailed:
    return await deps.hooks.ask("pre_tool_use", subject, call_data(call))


async def tell_results(
    chat: Chat,
    history: Sequence[Message],
    calls: Sequence[ToolCallPart],
    rows: tuple[Body, ...],
    deps: TurnDeps,
) -> Hooked:
    """Tell the results of a batch. They are committed whatever the hook says."""
    if not deps.hooks.is_on:
        return Hooked(rows)
    by_id = {call.id: call for call in calls}
    results = [part for row in rows for part in row.parts if isinstance(part, ToolResultPart)]
    subject = subject_of(chat, history)
    asking = [partial(_ask_after, by_id[result.id], result, subject, deps) for result in results]
    replies = await _all_of(asking)
    _hold_notices(chat, replies, deps)
    told = with_replies("post_tool_use", rows, replies)
    failed = deps.hooks.take_failure(chat.id)
    return told if failed is None else replace(told, error=failed_error(PROMPT, failed))


async def _ask_after(
    call: ToolCallPart, result: ToolResultPart, subject: HookSubject, deps: TurnDeps
) -> HookReply | HookFailed:
    return await deps.hooks.ask("post_tool_use", subject, result_data(call, result))


async def end_turn_unless_nudged(
    held: HeldChat, rows: tuple[Body, ...], deps: TurnDeps
) -> Committed:
    """End the turn with these messages, unless a hook lets it go on, or cannot be asked."""
    if deps.hooks.is_on:
        chat, history = held.stored.chat, held.history or ()
        ended = await before_end(chat, history, rows, deps)
        rows = ended.rows
        if ended.error is not None:
            return await commit_and_stop(held, CommitStep(rows, ends_turn=True), ended.error, deps)
        if ended.goes_on:
            going_on: list[Request] = [CommitStep(rows), RecordGenerationAttempt()]
            return await commit(held, going_on, deps, of_attempt=True)
    return await end_turn(held, [CommitStep(rows, ends_turn=True)] if rows else (), deps)


async def before_end(
    chat: Chat, history: Sequence[Message], rows: tuple[Body, ...], deps: TurnDeps
) -> Hooked:
    """Ask before a turn ends. What the hook tells the model makes it go on, once for each
    prompt."""
    reply = await deps.hooks.ask("stop", subject_of(chat, history), {})
    if isinstance(reply, HookFailed):
        return Hooked(rows, failed_error("stop", reply))
    if not any(row.role is Role.ASSISTANT for row in rows):
        _hold_notices(chat, [reply], deps)
    rows = with_notices(rows, *notice_parts(reply))
    if not reply.model_context or was_nudged(history):
        return Hooked(rows)
    return Hooked((*rows, context_row(reply.model_context, nudges=True)), goes_on=True)


async def before_summary(
    chat: Chat, history: Sequence[Message], deps: TurnDeps
) -> HookReply | ChatError:
    """Ask before a conversation is summed up. What is said to the model becomes guidance for the
    summary."""
    if not deps.hooks.is_on:
        return HookReply()
    reply = await deps.hooks.ask("pre_compact", subject_of(chat, history), {})
    return failed_error("pre_compact", reply) if isinstance(reply, HookFailed) else reply


async def after_summary(
    chat: Chat,
    history: Sequence[Message],
    rows: tuple[Body, ...],
    before: HookReply,
    deps: TurnDeps,
) -> Hooked:
    """Tell that a conversation was summed up. The summary is kept whatever the hook says."""
    if not deps.hooks.is_on:
        return Hooked(rows)
    reply = await deps.hooks.ask("post_compact", subject_of(chat, history), {})
    said = [*notice_parts(before), *(notice_parts(reply) if isinstance(reply, HookReply) else ())]
    rows = with_notices(rows, *said)
    return with_replies("post_compact", rows, [reply])


async def commit_and_stop(
    held: HeldChat, step: CommitStep, error: ChatError, deps: TurnDeps
) -> Committed:
    """Write what was done, and stop the chat, in one transaction."""
    requests: list[Request] = [step] if step.messages else []
    return await commit(held, [*requests, FinishError(error), Abandon()], deps, of_attempt=True)


def _hold_notices(chat: Chat, replies: Sequence[HookReply | HookFailed], deps: TurnDeps) -> None:
    """Keep notices for the next answer: there is none yet to show them with."""
    for reply in replies:
        if isinstance(reply, HookReply) and reply.user_message:
            deps.hooks.hold_notice(chat.id, reply.user_message)


Asking = Callable[[], Awaitable[HookReply | HookFailed]]


async def _all_of(asking: Sequence[Asking]) -> list[HookReply | HookFailed]:
    """Ask all at once, and return the answers in order."""
    answers: dict[int, HookReply | HookFailed] = {}

    async def ask(number: int, one: Asking) -> None:
        answers[number] = await one()

    async with trio.open_nursery() as together:
        for number, one in enumerate(asking):
            together.start_soon(ask, number, one)
    return [answers[number] for number in range(len(asking))]
