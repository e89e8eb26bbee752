"""The turns of tasks that wait for a connection: who is next, and for how long one waits.

Tasks are served first come, first served, in two queues: those that end work (`ahead`) come before
those that begin some. There are few of them, and behind a crowd of beginnings a person's stop, or
what a turn has done, would wait as long as all of it. But of four in a row one is a beginning, so
that none of the queues stands still.

How long a task waits depends on whether the others get on. As long as connections come back, the
database answers and the task's turn comes nearer: it waits as long as a client may. If none has
come back for a while, the database does not answer, and all who have waited that long are told so.
"""

from collections import OrderedDict
from dataclasses import dataclass

import trio

AHEAD_IN_A_ROW_MAX = 3  # then one that begins something has its turn


@dataclass(frozen=True, slots=True)
class Patience:
    """The seconds that a task waits for its turn."""

    stalled: float = 10.0  # since the last connection came back; then the database does not answer
    busy: float = 60.0  # in all; clients and proxies seldom wait for longer than this

    def ends_at(self, since: float, moved_at: float) -> float:
        """Return until when a task waits that came at `since`, if the last connection came back at
        `moved_at`."""
        return min(max(since, moved_at) + self.stalled, since + self.busy)


def is_next_ahead(ahead: int, others: int, in_a_row: int) -> bool:
    """Return whether the next turn is for one ahead. So many wait in the two queues, and so many of
    those ahead were served in a row."""
    return ahead > 0 and (others == 0 or in_a_row < AHEAD_IN_A_ROW_MAX)


_Queue = OrderedDict[trio.Event, None]


class Turns:
    """A number of slots, and those who wait for one."""

    def __init__(self, count: int, patience: Patience) -> None:
        self._free = count
        self._patience = patience
        self._ahead: _Queue = OrderedDict()
        self._others: _Queue = OrderedDict()
        self._in_a_row = 0  # turns of those ahead
        self._moved_at = 0.0

    def take_nowait(self) -> bool:
        """Take a slot if one is free, and return whether it was."""
        if self._free == 0:
            return False
        self._free -= 1
        return True

    async def take(self, *, ahead: bool = False) -> bool:
        """Take a slot, wait for it if none is free. Return False if there was none in time."""
        if self.take_nowait():
            return True
        queue, turn, has_come = self._ahead if ahead else self._others, trio.Event(), False
        queue[turn] = None
        try:
            await self._wait_for(turn)
            has_come = turn.is_set()
        finally:
            if not has_come:
                self._leave(queue, turn)
        return has_come

    async def _wait_for(self, turn: trio.Event) -> None:
        """Wait for a turn as long as the others get on."""
        since = trio.current_time()
        while (until := self._patience.ends_at(since, self._moved_at)) > trio.current_time():
            with trio.move_on_at(until):
                await turn.wait()
                return

    def _leave(self, queue: _Queue, turn: trio.Event) -> None:
        if turn.is_set():
            self.give_back()  # it came at the moment at which we were cancelled
        else:
            del queue[turn]

    def give_back(self) -> None:
        """Give a slot back, to who is next."""
        self._moved_at = trio.current_time()
        is_ahead = is_next_ahead(len(self._ahead), len(self._others), self._in_a_row)
        queue = self._ahead if is_ahead else self._others
        self._in_a_row = self._in_a_row + 1 if is_ahead else 0
        if queue:
            queue.popitem(last=False)[0].set()
        else:
            self._free += 1

    @property
    def waiting(self) -> int:
        """The tasks that wait."""
        return len(self._ahead) + len(self._others)
