"""What was read, kept for a while: each key is read by one at a time, the others wait for it.

What was begun before a change is never kept after it. A reading that fails fails for all who wait
for it, and is not kept; if the reader is cancelled, one of those who wait reads in its place.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import trio

from runtime.clock import now

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    kept: int
    read_count: int
    dropped_count: int  # because something had changed


@dataclass(frozen=True, slots=True)
class _Kept(Generic[_Value]):
    value: _Value
    until: float


@dataclass(slots=True, eq=False)
class _Reading:
    done: trio.Event
    is_outdated: bool = False
    error: Exception | None = None


class Cache(Generic[_Key, _Value]):
    """`most`: beyond it the key that was asked for least recently is forgotten."""

    def __init__(
        self, read: Callable[[_Key], Awaitable[_Value]], *, keep_seconds: float, most: int
    ) -> None:
        self._read = read
        self._keep_seconds = keep_seconds
        self._most = most
        self._kept: OrderedDict[_Key, _Kept[_Value]] = OrderedDict()
        self._readings: dict[_Key, _Reading] = {}
        self._read_count = self._dropped_count = 0

    async def get(self, key: _Key) -> _Value:
        while True:
            kept = self._kept.get(key)
            if kept is not None and now() < kept.until:
                self._kept.move_to_end(key)
                return kept.value
            reading = self._readings.get(key)
            if reading is None:
                return await self._fill(key)
            await reading.done.wait()
            if reading.error is not None:
                raise reading.error

    def glance(self, key: _Key) -> _Value | None:
        """What is kept, however old, without waiting; None: nothing."""
        kept = self._kept.get(key)
        return None if kept is None else kept.value

    def drop(self, key: _Key) -> None:
        """It has changed: who asks from now on gets what is read from now on."""
        self._dropped_count += 1
        self._kept.pop(key, None)
        if (reading := self._readings.pop(key, None)) is not None:
            reading.is_outdated = True

    def drop_all(self) -> None:
        for key in {*self._kept, *self._readings}:
            self.drop(key)

    def statistics(self) -> CacheStatistics:
        return CacheStatistics(len(self._kept), self._read_count, self._dropped_count)

    async def _fill(self, key: _Key) -> _Value:
        reading = self._readings[key] = _Reading(trio.Event())
        self._read_count += 1
        try:
            value = await self._read(key)
            if not reading.is_outdated:
                self._keep(key, value)
            return value
        except Exception as error:
            reading.error = error
            raise
        finally:
            if self._readings.get(key) is reading:
                del self._readings[key]
            reading.done.set()

    def _keep(self, key: _Key, value: _Value) -> None:
        self._kept[key] = _Kept(value, now() + self._keep_seconds)
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
