"""Tasks that only wait: for a client or a person to answer, for the time of the next attempt."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from math import inf

import trio

from actors.chat.turn.commits import Committed, begin_attempt, commit
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.work import HeldChat, LetGo, WorkObsolete
from actors.law.chat import RetryState, StoredChat
from actors.law.closing import unanswered_dynamic_calls
from actors.law.requests import CancelRequiresAction, ExpireApprovals, Request
from actors.law.store.ports import fence_holds, fence_of
from actors.law.store.retry import retry_store


async def await_client(held: HeldChat, deps: TurnDeps) -> Committed:
    """Wait until it is too late for a client's results or a person's decision, by the database's
    clock. An answer in time makes this work obsolete."""
    stored = held.stored
    chat, fence = stored.chat.id, fence_of(stored.chat)
    assert fence is not None, "only a chat that is held is waited for"
    while (remaining := seconds_left(stored)) > 0:
        await trio.sleep(remaining)
        looked = await retry_store(chat, "view", partial(deps.reading.view, chat))
        if not isinstance(looked, StoredChat):
            return LetGo()
        if not fence_holds(fence, looked.chat):  # a chat that has moved is not to be ended here
            return WorkObsolete()
        stored = looked
    return await commit(HeldChat(stored, held.history), _too_late(stored), deps)


def _too_late(stored: StoredChat) -> Sequence[Request]:
    """Return the requests that end the wait.

    Neither is refused, whatever people allow meanwhile. The client's calls keep the chat waiting
    until they are cancelled, so their cancellation comes last.
    """
    requests: list[Request] = []
    if person_seconds_left(stored) <= 0:
        requests.append(ExpireApprovals())
    if client_seconds_left(stored) <= 0:
        is_known = stored.chat.requires_action_deadline_at is not None
        requests.append(CancelRequiresAction("timed out" if is_known else "there was no deadline"))
    return requests


def seconds_left(stored: StoredChat) -> float:
    """Return the seconds until the first deadline. Infinite: a person may take as long as they
    like."""
    return min(client_seconds_left(stored), person_seconds_left(stored))


def client_seconds_left(stored: StoredChat) -> float:
    """Return the seconds that the client has left to answer its calls."""
    if stored.chat.open_approvals and not unanswered_dynamic_calls(stored):
        return inf
    deadline = stored.chat.requires_action_deadline_at
    return 0.0 if deadline is None else (deadline - stored.now).total_seconds()


def person_seconds_left(stored: StoredChat) -> float:
    """Return the seconds that are left to decide on the first call that waits for consent."""
    times = [ask.until for ask in stored.chat.open_approvals if ask.until is not None]
    return (min(times) - stored.now).total_seconds() if times else inf


async def await_attempt(held: HeldChat, deps: TurnDeps) -> Committed:
    """Wait until the moment that the retry state tells watchers, then count the next attempt.

    Less than the whole pause is left if its commit took long, or if the chat was taken over in the
    pause.
    """
    retry = held.stored.chat.retry_state
    assert retry is not None, "there is a pause only after an attempt that failed"
    await trio.sleep(seconds_left_of(retry, deps.wall()))
    return await begin_attempt(held, deps)


def seconds_left_of(retry: RetryState, now: datetime) -> float:
    """Return what is left of a pause: never more than all of it, whatever the clocks of two
    processes say."""
    left = (retry.retrying_at - now).total_seconds()
    return min(max(left, 0.0), retry.delay_ms / 1000)
