"""What was read lately, for those who ask again: with an age, a bound, and one read at a time.

Whoever asks while somebody reads the same waits for that answer. What is dropped is not believed
any more, not even if a read of it is still on its way. A read that fails fails for all who wait for
it, and is not kept; if the reader is cancelled, one of those who wait reads in its place.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Generic, TypeVar

import trio

from runtime.clock import now
from runtime.statistics import CounterMetric, GaugeMetric

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class CacheStatistics:
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


@dataclass(slots=True, eq=False)
class _Flight(Generic[_Value]):
    """A read that is on its way, and how it ended."""

    ended: trio.Event = field(default_factory=trio.Event)
    value: _Value | None = None
    error: Exception | None = None
    was_cancelled: bool = True  # until it is known how it ended


class Cache(Generic[_Key, _Value]):
    """What is not there (None) is not kept: it may be there the next moment."""

    def __init__(
        self,
        read: Callable[[_Key], Awaitable[_Value | None]],
        *,
        keep_seconds: float,
        max_entries: int,
    ) -> None:
        """At `max_entries` the one that was not asked for longest is let go."""
        self._read = read
        self._keep_seconds = keep_seconds
        self._max_entries = max_entries
        self._entries: OrderedDict[_Key, tuple[float, _Value]] = OrderedDict()  # until when
        self._flights: dict[_Key, _Flight[_Value]] = {}
        self._hit_count = self._read_count = 0
        self.dropped_count = 0  # whoever reads by another way, and sees it grow, keeps nothing

    async def get(self, key: _Key) -> _Value:
        """Of a reader that always has an answer."""
        value = await self.find(key)
        assert value is not None, f"{key}: there is always something to read"
        return value

    async def find(self, key: _Key) -> _Value | None:
        while True:
            value = self.at_hand(key)
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

    def at_hand(self, key: _Key) -> _Value | None:
        """What need not be read."""
        until, value = self._entries.get(key, (0.0, None))
        if value is None or until <= now():
            return None
        self._hit_count += 1
        self._entries.move_to_end(key)
        return value

    def glance(self, key: _Key) -> _Value | None:
        """What is kept, however old."""
        return self._entries.get(key, (0.0, None))[1]

    def put(self, key: _Key, value: _Value) -> None:
        """It has been read, by whatever way."""
        self._entries[key] = (now() + self._keep_seconds, value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._max_entries:
            self._entries.popitem(last=False)

    def drop(self, key: _Key) -> None:
        self.dropped_count += 1
        self._entries.pop(key, None)
        self._flights.pop(key, None)

    def drop_those(self, where: Callable[[_Value], bool]) -> None:
        """And whatever is being read, of which nobody knows yet."""
        self.dropped_count += 1
        for key in [key for key, (_, value) in self._entries.items() if where(value)]:
            del self._entries[key]
        self._flights.clear()

    def drop_all(self) -> None:
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
