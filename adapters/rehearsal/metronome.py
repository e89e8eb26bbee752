"""The one task that performs the timed steps of all answers: thousands of streams, one sleep.

If every stream slept and sent for itself, a delta would cost 46 us; here it costs 20. Steps that
are due within the same millisecond are written in one go, straight to the descriptor, which does
not block. The connection's own task only waits for the client to hang up, and takes over where
waiting is needed: for a client that does not read, for a stall, and at the end.
"""

import heapq
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Literal

import trio

from adapters.rehearsal.pacing import HangUp, Reset, Send, Stall, Step

TICK_SECONDS = 0.001  # a step may come so much early, so that many come together
LOOK_SECONDS = 10.0  # a longer wait is checked so often, and dropped if its client has gone
BURST_MAX = 32  # steps of one answer that are due at once; then others have their turn


@dataclass(frozen=True, slots=True)
class Blocked:
    """The bytes that a client does not read; they wait for it."""

    rest: bytes


Reached = Blocked | Stall | Reset | HangUp | Literal["end", "gone"]


@dataclass(slots=True, eq=False)
class PlayedAnswer:
    """An answer on its way, up to the step that its connection's task has to take."""

    steps: Iterator[Step]
    descriptor: int
    due: float
    scope: trio.CancelScope | None = None  # of the task that waits meanwhile, while it does
    reached: Reached | None = None
    _next: Send | None = None

    def play(self, horizon: float) -> float | None:
        """Take the steps that are due. Return when the next one is due; None: `reached` is set, and
        the rest is for the task of the connection."""
        for _ in range(BURST_MAX):
            step = self._next or self._advance()
            if step is None:
                return None
            if self.due > horizon:
                self._next = step
                return min(self.due, horizon + LOOK_SECONDS)
            self._next = None
            self.reached = self._write(step.data)
            if self.reached is not None:
                return None
        return self.due

    def _advance(self) -> Send | None:
        step = next(self.steps, None)
        if isinstance(step, Send):
            self.due += step.seconds
            return step
        self.reached = "end" if step is None else step
        return None

    def _write(self, data: bytes) -> Reached | None:
        try:
            sent = os.write(self.descriptor, data)
        except BlockingIOError:
            return Blocked(data)
        except OSError:
            return "gone"
        return None if sent == len(data) else Blocked(data[sent:])


class Metronome:
    """The performer of all answers; `run` is its task."""

    def __init__(self) -> None:
        self._heap: list[
            tuple[float, int, PlayedAnswer]
        ] = []  # bounded by connections, see LOOK_SECONDS
        self._entries = count()  # the order of those that are due at the same moment
        self._earlier = trio.Event()

    async def run(self) -> None:
        while True:
            self._earlier = trio.Event()
            with trio.move_on_at(self._heap[0][0] if self._heap else math.inf):
                await self._earlier.wait()
            self._play_due(trio.current_time() + TICK_SECONDS)

    async def follow(self, playing: PlayedAnswer, stream: trio.SocketStream) -> Reached:
        """Wait until a step is reached that is more than writing (a stall, a reset, the end), the
        client does not read, or it hangs up. Return which of these it was."""
        due = playing.play(trio.current_time() + TICK_SECONDS)
        if due is not None:
            await self._wait(playing, due, stream)
        assert playing.reached is not None, "only what is reached ends the waiting"
        return playing.reached

    async def _wait(self, playing: PlayedAnswer, due: float, stream: trio.SocketStream) -> None:
        with trio.move_on_at(math.inf) as playing.scope:
            self._add(due, playing)
            try:
                await stream.receive_some(1)
                playing.reached = (
                    "gone"  # or it sent something before our end, which counts as the same
                )
            finally:
                playing.scope = None

    def _play_due(self, horizon: float) -> None:
        due: list[PlayedAnswer] = []
        while self._heap and self._heap[0][0] <= horizon:
            due.append(heapq.heappop(self._heap)[2])
        for playing in due:
            if playing.scope is None:
                continue  # its connection is gone
            again = playing.play(horizon)
            if again is None:
                playing.scope.cancel()
            else:
                self._add(again, playing)

    def _add(self, due: float, playing: PlayedAnswer) -> None:
        if not self._heap or due < self._heap[0][0]:
            self._earlier.set()
        heapq.heappush(self._heap, (due, next(self._entries), playing))
