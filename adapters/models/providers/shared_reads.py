"""Reading many streams in one task: those that have begun to speak, whose pieces are all alike.

A stream of its own task is a registration with the kernel, a wake-up and a dozen resumed functions
for each piece. Here a stream is registered once, one wake-up serves all streams that have
something, and what they bring goes to a function that returns at once. The task that asked waits
meanwhile; it owns the stream, and is woken by its end, by whatever breaks, and by its own
cancellation.

All of this comes after everything else that the process does: a slice of streams is read, then all
other tasks run that can, and while the loop is behind there are pauses (`read_pace`), in which
streams gather what comes.
"""

import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, NoReturn, Protocol

import trio
from trio.lowlevel import (
    Abort,
    RaiseCancelT,
    Task,
    current_task,
    reschedule,
    wait_readable,
    wait_task_rescheduled,
)

from adapters.models.providers.read_pace import ROUND_SECONDS_MAX, pause_seconds, slice_length
from adapters.models.providers.sockets import CLOSED, EncryptedStream, WaitingStream
from runtime.children import Child, open_children
from runtime.clock import now
from runtime.lag import LoopLag
from runtime.restart import Restart
from runtime.statistics import CounterMetric, GaugeMetric

READY_MAX = 1024  # streams that one look finds; the next look finds the others

Take = Callable[[bytes], bool]  # takes what a read has brought; False: the task itself goes on


class StreamReadNow(Protocol):
    """A stream that can be read without waiting."""

    @property
    def descriptor(self) -> int: ...

    @property
    def has_ended(self) -> bool:
        """Return whether the end was read behind what came last: the socket may never tell it."""
        ...

    def read_now(self) -> bytes:
        """Return what has come; empty at the end. Raises BlockingIOError if nothing has, and
        trio.BrokenResourceError."""
        ...


def read_now_of(stream: object) -> StreamReadNow | None:
    """Return the stream, if it can be read without waiting."""
    if isinstance(stream, WaitingStream | EncryptedStream) and stream.descriptor != CLOSED:
        return stream
    return None


@dataclass(eq=False, slots=True)
class _Reader:
    """A stream that is read here, and the task that waits meanwhile."""

    stream: StreamReadNow
    take: Take
    task: Task
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class SharedReadsStatistics:
    streams: Annotated[int, GaugeMetric("Answers of models that are read together.")]
    pieces_count: Annotated[int, CounterMetric("Reads of answers that brought something.")]
    rounds_count: Annotated[int, CounterMetric("Looks at which answers can be read.")]


class SharedReads:
    """Reads the streams of a process. Made by `open_shared_reads`."""

    def __init__(self, lag: LoopLag) -> None:
        self._lag = lag
        self._epoll = select.epoll()
        self._readers: dict[int, _Reader] = {}  # by descriptors
        self._pieces_count = self._rounds_count = 0

    async def each(self, stream: StreamReadNow, take: Take) -> None:
        """Call `take` with what each read brings, until it returns False or the stream ends.

        `take` is called in another task. What it raises, and what breaks the stream, is raised
        here.
        """
        descriptor = stream.descriptor
        assert descriptor not in self._readers, "a stream is read by one task"
        try:
            self._epoll.register(descriptor, select.EPOLLIN)
        except (OSError, ValueError) as error:
            raise trio.BrokenResourceError(f"socket: {error}") from error
        reader = self._readers[descriptor] = _Reader(stream, take, current_task())

        def cancelled(_: RaiseCancelT) -> Abort:
            self._forget(descriptor)
            return Abort.SUCCEEDED

        await wait_task_rescheduled(cancelled)
        if reader.error is not None:
            raise reader.error

    async def run(self) -> NoReturn:
        """Read all streams, until cancelled."""
        while True:
            ready = self._epoll.poll(0, READY_MAX)
            if not ready:
                await wait_readable(self._epoll.fileno())
                continue
            self._rounds_count += 1
            await self._read_all([descriptor for descriptor, _ in ready])
            pause = pause_seconds(self._lag.seconds, len(self._readers))
            if pause:
                await trio.sleep(pause)
            else:
                await self._lag.trip()

    async def _read_all(self, ready: list[int]) -> None:
        """Read these streams in slices, between which all other tasks run that can."""
        until = now() + ROUND_SECONDS_MAX
        at, count = 0, slice_length(len(ready), 0.0, ROUND_SECONDS_MAX)
        while True:
            for descriptor in ready[at : at + count]:
                self._read(descriptor)
            at += count
            if at >= len(ready):
                return
            trip_seconds = await self._lag.trip()
            count = slice_length(len(ready) - at, trip_seconds, until - now())

    def close(self) -> None:
        self._epoll.close()

    def statistics(self) -> SharedReadsStatistics:
        return SharedReadsStatistics(len(self._readers), self._pieces_count, self._rounds_count)

    def _read(self, descriptor: int) -> None:
        reader = self._readers.get(descriptor)
        if reader is None:
            return  # its task was cancelled a moment ago
        try:
            data = reader.stream.read_now()
            self._pieces_count += 1
            if data and reader.take(data) and not reader.stream.has_ended:
                return
        except BlockingIOError:
            return  # it was not readable after all
        except Exception as error:  # noqa: BLE001  it belongs to the task that waits
            reader.error = error
        self._forget(descriptor)
        reschedule(reader.task)

    def _forget(self, descriptor: int) -> None:
        del self._readers[descriptor]
        self._epoll.unregister(descriptor)


@asynccontextmanager
async def open_shared_reads(lag: LoopLag) -> AsyncIterator[SharedReads | None]:
    """Read streams together for the length of the block. None where the system has no epoll."""
    if not hasattr(select, "epoll"):
        yield None
        return
    reads = SharedReads(lag)
    try:
        async with open_children("reads of models", capacity=1) as children:
            children.start(Child(name="reader", body=reads.run, restart=Restart()))
            yield reads
    finally:
        reads.close()
