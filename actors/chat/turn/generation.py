"""The task of one attempt at one action of a turn: it reads what is next off the history, and does
it.

An attempt is counted, where the count survives a crash, before anything is asked. What it says is
shown in a preview of its own. If it fails, the reason and the pause before the next attempt are
stored; the budget of attempts is the chat's, not this task's.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import assert_never

from actors.chat.turn import retries, steps
from actors.chat.turn.answering import ModelOutcome, ask_shown
from actors.chat.turn.commits import (
    Committed,
    commit,
    count_attempt,
    end_failed_attempt,
    end_with_error,
)
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.hooks import points as hook_points
from actors.chat.turn.hooks.points import end_turn_unless_nudged
from actors.chat.turn.next_action import (
    Action,
    AwaitClient,
    CallModel,
    EndTurn,
    RunTools,
    Summarise,
    next_action,
)
from actors.chat.turn.ports import CompactionPlan, Model, OfferedTools, Toolset
from actors.chat.turn.scribe import Scribe, book_answer, book_due, shown_summary
from actors.chat.turn.spending import OverLimit, WhyRefused, giving_back, question, was_asked
from actors.chat.turn.tool_batch import run_batch
from actors.chat.turn.work import (
    AtStake,
    Attempt,
    HeldChat,
    WholeStep,
    WorkAdvanced,
    WorkObsolete,
    without_attempt,
)
from actors.law.chat import Body, Chat, ChatError, Message, StoredChat
from actors.law.failures.wording import failure
from actors.law.ids import EpisodeKey, chat_name
from actors.law.parts.deltas import FailureKind, ProviderFailure
from actors.law.parts.message import UNPRICED, Reservation
from actors.law.requests import (
    CommitStep,
    EnterRequiresAction,
    FinishError,
    RecordGenerationAttempt,
    Request,
)
from actors.law.store.retry import retry_store
from actors.prompts.compaction import Compaction, CompactionSource, NoSummary, Summary
from actors.prompts.fullness import (
    STILL_FULL,
    THRESHOLD_OFF,
    CompactionNeed,
    Fullness,
    compaction_need,
    fullness,
    may_summarise,
)
from runtime.clock import now


async def generate(held: HeldChat, deps: TurnDeps, at_stake: AtStake) -> Committed:
    """Do what comes next in the turn, and note in `at_stake` what would be lost by stopping.

    The attempt is counted before anything is read. So if the history cannot be read, the chat's
    actor sees by the count that the store answers and that something else is wrong.
    """
    begun = now()
    counted = await count_attempt(held, deps)
    if not isinstance(counted, WorkAdvanced):
        return counted
    known = await with_history(counted.held, deps)
    if known is None:
        return WorkObsolete()
    if deps.hooks.is_on and (ended := await hook_points.begin_session(known, deps)) is not None:
        return ended
    chat, history = known.stored.chat, known.history or ()
    tools = await deps.tools.for_turn(chat, history)
    action = await _next(chat, history, tools.offered, deps)
    match action:
        case EndTurn():
            return await end_turn_unless_nudged(known, (), deps)
        case AwaitClient():
            return await commit(known, [_waiting(action, deps)], deps)
        case RunTools():
            return await _run_tools(known, action, tools, deps, at_stake)
        case Summarise():
            return await _summarise(known, tools, CompactionSource.MANUAL, deps, at_stake)
        case CallModel():
            return await _call_model(known, tools, deps, at_stake, begun=begun)
        case _:
            assert_never(action)


async def _next(
    chat: Chat, history: Sequence[Message], offered: OfferedTools, deps: TurnDeps
) -> Action:
    """Return what comes next. Rules of consent are looked up only where there are calls, and what
    people have always allowed only if calls would not run without it."""
    action = next_action(chat, history, offered)
    if not isinstance(action, AwaitClient | RunTools):
        return action
    approving = deps.approving
    look = partial(approving.consent_under, chat.approval_policy, chat.owner_id)
    consent = await retry_store(chat.id, "rules", look)
    action = next_action(chat, history, offered, consent)
    denied = isinstance(action, RunTools) and action.denied
    if not (denied or (isinstance(action, AwaitClient | RunTools) and action.calls_to_approve)):
        return action
    granted = await retry_store(chat.id, "grants", partial(approving.grants.of, chat.root, chat.id))
    return next_action(chat, history, offered, replace(consent, granted=granted))


def _waiting(action: AwaitClient, deps: TurnDeps) -> EnterRequiresAction:
    return EnterRequiresAction(action.calls_to_approve, deps.approving.deadline_seconds)


async def with_history(held: HeldChat, deps: TurnDeps) -> HeldChat | None:
    """Return `held` with its history, or None if the chat has moved meanwhile, or is gone.

    If the chat has not moved and the history does not belong to it all the same, what is stored is
    broken: to read it again would not help, so this is a failed assertion.
    """
    if held.history is not None:
        return held
    chat = held.stored.chat
    if (known := deps.histories.find(chat)) is not None:
        return replace(held, history=known)
    history = await retry_store(chat.id, "history", partial(deps.reading.history, chat.id))
    if history and max(message.revision for message in history) <= chat.history_version:
        deps.histories.keep(chat, history)
        return replace(held, history=history)
    found = await retry_store(chat.id, "view", partial(deps.reading.view, chat.id))
    stands = isinstance(found, StoredChat) and found.chat.history_version == chat.history_version
    assert not stands, f"{chat_name(chat.id)}: its history is empty, or newer than the chat"
    return None


async def _call_model(
    held: HeldChat, tools: Toolset, deps: TurnDeps, at_stake: AtStake, *, begun: float
) -> Committed:
    chat, history = held.stored.chat, held.history or ()
    model = await deps.models.model_for(chat)
    if isinstance(model, ChatError):
        return await end_with_error(held, FinishError(model), deps)
    plan = await deps.compacting.plan_for(chat, model)
    match compaction_need(history, _fullness(history, plan)):
        case CompactionNeed.SUMMARISE:
            return await _summarise(held, tools, CompactionSource.AUTOMATIC, deps, at_stake)
        case CompactionNeed.STILL_FULL:
            deps.telemetry.compaction_ended(plan.model, "error")
            return await end_with_error(held, FinishError(STILL_FULL), deps)
        case CompactionNeed.PROCEED:
            pass
    prompt = await deps.prompts.prompt_for(chat, history, model, tools.offered.for_model)
    if isinstance(prompt, ChatError):
        return await end_with_error(held, FinishError(prompt), deps)
    reserve = partial(deps.budgets.reserve, chat.id, model, prompt, "answer")
    reserved = await retry_store(chat.id, "reserve", reserve)
    if isinstance(reserved, OverLimit):
        return await _over_limit(held, reserved, model, tools, deps)
    at_stake.add(WholeStep.ANSWER)
    deps.titles.begin(chat, history, model)
    attempt = Attempt(_key(chat))
    asked_model = deps.recorder.recorded(model, chat, "chat_turn", history)
    if held.message is not None:
        deps.telemetry.message_prepared(held.message, begun)
    with giving_back(deps.budgets, reserved, lambda: attempt.has_said):
        asked = await ask_shown(asked_model, prompt, attempt, tools.offered.servers, deps)
    with giving_back(deps.budgets, reserved):
        return await _answered(held, asked, attempt, (model, plan, reserved), tools, deps, at_stake)


async def _answered(
    held: HeldChat,
    asked: ModelOutcome,
    attempt: Attempt,
    call: tuple[Model, CompactionPlan, Reservation | None],
    tools: Toolset,
    deps: TurnDeps,
    at_stake: AtStake,
) -> Committed:
    """Commit what came of a call, for which money may have been reserved."""
    model, plan, reserved = call
    if isinstance(asked.said, ProviderFailure):
        if attempt.has_said:  # what it had said by then is paid for
            await book_answer(attempt, replace(UNPRICED, reservation=reserved), deps)
        else:
            deps.budgets.give_back(reserved, is_spent=False)
        is_wanted = plan.threshold_percent < THRESHOLD_OFF and may_summarise(held.history or ())
        if asked.said.too_long and is_wanted:
            return await _make_room(held, tools, deps, at_stake)
        return await end_failed_attempt(held, asked.said, deps)
    cost = steps.answer_cost(deps.prices, model, asked.said, reserved)
    if (failed := steps.unsaid(asked.said, model)) is not None:
        await book_answer(attempt, cost, deps)
        return await end_failed_attempt(held, failed, deps)
    rows = steps.answer_rows(asked.said, model, runtime_ms=asked.runtime_ms, cost=cost)
    chat, history = held.stored.chat, held.history or ()
    admitted = await hook_points.admit_calls(chat, history, rows, deps)
    if isinstance(admitted, ChatError):
        await book_answer(attempt, cost, deps)
        return await end_with_error(held, FinishError(admitted), deps)
    committed = await _commit_step(held, admitted, tools.offered, deps)
    if not rows or _is_lost(committed):
        await book_answer(attempt, cost, deps)
    elif isinstance(committed, WorkObsolete):  # if it was written, nothing is left to give back
        deps.budgets.give_back(reserved, is_spent=False)
    return committed


async def _over_limit(
    held: HeldChat, over: OverLimit, model: Model, tools: Toolset, deps: TurnDeps
) -> Committed:
    """End the turn, try again later, or ask a person, as the limit says."""
    chat, history = held.stored.chat, held.history or ()
    if over.reason is WhyRefused.SOFT and not was_asked(history):
        return await _commit_step(held, (question(over, chat),), tools.offered, deps)
    return await end_failed_attempt(held, over.failure(model.vendor), deps)


def _is_lost(committed: Committed) -> bool:
    """Tell whether an answer has not been written, so that its cost is noted nowhere. If that is in
    doubt, it counts as written."""
    return isinstance(committed, WorkObsolete) and not committed.is_in_doubt


async def _make_room(
    held: HeldChat, tools: Toolset, deps: TurnDeps, at_stake: AtStake
) -> Committed:
    """Sum up a conversation that the provider says is too long, in an attempt of its own."""
    counted = await count_attempt(without_attempt(held), deps)
    if not isinstance(counted, WorkAdvanced):
        return counted
    return await _summarise(counted.held, tools, CompactionSource.AUTOMATIC, deps, at_stake)


async def _summarise(
    held: HeldChat, tools: Toolset, source: CompactionSource, deps: TurnDeps, at_stake: AtStake
) -> Committed:
    """Commit a summary that the model sees in the place of what was said; then the turn goes on."""
    chat, history = held.stored.chat, held.history or ()
    model = await deps.models.model_for(chat)
    if isinstance(model, ChatError):
        return await end_with_error(held, FinishError(model), deps)
    plan = await deps.compacting.plan_for(chat, model)
    prompt = await deps.prompts.prompt_for(chat, history, plan.model, tools.offered.for_model)
    if isinstance(prompt, ChatError):
        return await end_with_error(held, FinishError(prompt), deps)
    at_stake.add(WholeStep.ANSWER)
    before = await hook_points.before_summary(chat, history, deps)
    if isinstance(before, ChatError):
        return await end_with_error(held, FinishError(before), deps)
    compaction = Compaction(_key(chat), source, _fullness(history, plan), before.model_context)
    writing = deps.recorder.recorded(plan.model, chat, "compaction", history)
    scribe = Scribe(compaction, writing, Attempt(compaction.key), deps)
    said = await shown_summary(compaction, scribe, prompt, deps)
    if not isinstance(said, Summary):
        await book_due(scribe.attempt, deps)
        return await _not_summarised(held, said, plan.model, deps, is_paid=scribe.is_paid)
    rows = compaction.rows(said, model.config_id)
    hooked = await hook_points.after_summary(chat, history, rows, before, deps)
    committed = await _commit_step(
        held, hooked.rows, tools.offered, deps, is_summary=True, error=hooked.error
    )
    if _is_lost(committed):
        await book_due(scribe.attempt, deps)
    elif not isinstance(committed, WorkObsolete):
        deps.telemetry.compaction_ended(plan.model, "success")
    return committed


async def _not_summarised(
    held: HeldChat,
    said: NoSummary | ProviderFailure,
    model: Model,
    deps: TurnDeps,
    *,
    is_paid: bool,
) -> Committed:
    is_late = False
    if isinstance(said, NoSummary):
        said = failure(FailureKind.GENERIC, model.vendor, retryable=True, message=said.why)
    else:
        is_late = said.kind in (FailureKind.TIMEOUT, FailureKind.STREAM_SILENCE_TIMEOUT)
    deps.telemetry.compaction_ended(model, "timeout" if is_late else "error")
    failures_max = retries.SUMMARY_FAILURES_MAX if is_paid else retries.FAILURES_MAX
    return await end_failed_attempt(held, said, deps, failures_max=failures_max)


def _fullness(history: Sequence[Message], plan: CompactionPlan) -> Fullness:
    return fullness(history, limit=plan.context_limit, threshold_percent=plan.threshold_percent)


async def _run_tools(
    held: HeldChat, action: RunTools, tools: Toolset, deps: TurnDeps, at_stake: AtStake
) -> Committed:
    chat, history = held.stored.chat, held.history or ()
    attempt = Attempt(_key(chat))
    preview = deps.previews.begin(attempt.key, attempt)
    try:
        rows = await run_batch(
            chat,
            history,
            action.calls,
            tools,
            attempt,
            deps,
            at_stake,
            show=preview.add,
            denied=action.denied,
        )
    finally:
        deps.previews.end(preview)
    told = await hook_points.tell_results(chat, history, action.calls, rows, deps)
    return await _commit_step(held, told.rows, tools.offered, deps, error=told.error)


async def _commit_step(
    held: HeldChat,
    rows: tuple[Body, ...],
    offered: OfferedTools,
    deps: TurnDeps,
    *,
    is_summary: bool = False,
    error: ChatError | None = None,
) -> Committed:
    """Write the step and what it leads to in one transaction: an error, if there is one."""
    if error is not None:
        step = CommitStep(rows, ends_turn=True, consumes_compaction=is_summary)
        return await hook_points.commit_and_stop(held, step, error, deps)
    if not rows:
        return await end_turn_unless_nudged(held, (), deps)
    following = await _leads_to(held.stored.chat, held.history or (), rows, offered, deps)
    match following:
        case EndTurn():
            return await end_turn_unless_nudged(held, rows, deps)
        case AwaitClient():
            request: Request = _waiting(following, deps)
        case CallModel() | RunTools() | Summarise():
            request = RecordGenerationAttempt()
        case _:
            assert_never(following)
    step = CommitStep(rows, consumes_compaction=is_summary)
    return await commit(held, [step, request], deps, of_attempt=True)


async def _leads_to(
    chat: Chat,
    history: Sequence[Message],
    rows: tuple[Body, ...],
    offered: OfferedTools,
    deps: TurnDeps,
) -> Action:
    """Return what comes next once `rows` are part of the history."""
    at = history[-1].created_at
    coming = [Message(history[-1].id, 0, at, False, body) for body in rows]
    return await _next(chat, [*history, *coming], offered, deps)


def _key(chat: Chat) -> EpisodeKey:
    return EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
