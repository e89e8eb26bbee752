"""The output of an async generator that runs in a plugin's loop, taken in batches by the daemon's.

The generator waits until what it has yielded is taken, and is closed when the rest is not wanted.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from typing import Generic, TypeVar

import trio

from adapters.plugins.calls import PluginCall
from adapters.plugins.loop import PluginLoop

WAITING_MAX = 512  # that were said and not taken; then the generator waits
IN_A_ROW_MAX = 64  # of a generator that never waits; then other calls of its plugin run

Item = TypeVar("Item")


@asynccontextmanager
async def open_stream(
    loop: PluginLoop,
    make: Callable[[], AsyncGenerator[Item, None]],
    is_last: Callable[[Item], bool],
) -> AsyncIterator[AsyncIterator[Sequence[Item]]]:
    """Run a generator in the plugin's loop as long as the block is.

    `is_last` is asked there about each item, and may raise. What it or the generator raises, and
    the fault of a plugin that did not end, comes out of the iteration.
    """
    stream = _Stream(make, is_last)
    async with loop.running(stream.pump, when_ended=stream.note_more) as call:
        yield _Batches(stream, call)


class _Stream(Generic[Item]):
    """A queue: items are appended in the plugin's thread, and taken in the daemon's."""

    def __init__(
        self, make: Callable[[], AsyncGenerator[Item, None]], is_last: Callable[[Item], bool]
    ) -> None:
        self._make = make
        self._is_last = is_last
        self._home = trio.lowlevel.current_trio_token()
        self._there: trio.lowlevel.TrioToken | None = None
        self._waiting: deque[Item] = deque()
        self._more = trio.Event()  # of the daemon's loop
        self._room = trio.Event()  # of the plugin's loop
        self._waits_for_room = False  # set before it is looked for the last time
        self._is_told = (
            False  # that there is more; set before it is told, cleared before it is read
        )

    # in the plugin's loop

    async def pump(self) -> None:
        """Run the generator to its end, as far as there is room for what it yields."""
        self._there = trio.lowlevel.current_trio_token()
        async with aclosing(self._make()) as generator:
            count = 0
            async for item in generator:
                is_last = self._is_last(item)
                self._waiting.append(item)
                if not self._is_told:
                    self._is_told = True
                    self._home.run_sync_soon(self.note_more)
                if is_last:
                    return
                if len(self._waiting) >= WAITING_MAX:
                    await self._wait_for_room()
                if (count := count + 1) % IN_A_ROW_MAX == 0:
                    await trio.lowlevel.checkpoint()

    async def _wait_for_room(self) -> None:
        """Wait until there is room. The threads may change at any point: what is taken before it is
        said that this waits is seen by the second look, and what is taken later tells us."""
        while True:
            self._room = trio.Event()
            self._waits_for_room = True
            if len(self._waiting) < WAITING_MAX:
                return
            await self._room.wait()

    def _note_room(self) -> None:
        self._room.set()

    # in the daemon's loop

    def note_more(self) -> None:
        self._is_told = False
        self._more.set()

    async def wait_for_more(self) -> None:
        await self._more.wait()
        self._more = trio.Event()

    def take(self) -> Sequence[Item]:
        """Take what has been yielded since the last time."""
        taken = [self._waiting.popleft() for _ in range(len(self._waiting))]
        if self._waits_for_room and self._there is not None:
            self._waits_for_room = False
            with suppress(trio.RunFinishedError):  # the plugin's loop has ended
                self._there.run_sync_soon(self._note_room)
        return taken


class _Batches(Generic[Item]):
    """Iterates over what was said; used by one task."""

    def __init__(self, stream: _Stream[Item], call: PluginCall) -> None:
        self._stream = stream
        self._call = call
        self._is_over = False

    def __aiter__(self) -> "_Batches[Item]":
        return self

    async def __anext__(self) -> Sequence[Item]:
        while not self._is_over:
            await self._stream.wait_for_more()
            self._is_over = self._call.ended.is_set()  # read first: then all that was said is there
            if batch := self._stream.take():
                return batch
        self._call.result()
        raise StopAsyncIteration
