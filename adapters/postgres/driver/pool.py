"""A pool: a bounded number of connections, each lent to one task at a time.

Who waits is served in turn, and refused when the turns do not come nearer (turns.py).

Of the idle connections the one used last is lent first, so that the others may grow old and be
closed. A connection is opened when none is idle, and checked before it is lent (one poll, no trip).
One that comes back closed is forgotten.

The slots are what counts: a task with a slot may hold one connection, and a slot is given back by
the same `async with` that took it, wherever in it the task is cancelled.
"""

from collections import Counter, deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated

import trio

from adapters.postgres.driver import timeouts as limits
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseFull, DatabaseGone, PoolExhausted
from adapters.postgres.driver.timeouts import Timeouts
from adapters.postgres.driver.traffic import Traffic
from adapters.postgres.driver.turns import Patience, Turns
from runtime.statistics import (
    CounterMetric,
    DurationCounts,
    Durations,
    GaugeMetric,
    HistogramMetric,
)

# Connections of one pool, unless said otherwise. PostgreSQL likes few: two or three for each of
# its cores are as fast as any number.
SIZE = 8
# Then a connection is replaced, when it is idle: servers leak a little, and addresses change.
LIFETIME_SECONDS = 3600.0
PATIENCE = Patience()  # of those that wait for a connection; then PoolExhausted


@dataclass(frozen=True, slots=True)
class PoolStatistics:
    size: Annotated[
        int,
        GaugeMetric(
            "Connections to the database that may be lent at once.", name="max_connections"
        ),
    ]
    lent: Annotated[
        int, GaugeMetric("Connections to the database that are lent.", name="lent_connections")
    ]
    idle: Annotated[
        int,
        GaugeMetric(
            "Connections to the database that are open and not lent.", name="idle_connections"
        ),
    ]
    waiting: Annotated[int, GaugeMetric("Tasks that wait for a connection to the database.")]
    opened: Annotated[int, CounterMetric("Connections to the database that were opened.")]
    closed: Annotated[
        Mapping[str, int],
        CounterMetric("Connections to the database that were closed, by why.", label="reason"),
    ]
    trips: Annotated[int, CounterMetric("Trips to the database: waits for one answer of it.")]
    statements: Annotated[int, CounterMetric("Statements that were sent to the database.")]
    sent_bytes: Annotated[
        int, CounterMetric("Bytes of the parameters of statements that were sent to the database.")
    ]
    waits: Annotated[
        DurationCounts,
        HistogramMetric(
            "Time that tasks waited for a connection to the database, if none was free.",
            name="wait_seconds",
        ),
    ]


@dataclass(eq=False, slots=True)
class _Kept:
    connection: DatabaseConnection
    until: float


class Pool:
    def __init__(
        self,
        conninfo: str,
        *,
        size: int = SIZE,
        patience: Patience = PATIENCE,
        lifetime_seconds: float = LIFETIME_SECONDS,
        timeouts: Timeouts = limits.DEFAULT,
    ) -> None:
        assert size > 0, "a pool has room for at least one connection"
        self._conninfo = conninfo
        self._size = size
        self._lifetime_seconds = lifetime_seconds
        self._timeouts = timeouts
        self._turns = Turns(size, patience)
        self._idle: deque[_Kept] = deque()  # the one used last is last
        self._lent: set[_Kept] = set()
        self._draining = False
        self.full: DatabaseFull | None = None  # the last that was met, until there is room again
        self._opened = 0
        self._closed: Counter[str] = Counter()
        self._of_closed = Traffic()
        self._waits = Durations()

    @asynccontextmanager
    async def connection(self, *, ahead: bool = False) -> AsyncIterator[DatabaseConnection]:
        """Lend a connection for the length of the block; one `ahead` ends work (turns.py)."""
        await self._take_slot(ahead)
        try:
            kept = self._take_idle() or await self._open()
            self._lent.add(kept)
            try:
                yield kept.connection
            except DatabaseFull as fault:
                self.full = fault
                raise
            finally:
                self._lent.discard(kept)
                self._take_back(kept)
        finally:
            self._turns.give_back()

    async def drain(self, seconds: float) -> None:
        """Lend no more, wait within a bound for what is lent, then close everything."""
        self._draining = True
        self._close_idle()
        held = 0
        try:
            with trio.move_on_after(seconds):
                while held < self._size:  # a task that holds all slots knows that no other does
                    held += await self._turns.take()
        finally:
            for _ in range(held):
                self._turns.give_back()  # to those who wait, to be told that it is closed
        for kept in self._lent:
            kept.connection.close()  # its task is told DatabaseGone at its next word

    def statistics(self) -> PoolStatistics:
        traffic = self._of_closed
        for kept in (*self._idle, *self._lent):
            traffic += kept.connection.traffic
        return PoolStatistics(
            size=self._size,
            lent=len(self._lent),
            idle=len(self._idle),
            waiting=self._turns.waiting,
            opened=self._opened,
            closed=dict(self._closed),
            trips=traffic.trips,
            statements=traffic.statements,
            sent_bytes=traffic.bytes_count,
            waits=self._waits.statistics(),
        )

    async def _take_slot(self, ahead: bool) -> None:
        if self._draining:
            raise DatabaseGone("postgres pool: closed")
        if not self._turns.take_nowait():
            await self._wait_for_slot(ahead)

    async def _wait_for_slot(self, ahead: bool) -> None:
        since = trio.current_time()
        try:
            has_come = await self._turns.take(ahead=ahead)
        finally:
            waited = trio.current_time() - since
            self._waits.observe(waited)
        if not has_come:
            now = self.statistics()
            raise PoolExhausted(
                f"postgres pool: no connection free in {waited:.0f} s"
                f" ({now.lent} of {now.size} lent, {now.waiting} more waiting);"
                " make the pool larger, or hold connections for a shorter time"
            )

    def _take_idle(self) -> _Kept | None:
        while self._idle:
            kept = self._idle.pop()
            if kept.until <= trio.current_time():
                self._close(kept, "old")
            elif not kept.connection.is_alive():
                self._close(kept, "dead")
            else:
                return kept
        return None

    async def _open(self) -> _Kept:
        if self._draining:
            raise DatabaseGone("postgres pool: closed")
        connection = await DatabaseConnection.open(self._conninfo, timeouts=self._timeouts)
        self._opened += 1
        return _Kept(connection, until=trio.current_time() + self._lifetime_seconds)

    def _take_back(self, kept: _Kept) -> None:
        if kept.connection.closed:
            self._close(kept, "broken")
        elif self._draining:
            self._close(kept, "drained")
        else:
            self._idle.append(kept)

    def _close_idle(self) -> None:
        while self._idle:
            self._close(self._idle.pop(), "drained")

    def _close(self, kept: _Kept, reason: str) -> None:
        kept.connection.close()
        self._closed[reason] += 1
        self._of_closed += kept.connection.traffic
