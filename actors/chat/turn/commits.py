"""The writes of a chat's tasks: each is fenced, and its answer becomes what holds now.

A task knows what is stored (`HeldChat`), so it commits the short way. What comes back is the
`HeldChat` of the next step, and nothing has to be read again. If the store is away for a moment,
what a model has said or a tool has done is kept until it can be written.
"""

from collections.abc import Sequence

from actors.chat.turn import retries
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.work import HeldChat, LetGo, WorkAdvanced, WorkObsolete
from actors.law.chat import ChatError
from actors.law.ids import chat_name
from actors.law.parts.deltas import ProviderFailure
from actors.law.refusals import ChatNotFound, Refusal
from actors.law.requests import (
    Abandon,
    FinishError,
    FinishTurn,
    RecordGenerationAttempt,
    RecordRetryState,
    Request,
)
from actors.law.states import Status
from actors.law.store.ports import Applied, Fence, StaleFence
from actors.law.store.retry import retry_store
from runtime.log import emit

Committed = WorkAdvanced | WorkObsolete | LetGo


async def commit(
    held: HeldChat, requests: Sequence[Request], deps: TurnDeps, *, of_attempt: bool = False
) -> Committed:
    """Write `requests` as one bundle, and return what holds then. With `of_attempt` they are
    written only while the attempt behind them is the chat's latest."""
    fence = _fence(held, of_attempt=of_attempt)
    tries = 0

    async def write() -> Applied | Refusal | StaleFence:
        nonlocal tries
        tries += 1
        return await deps.ledger.commit(held.stored, requests, fence=fence)

    answer = await retry_store(held.stored.chat.id, "commit", write)
    if isinstance(answer, StaleFence):
        has_moved = answer.found.history_version != fence.history_version
        return WorkObsolete(is_in_doubt=tries > 1 and has_moved)
    if isinstance(answer, ChatNotFound):
        return LetGo()
    assert isinstance(answer, Applied), (
        f"the law refused what it was asked in its own terms: {answer}"
    )
    if answer.chat.holder is None:
        return LetGo()
    return WorkAdvanced(_after(held, answer, requests))


async def end_turn(held: HeldChat, requests: Sequence[Request], deps: TurnDeps) -> Committed:
    """Finish the turn in the same write; if nothing waits, the chat is given back with it."""
    finish = FinishTurn(gives_back=True)
    return await commit(held, [*requests, finish], deps, of_attempt=True)


async def end_with_error(held: HeldChat, error: FinishError, deps: TurnDeps) -> Committed:
    return await commit(held, [error, Abandon()], deps)


async def begin_attempt(held: HeldChat, deps: TurnDeps) -> Committed:
    """Count the attempt to come, unless the write that led here has done so."""
    if held.attempt_begun:
        return WorkAdvanced(held)
    return await commit(held, [RecordGenerationAttempt()], deps)


async def count_attempt(held: HeldChat, deps: TurnDeps) -> Committed:
    """Count the next attempt, or stop a chat that may be what its processes die of."""
    chat = held.stored.chat
    if chat.process_deaths_count < retries.DEATHS_MAX:
        return await begin_attempt(held, deps)
    ended = await end_with_error(held, FinishError(retries.TOO_MANY_DEATHS), deps)
    if isinstance(ended, LetGo):
        deaths = chat.process_deaths_count
        emit("chat.deadly", "error", chat=chat_name(chat.id), deaths=deaths)
    return ended


async def end_failed_attempt(
    held: HeldChat,
    failure: ProviderFailure,
    deps: TurnDeps,
    *,
    failures_max: int = retries.FAILURES_MAX,
) -> Committed:
    """Store why the attempt failed, and either the pause before the next one or that there is
    none."""
    following = retries.retry_after(
        failure,
        failures_count=held.stored.chat.provider_failures_count + 1,
        now=deps.wall(),
        chance=deps.chance(),
        failures_max=failures_max,
    )
    if isinstance(following, ChatError):
        return await end_with_error(held, FinishError(following), deps)
    return await commit(held, [RecordRetryState(following.state)], deps, of_attempt=True)


def _fence(held: HeldChat, *, of_attempt: bool) -> Fence:
    chat = held.stored.chat
    assert chat.holder is not None, "only a chat that is held is worked on"
    attempt = chat.generation_attempt if of_attempt else None
    return Fence(
        chat.holder, chat.status, chat.history_version, attempt=attempt, archived=chat.archived
    )


def _after(held: HeldChat, applied: Applied, requests: Sequence[Request]) -> HeldChat:
    change = applied.change
    begun = (
        isinstance(requests[-1], RecordGenerationAttempt) and change.chat.status is Status.RUNNING
    )
    history = held.history
    if change.deleted or history is None:
        return HeldChat(applied.stored, None, attempt_begun=begun)
    said = applied.messages
    return HeldChat(applied.stored, history + said if said else history, attempt_begun=begun)
