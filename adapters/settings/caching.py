"""Caches: a bounded map of what was used lately, and one that reads what is missing.

A `Cache` reads each entry once at a time: a task that asks for an entry while another one reads it
waits for that answer. A dropped entry is not believed any more, not even if a read of it is still
on its way. A read that fails does so for all who wait for it, and is not kept. If the reader is
cancelled, one of the waiting tasks reads in its place.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Generic, TypeVar

import trio

from runtime.clock import now
from runtime.statistics import CounterMetric, GaugeMetric

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """Entries that a cache keeps, and how it was used."""

    family: ClassVar = "cache"
    kept: Annotated[int, GaugeMetric("Entries that a cache keeps.", name="entries")]
    hit_count: Annotated[
        int, CounterMetric("Questions that a cache answered from what it keeps.", name="hits")
    ]
    read_count: Annotated[
        int, CounterMetric("Questions for which a cache read anew.", name="reads")
    ]
    dropped_count: Annotated[
        int, CounterMetric("Times that a cache dropped what is not to be believed any more.")
    ]


class RecentlyUsed(Generic[_Key, _Value]):
    """A bounded map. At its bound, the entry that was used longest ago is let go.

    `max_weight` bounds the weights of all entries together; the newest one stays however heavy it
    is. `let_go` is told each entry that gives way to a new one.
    """

    def __init__(
        self,
        max_entries: int,
        *,
        max_weight: int | None = None,
        weight_of: Callable[[_Value], int] = lambda _: 0,
        let_go: Callable[[_Key, _Value], None] = lambda *_: None,
    ) -> None:
        self._max_entries = max_entries
        self._max_weight = max_weight
        self._weight_of = weight_of
        self._let_go = let_go
        self._entries: OrderedDict[_Key, _Value] = OrderedDict()  # the one used last is last
        self.weight = 0

    def get(self, key: _Key) -> _Value | None:
        """Return an entry, which counts as used now."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def peek(self, key: _Key) -> _Value | None:
        """Return an entry without using it."""
        return self._entries.get(key)

    def put(self, key: _Key, value: _Value) -> None:
        """Set an entry, which counts as used now."""
        self.pop(key)
        self._entries[key] = value
        self.weight += self._weight_of(value)
        while len(self._entries) > 1 and (
            len(self._entries) > self._max_entries or self._is_too_heavy()
        ):
            oldest, gone = self._entries.popitem(last=False)
            self.weight -= self._weight_of(gone)
            self._let_go(oldest, gone)

    def pop(self, key: _Key) -> _Value | None:
        """Take an entry out."""
        value = self._entries.pop(key, None)
        if value is not None:
            self.weight -= self._weight_of(value)
        return value

    def clear(self) -> None:
        """Take all entries out."""
        self._entries.clear()
        self.weight = 0

    def items(self) -> list[tuple[_Key, _Value]]:
        """Return all entries, the one that was used longest ago first."""
        return list(self._entries.items())

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def _is_too_heavy(self) -> bool:
        return self._max_weight is not None and self.weight > self._max_weight


@dataclass(slots=True, eq=False)
class _Flight(Generic[_Value]):
    """A read that is on its way, and how it ended."""

    ended: trio.Event = field(default_factory=trio.Event)
    value: _Value | None = None
    error: Exception | None = None
    was_cancelled: bool = True  # until it is known how it ended


class Cache(Generic[_Key, _Value]):
    """A cache that reads what is missing. An answer of None is not kept, because the entry may
    exist the next moment."""

    def __init__(
        self,
        read: Callable[[_Key], Awaitable[_Value | None]],
        *,
        keep_seconds: float,
        max_entries: int,
    ) -> None:
        """Read with `read`, and believe an entry for `keep_seconds`. At `max_entries` the one
        that was used longest ago is let go."""
        self._read = read
        self._keep_seconds = keep_seconds
        # The moment until which each entry is believed, and the entry.
        self._entries: RecentlyUsed[_Key, tuple[float, _Value]] = RecentlyUsed(max_entries)
        self._flights: dict[_Key, _Flight[_Value]] = {}
        self._hit_count = self._read_count = 0
        self.dropped_count = 0  # code that reads by another way, and sees it grow, keeps nothing

    async def get(self, key: _Key) -> _Value:
        """Return an entry, reading it if it is not kept. The reader must never return None."""
        value = await self.find(key)
        assert value is not None, f"{key}: there is always something to read"
        return value

    async def find(self, key: _Key) -> _Value | None:
        """Return an entry, reading it if it is not kept; None if there is none."""
        while True:
            value = self.find_kept(key)
            if value is not None:
                return value
            flight = self._flights.get(key)
            if flight is None:
                return await self._fly(key)
            await flight.ended.wait()
            if flight.error is not None:
                raise flight.error
            if not flight.was_cancelled:
                return flight.value

    def find_kept(self, key: _Key) -> _Value | None:
        """Return an entry that is kept and still believed; None if it would have to be read."""
        kept = self._entries.peek(key)
        if kept is None or kept[0] <= now():
            return None
        self._hit_count += 1
        self._entries.get(key)
        return kept[1]

    def peek(self, key: _Key) -> _Value | None:
        """Return an entry that is kept, however old it is, without counting this as a use."""
        kept = self._entries.peek(key)
        return None if kept is None else kept[1]

    def put(self, key: _Key, value: _Value) -> None:
        """Keep an entry that was read, by whatever way."""
        self._entries.put(key, (now() + self._keep_seconds, value))

    def drop(self, key: _Key) -> None:
        """Forget an entry, and a read of it that is on its way."""
        self.dropped_count += 1
        self._entries.pop(key)
        self._flights.pop(key, None)

    def drop_matching(self, where: Callable[[_Value], bool]) -> None:
        """Forget the entries that match, and all reads on their way: these could match too."""
        self.dropped_count += 1
        for key in [key for key, (_, value) in self._entries.items() if where(value)]:
            self._entries.pop(key)
        self._flights.clear()

    def drop_all(self) -> None:
        """Forget all entries, and all reads on their way."""
        self.dropped_count += 1
        self._entries.clear()
        self._flights.clear()

    def statistics(self) -> CacheStatistics:
        return CacheStatistics(
            len(self._entries), self._hit_count, self._read_count, self.dropped_count
        )

    async def _fly(self, key: _Key) -> _Value | None:
        flight = self._flights[key] = _Flight[_Value]()
        self._read_count += 1
        try:
            flight.value = await self._read(key)
            flight.was_cancelled = False
        except Exception as error:
            flight.error = error
            raise
        finally:
            flight.ended.set()
            if self._flights.get(key) is flight:
                del self._flights[key]
                if flight.value is not None:
                    self.put(key, flight.value)
        return flight.value
