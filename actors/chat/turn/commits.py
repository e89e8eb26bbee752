"""How a chat's tasks write: every write fenced, its answer turned into what holds now.

A task knows what is stored (`Held`), so it commits the short way; what comes back is the `Held` of
the next step, and nothing has to be read again. A store that is away for a moment costs a moment:
what a model has said meanwhile, or a tool has done, is kept and written then.
"""

from collections.abc import Sequence

from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.work import Advanced, Held, LetGo, Obsolete
from actors.law.refusals import ChatNotFound, Refusal
from actors.law.requests import Abandon, FinishError, FinishTurn, RecordGenerationAttempt, Request
from actors.law.states import Status
from actors.law.store.ports import Applied, Fence, StaleFence
from actors.law.store.retry import retry_store

Committed = Advanced | Obsolete | LetGo


async def commit(
    held: Held, requests: Sequence[Request], deps: TurnDeps, *, of_attempt: bool = False
) -> Committed:
    """Write `requests` as one bundle. `of_attempt`: only while the attempt behind it stands."""
    fence = _fence(held, of_attempt=of_attempt)
    tries = 0

    async def write() -> Applied | Refusal | StaleFence:
        nonlocal tries
        tries += 1
        return await deps.ledger.commit(held.stored, requests, fence=fence)

    answer = await retry_store(held.stored.chat.id, "commit", write)
    if isinstance(answer, StaleFence):
        has_moved = answer.found.history_version != fence.history_version
        return Obsolete(is_in_doubt=tries > 1 and has_moved)
    if isinstance(answer, ChatNotFound):
        return LetGo()
    assert isinstance(answer, Applied), (
        f"the law refused what it was asked in its own terms: {answer}"
    )
    if answer.chat.holder is None:
        return LetGo()
    return Advanced(_after(held, answer, requests))


async def end_turn(held: Held, requests: Sequence[Request], deps: TurnDeps) -> Committed:
    """Finish the turn in the same write; if nothing waits, the chat is given back with it."""
    finish = FinishTurn(gives_back=True)
    return await commit(held, [*requests, finish], deps, of_attempt=True)


async def end_with_error(held: Held, error: FinishError, deps: TurnDeps) -> Committed:
    return await commit(held, [error, Abandon()], deps)


async def begin_attempt(held: Held, deps: TurnDeps) -> Committed:
    """Count the attempt to come, unless the write that led here has done so."""
    if held.attempt_begun:
        return Advanced(held)
    return await commit(held, [RecordGenerationAttempt()], deps)


def _fence(held: Held, *, of_attempt: bool) -> Fence:
    chat = held.stored.chat
    assert chat.holder is not None, "only a chat that is held is worked on"
    attempt = chat.generation_attempt if of_attempt else None
    return Fence(
        chat.holder, chat.status, chat.history_version, attempt=attempt, archived=chat.archived
    )


def _after(held: Held, applied: Applied, requests: Sequence[Request]) -> Held:
    change = applied.change
    begun = (
        isinstance(requests[-1], RecordGenerationAttempt) and change.chat.status is Status.RUNNING
    )
    history = held.history
    if change.deleted or history is None:
        return Held(applied.stored, None, attempt_begun=begun)
    said = applied.messages
    return Held(applied.stored, history + said if said else history, attempt_begun=begun)
