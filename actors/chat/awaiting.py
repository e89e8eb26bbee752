"""Tasks that only wait: for a client's answer, for the time of the next attempt."""

from datetime import datetime
from functools import partial

import trio

from actors.machine.chat import RetryState, Stored
from actors.machine.fences import fence_of, stands
from actors.machine.requests import CancelRequiresAction
from actors.turn.commits import Committed, begin_attempt, commit
from actors.turn.patience import patiently
from actors.turn.work import Held, Left, Obsolete
from actors.turn.world import World
from runtime.clock import wall


async def await_client(held: Held, world: World) -> Committed:
    """Wait until it is too late, by the database's clock. Whoever answers in time makes this work
    obsolete."""
    stored = held.stored
    chat, fence = stored.chat.id, fence_of(stored.chat)
    assert fence is not None, "only a chat that is held is waited for"
    while (remaining := seconds_left(stored)) > 0:
        await trio.sleep(remaining)
        looked = await patiently(chat, "view", partial(world.reading.view, chat))
        if not isinstance(looked, Stored):
            return Left()
        if not stands(fence, looked.chat):  # what has moved is not ours to end
            return Obsolete()
        stored = looked
    reason = "timed out" if stored.chat.requires_action_deadline_at else "there was no deadline"
    return await commit(Held(stored, held.history), [CancelRequiresAction(reason)], world)


def seconds_left(stored: Stored) -> float:
    deadline = stored.chat.requires_action_deadline_at
    return 0.0 if deadline is None else (deadline - stored.now).total_seconds()


async def await_attempt(held: Held, world: World) -> Committed:
    """The pause that the retry state speaks of; then the next attempt is counted.

    Who has not read the history has not made the attempt that failed: he took the chat over in its
    pause, and waits for what is left of it.
    """
    retry = held.stored.chat.retry_state
    assert retry is not None, "there is a pause only after an attempt that failed"
    taken_over = held.history is None
    await trio.sleep(seconds_left_of(retry, wall()) if taken_over else retry.delay_ms / 1000)
    return await begin_attempt(held, world)


def seconds_left_of(retry: RetryState, now: datetime) -> float:
    """Never more than all of it, whatever the clocks of two processes say."""
    left = (retry.retrying_at - now).total_seconds()
    return min(max(left, 0.0), retry.delay_ms / 1000)
