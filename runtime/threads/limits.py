"""How many threads each kind of work may have, in all and for one key."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import inf

import trio

from runtime.errors import RuntimeFault
from runtime.statistics import ThreadsStatistics


@dataclass(frozen=True, slots=True)
class ThreadLimits:
    """A kind of work that blocks, and its bounds."""

    name: str  # in errors, and among the statistics
    threads_max: int  # that work at once, with those that were left
    per_key_max: int | None = None  # of them for one key; None: as many as there are
    wait_seconds: float = inf  # for a free thread; then `ThreadsBlocked`
    answer_seconds: float = inf  # for the work itself; then `ThreadsBlocked`, and the work is left


class ThreadsBlocked(RuntimeFault):
    """The work did not end in time, or did not begin because other work did not end."""


def statistics() -> Mapping[str, ThreadsStatistics]:
    """Return the statistics of every kind that this run has used, by name."""
    return {pool.kind.name: pool.statistics() for pool in _pools().values()}


class _Key:
    """What is at work for one key."""

    def __init__(self, threads_max: int) -> None:
        self.free = trio.CapacityLimiter(threads_max)
        self.users = 0
        self.left: set[trio.Event] = set()  # ends of writes whose callers have gone


class Threads:
    """The threads of one kind, in one run."""

    def __init__(self, kind: ThreadLimits) -> None:
        self.kind = kind
        self.free = trio.CapacityLimiter(kind.threads_max)
        self.keys: dict[Hashable, _Key] = {}
        self.waiting = self.left = 0
        self.begun_count = self.blocked_count = 0

    async def acquire(self, key: Hashable, *, keeps: bool) -> "ThreadPlace":
        """Wait for a free thread, or raise `ThreadsBlocked`. `keeps`: if its caller leaves, other
        work for the same key waits for its end."""
        if (own := self.keys.get(key)) is None:
            own = self.keys[key] = _Key(self.kind.per_key_max or self.kind.threads_max)
        place = ThreadPlace(self, key, own, keeps=keeps)
        self.waiting += 1
        try:
            with trio.move_on_after(self.kind.wait_seconds):
                await place.acquire()
        finally:
            self.waiting -= 1
            if not place.is_held:
                place.forget()
        if not place.is_held:
            raise self.blocked(key, self.kind.wait_seconds)
        self.begun_count += 1
        return place

    def blocked(self, key: Hashable, seconds: float) -> ThreadsBlocked:
        self.blocked_count += 1
        whose = f" of {key}" if isinstance(key, str) else ""  # other keys may hold secrets
        return ThreadsBlocked(f"{self.kind.name}{whose}: no answer within {seconds:g} s")

    def statistics(self) -> ThreadsStatistics:
        return ThreadsStatistics(
            running=int(self.free.borrowed_tokens),
            waiting=self.waiting,
            left=self.left,
            keys=len(self.keys),
            begun_count=self.begun_count,
            blocked_count=self.blocked_count,
        )


class ThreadPlace:
    """The right to one thread. trio gives it back when the thread has really ended, as it does with
    its own limiters."""

    def __init__(self, pool: Threads, name: Hashable, key: _Key, *, keeps: bool) -> None:
        self._pool = pool
        self._name = name
        self._key = key
        self._keeps = keeps  # other work for the same key from beginning before this has ended
        self.is_held = self.is_left = False
        self.released = trio.Event()
        key.users += 1

    async def acquire(self) -> None:
        while not self.is_held:
            while self._key.left:
                await next(iter(self._key.left)).wait()
            await self._key.free.acquire_on_behalf_of(self)
            try:
                await self._pool.free.acquire_on_behalf_of(self)
                if self._key.left:  # a write was left while this place was waited for
                    self._pool.free.release_on_behalf_of(self)
                else:
                    self.is_held = True
            finally:
                if not self.is_held:
                    self._key.free.release_on_behalf_of(self)

    def leave(self) -> None:
        """The caller goes; the thread does not."""
        if self.is_held and not self.is_left:
            self.is_left = True
            self._pool.left += 1
            if self._keeps:
                self._key.left.add(self.released)

    def release(self) -> None:
        self.is_held = False
        self._pool.free.release_on_behalf_of(self)
        self._key.free.release_on_behalf_of(self)
        self._pool.left -= self.is_left
        self._key.left.discard(self.released)
        self.released.set()
        self.forget()

    def forget(self) -> None:
        self._key.users -= 1
        if not self._key.users:
            del self._pool.keys[self._name]

    # As trio calls a limiter. The place was acquired before, under its own limit of time.

    async def acquire_on_behalf_of(self, borrower: object) -> None:
        pass

    def release_on_behalf_of(self, borrower: object) -> None:
        self.release()


_of_run: trio.lowlevel.RunVar["dict[ThreadLimits, Threads]"] = trio.lowlevel.RunVar("threads")


def _pools() -> "dict[ThreadLimits, Threads]":
    try:
        return _of_run.get()
    except LookupError:
        pools: dict[ThreadLimits, Threads] = {}
        _of_run.set(pools)
        return pools


def pool_of(kind: ThreadLimits) -> Threads:
    """The threads of this kind, in this run."""
    pools = _pools()
    if (pool := pools.get(kind)) is None:
        pool = pools[kind] = Threads(kind)
    return pool
