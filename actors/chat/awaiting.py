"""Task: a client has until the deadline to answer tool calls. The database's clock rules."""

import trio

from actors.machine.chat import Stored
from actors.machine.requests import CancelRequiresAction
from actors.machine.states import Status
from actors.turn.commits import Committed, commit
from actors.turn.work import Held, Left, Obsolete
from actors.turn.world import World


async def await_client(held: Held, world: World) -> Committed:
    """Wait until it is too late. Whoever answers in time makes this work obsolete."""
    stored = held.stored
    while (remaining := seconds_left(stored)) > 0:
        await trio.sleep(remaining)
        looked = await world.reading.view(stored.chat.id)
        if not isinstance(looked, Stored):
            return Left()
        if looked.chat.status is not Status.REQUIRES_ACTION:
            return Obsolete()
        stored = looked
    reason = "timed out" if stored.chat.requires_action_deadline_at else "there was no deadline"
    return await commit(Held(stored, held.history), [CancelRequiresAction(reason)], world)


def seconds_left(stored: Stored) -> float:
    deadline = stored.chat.requires_action_deadline_at
    return 0.0 if deadline is None else (deadline - stored.now).total_seconds()
