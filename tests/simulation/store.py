"""The store in memory, with somebody who looks at every write, and hints that get lost."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tests.fakes.scripted import MemoryJournal
from tests.fakes.store import MemoryStore

CALL = ContextVar("call")  # who writes, and what was asked


@dataclass(frozen=True)
class Call:
    process: Any
    name: str
    args: tuple
    kwargs: dict


class WatchedStore(MemoryStore):
    def __init__(self, world, **more):
        super().__init__(tell=self._tell_all, **more)
        self.world = world
        self._left = set()
        self.called_back = set()  # names that were given up, while a beat was still on its way

    async def beat(self, worker):
        if worker in self._left:
            self.called_back.add(worker)
        return await super().beat(worker)

    async def leave(self, worker):
        self._left.add(worker)
        await super().leave(worker)

    def _write(self, change):
        kept = self.chats[change.chat.id]
        was, queue_was = kept.chat, kept.queue
        ids = super()._write(change)
        for body in change.added:
            if body.cost is not None and body.cost.reservation is not None:
                self.world.till.settle(body.cost.reservation)
        self.world.checks.written(kept, was, queue_was, change, CALL.get())
        return ids

    def _taken(self, id, worker, count_deaths):
        self.world.checks.taking(self.chats[id].chat, worker)
        return super()._taken(id, worker, count_deaths)

    def _tell_all(self, hint):
        """Every process hears of it on its own line: soon, late, twice or never."""
        origin = CALL.get().process
        for process in self.world.living():
            for delay in self._fates(is_own=process is origin):
                process.deliver(hint, delay)

    def _fates(self, *, is_own):
        world = self.world
        if world.faults(2.0 if not is_own else 0.5):
            return world.rng.choice([(), (), (0.0, 0.0), (world.rng.random() * 8,), (0.0, 5.0)])
        return (0.0,) if is_own else (world.rng.random() * 0.05,)


async def checked_in(call, do):
    """`do()` as `call`, whoever runs it."""
    token = CALL.set(call)
    try:
        return await do()
    finally:
        CALL.reset(token)


class WatchedJournal(MemoryJournal):
    """Knows when a call's end was written down."""

    def __init__(self, world):
        super().__init__()
        self.world = world

    async def end(self, chat, tool_call_id, output):
        await super().end(chat, tool_call_id, output)
        self.world.checks.journalled((chat.id, chat.history_version, tool_call_id))
