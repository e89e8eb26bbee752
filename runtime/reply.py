"""The one-shot slot an ask carries, and the clock that ends asks whose time is up.

A cancel scope with a deadline costs more than all the rest of an ask (7 of 13 µs, measured), so
asks have none: one system task per run fails those that are late. Asks with the same limit expire
in the order in which they were made, so each limit has a lane, a dict in that order: adding and
removing is O(1), nothing is kept of an ask that was answered, and the task sleeps until the
first deadline of all lanes. It may wake once for an ask answered long ago; never once per ask.
"""

import math
from typing import Any, Generic, TypeVar

import trio
from outcome import Error, Value
from trio.lowlevel import Abort, RaiseCancelT, Task

from runtime.errors import Misuse, NoAnswer

R = TypeVar("R")


class Reply(Generic[R]):
    """Where the actor that is asked puts its answer. Never blocks it, never disturbs it."""

    __slots__ = ("_answered", "_asked", "_asker")

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._asker: Task | None = None
        self._answered = False

    @property
    def wanted(self) -> bool:
        """Whether somebody still waits for the answer."""
        return self._asker is not None

    def put(self, value: R) -> bool:
        """Answer. False if nobody waits any more, which is no fault of the actor's."""
        return self._settle(Value(value))

    def fail(self, error: Exception) -> bool:
        """Answer with an error, which `ask` raises. False if nobody waits any more."""
        return self._settle(Error(error))

    def _settle(self, answer: Value[R] | Error) -> bool:
        if self._answered:
            raise Misuse(f"{self._asked}: an ask was answered twice")
        self._answered = True
        return self._wake(answer)

    def _wake(self, answer: Value[R] | Error) -> bool:
        asker = self._asker
        if asker is None:
            return False
        self._asker = None
        trio.lowlevel.reschedule(asker, answer)
        return True

    def abandon(self, error: Exception) -> None:
        """End the wait for an answer that will not come. The actor may still `put`, to no one."""
        self._wake(Error(error))

    async def wait(self) -> R:
        """Wait for the answer, without limit. For `ask` only; the limit is the clock's affair."""
        self._asker = trio.lowlevel.current_task()
        answer: R = await trio.lowlevel.wait_task_rescheduled(self._cancelled)
        return answer

    def _cancelled(self, _: RaiseCancelT) -> Abort:
        self._asker = None
        return Abort.SUCCEEDED


Lane = dict[Reply[Any], float]


class AskClock:
    """Ends asks whose time is up. One for each trio run."""

    def __init__(self) -> None:
        self._lanes: dict[float, Lane] = {}
        self._lot = trio.lowlevel.ParkingLot()
        self._wakes_at = -math.inf  # not begun: it will look at all lanes when it does

    def watch(self, reply: Reply[Any], seconds: float) -> Lane:
        """Fail `reply` in `seconds` from now, unless it leaves the lane before."""
        lane = self._lanes.get(seconds)
        if lane is None:
            lane = self._lanes[seconds] = {}
        deadline = trio.current_time() + seconds
        lane[reply] = deadline
        if deadline < self._wakes_at:
            self._wakes_at = deadline
            self._lot.unpark()
        return lane

    async def run(self) -> None:
        """The system task: sleep until the first deadline, fail what is late, again."""
        while True:
            self._lanes = {seconds: lane for seconds, lane in self._lanes.items() if lane}
            first = (next(iter(lane.values())) for lane in self._lanes.values())
            self._wakes_at = min(first, default=math.inf)
            with trio.move_on_at(self._wakes_at):
                await self._lot.park()
            now = trio.current_time()
            for seconds, lane in self._lanes.items():
                _fail_late(lane, seconds, now)


def _fail_late(lane: Lane, seconds: float, now: float) -> None:
    late = []
    for reply, deadline in lane.items():
        if deadline > now:
            break
        late.append(reply)
    for reply in late:
        del lane[reply]
        reply.abandon(NoAnswer(f"{reply._asked}: no answer within {seconds:g} s"))


_OF_THIS_RUN: trio.lowlevel.RunVar[AskClock] = trio.lowlevel.RunVar("ask_clock")


def ask_clock() -> AskClock:
    """This run's clock, begun at the first ask."""
    try:
        return _OF_THIS_RUN.get()
    except LookupError:
        clock = AskClock()
        _OF_THIS_RUN.set(clock)
        trio.lowlevel.spawn_system_task(clock.run, name="runtime.ask_clock")
        return clock
