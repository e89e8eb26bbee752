"""One bounded queue with many senders and one reader, and the replies to what is asked through it.

What lies in the queue is called mail, and stays there until the reader takes it: a sender only
wakes the reader. So a reader that is cancelled while it waits loses nothing, and one that wakes
finds all that has come meanwhile.

A cancel scope with a deadline costs more than all the rest of an ask (7 of 13 µs, measured), so
asks have none: one system task per run fails those that are late. Asks with the same limit expire
in the order in which they were made, so each limit has a lane, a dict in that order. Adding and
removing is O(1), nothing is kept of an ask that was answered, and the task sleeps until the first
deadline of all lanes. It may wake once for an ask that was answered long ago, and never once per
ask.
"""

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import trio
from outcome import Error, Value
from trio.lowlevel import Abort, RaiseCancelT, Task, checkpoint, checkpoint_if_cancelled

from runtime.errors import ActorGone, MailboxFull, Misuse, NoAnswer
from runtime.statistics import MailboxStatistics

T = TypeVar("T")


__all__ = ["Address", "Mailbox", "Reply", "open_mailbox"]

M = TypeVar("M")
R = TypeVar("R")

HINT_CAPACITY = 1024  # different hints that may wait; at the bound a new one is dropped
RECEIVES_IN_A_ROW_MAX = 16  # then the reader lets other tasks run, even if more mail waits


class Reply(Generic[T]):
    """The one-shot slot into which an actor puts its answer to an ask.

    Answering never blocks the actor and never disturbs it.
    """

    __slots__ = ("_answered", "_asked", "_asker")

    def __init__(self, asked: str) -> None:
        self._asked = asked
        self._asker: Task | None = None
        self._answered = False

    @property
    def wanted(self) -> bool:
        """Return whether the asker still waits for the answer."""
        return self._asker is not None

    def put(self, value: T) -> bool:
        """Answer. Return False if nobody waits any more, which is no fault of the actor."""
        return self._settle(Value(value))

    def fail(self, error: Exception) -> bool:
        """Answer with an error, which `ask` raises. Return False if nobody waits any more."""
        return self._settle(Error(error))

    def _settle(self, answer: Value[T] | Error) -> bool:
        if self._answered:
            raise Misuse(f"{self._asked}: an ask was answered twice")
        self._answered = True
        return self._wake(answer)

    def _wake(self, answer: Value[T] | Error) -> bool:
        asker = self._asker
        if asker is None:
            return False
        self._asker = None
        trio.lowlevel.reschedule(asker, answer)
        return True

    def abandon(self, error: Exception) -> None:
        """End the wait for an answer that will not come. The actor may still `put` one; it goes
        nowhere."""
        self._wake(Error(error))

    async def wait(self) -> T:
        """Wait for the answer, without a limit of time. For `ask` only: the clock of asks ends late
        ones."""
        self._asker = trio.lowlevel.current_task()
        answer: T = await trio.lowlevel.wait_task_rescheduled(self._cancelled)
        return answer

    def _cancelled(self, _: RaiseCancelT) -> Abort:
        self._asker = None
        return Abort.SUCCEEDED


Lane = dict[Reply[Any], float]


class AskClock:
    """The clock that ends asks whose time is up. There is one for each trio run."""

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
        """Sleep until the first deadline, fail the asks that are late, and repeat. This is a system
        task."""
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
    """Return this run's clock, and start it at the first ask."""
    try:
        return _OF_THIS_RUN.get()
    except LookupError:
        clock = AskClock()
        _OF_THIS_RUN.set(clock)
        trio.lowlevel.spawn_system_task(clock.run, name="runtime.ask_clock")
        return clock


class _Hint:
    """A hint in the queue: it does not count as mail, and an equal one is merged into it."""

    __slots__ = ("mail",)

    def __init__(self, mail: Any) -> None:
        self.mail = mail


class Mailbox(Generic[M]):
    """The reading end of the queue. It belongs to one actor and spans all lives of it."""

    __slots__ = (
        "_asks",
        "_clock",
        "_closed",
        "_hints",
        "_hints_dropped_count",
        "_hints_merged_count",
        "_in_a_row",
        "_lost_count",
        "_queue",
        "_reader",
        "_received_count",
        "_refused_count",
        "_waiting_peak",
        "capacity",
        "hint_capacity",
        "name",
    )

    def __init__(self, name: str, capacity: int, hint_capacity: int) -> None:
        self.name = name
        self.capacity = capacity
        self.hint_capacity = hint_capacity
        self._queue: deque[M | _Hint] = deque()
        self._hints: set[M] = set()  # those in the queue
        self._asks: set[Reply[Any]] = set()  # not answered yet, wherever their mail is
        self._reader: Task | None = None  # while it waits
        self._clock: AskClock | None = None  # of the run in which it is first asked
        self._closed = False
        self._in_a_row = 0
        self._waiting_peak = 0
        self._received_count = 0
        self._refused_count = 0
        self._hints_merged_count = 0
        self._hints_dropped_count = 0
        self._lost_count = 0

    async def receive(self) -> M:
        """Take the oldest mail, or wait for it. A receive that is cancelled has taken nothing."""
        if self._queue and self._in_a_row < RECEIVES_IN_A_ROW_MAX:
            self._in_a_row += 1
            await checkpoint_if_cancelled()
        else:
            await self._mail_waits()
        self._received_count += 1
        mail = self._queue.popleft()
        return self._unmark(mail) if type(mail) is _Hint else cast("M", mail)

    async def drain(self, at_most: int) -> list[M]:
        """Take what waits, oldest first: at least one, at most `at_most`. Other tasks run first."""
        if at_most < 1:
            raise Misuse(f"{self.name}: drain({at_most}), must be at least 1")
        await self._mail_waits()
        count = min(at_most, len(self._queue))
        self._received_count += count
        taken = [self._queue.popleft() for _ in range(count)]
        return [self._unmark(m) if type(m) is _Hint else cast("M", m) for m in taken]

    def abandon(self) -> None:
        """Drop the mail that waits and fail the open asks: a life of the actor has ended."""
        self._lost_count += len(self._queue)
        self._queue.clear()
        self._hints.clear()
        asks, self._asks = self._asks, set()
        for reply in asks:
            reply.abandon(ActorGone(f"{self.name}: ended before it answered"))

    def close(self) -> None:
        """End the mailbox with its actor: as `abandon`, and from now on no mail is taken."""
        self._closed = True
        self.abandon()
        self._wake_reader()

    def statistics(self) -> MailboxStatistics:
        """Return the counts since it was opened, and what waits now."""
        return MailboxStatistics(
            name=self.name,
            capacity=self.capacity,
            closed=self._closed,
            waiting=len(self._queue) - len(self._hints),
            hints_waiting=len(self._hints),
            waiting_peak=self._waiting_peak,
            asks_open=len(self._asks),
            received_count=self._received_count,
            refused_count=self._refused_count,
            hints_merged_count=self._hints_merged_count,
            hints_dropped_count=self._hints_dropped_count,
            lost_count=self._lost_count,
        )

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{len(self._queue)} wait"
        return f"<Mailbox {self.name}: {state}>"

    async def _mail_waits(self) -> None:
        """Let other tasks run, then wait until there is mail."""
        self._in_a_row = 0
        if self._queue:
            await checkpoint()
        while not self._queue:
            if self._closed:
                raise Misuse(f"{self.name}: closed, nothing more can be received")
            if self._reader is not None:
                raise Misuse(f"{self.name}: two tasks wait for its mail")
            self._reader = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._cancelled)

    def _cancelled(self, _: RaiseCancelT) -> Abort:
        self._reader = None
        return Abort.SUCCEEDED

    def _wake_reader(self) -> None:
        reader = self._reader
        if reader is not None:
            self._reader = None
            trio.lowlevel.reschedule(reader)

    def _put(self, mail: M | _Hint) -> None:
        self._queue.append(mail)
        waiting = len(self._queue)
        if waiting > self._waiting_peak:
            self._waiting_peak = waiting
        if self._reader is not None:
            self._wake_reader()

    def _unmark(self, hint: Any) -> M:
        mail: M = hint.mail
        self._hints.discard(mail)
        return mail


class Address(Generic[M]):
    """The sending end of a mailbox; safe to hand to anyone in the same run."""

    __slots__ = ("_box",)

    def __init__(self, box: Mailbox[M]) -> None:
        self._box = box

    @property
    def name(self) -> str:
        return self._box.name

    def cast(self, mail: M) -> None:
        """Put `mail` in the mailbox now, or raise `MailboxFull` or `ActorGone`. Never blocks."""
        box = self._box
        if box._closed:
            raise ActorGone(f"{box.name}: ended, takes no mail")
        if len(box._queue) - len(box._hints) >= box.capacity:
            box._refused_count += 1
            raise MailboxFull(f"{box.name}: {box.capacity} already wait")
        box._put(mail)

    def hint(self, mail: M) -> bool:
        """Say "look again". An equal hint that waits absorbs it, and it never stands in the way of
        mail.

        Return False if it is lost, because the actor has ended or too many different hints wait. A
        poll behind every hint finds the news anyway, so no caller needs to look at the answer.
        """
        box = self._box
        if box._closed:
            return False
        if mail in box._hints:
            box._hints_merged_count += 1
            return True
        if len(box._hints) >= box.hint_capacity:
            box._hints_dropped_count += 1
            return False
        box._hints.add(mail)
        box._put(_Hint(mail))
        return True

    async def ask(self, make: Callable[[Reply[R]], M], *, seconds: float) -> R:
        """Cast `make(reply)` and wait for what the actor puts into the reply.

        Raise what the actor failed it with, `NoAnswer` when the time is up, `ActorGone` as soon as
        the actor ends without answering, and all that `cast` raises.
        """
        if not 0 < seconds < math.inf:
            raise Misuse(f"{self.name}: asked with a limit of {seconds} s, must be positive")
        await checkpoint_if_cancelled()  # a cancelled asker asks nothing
        box = self._box
        reply: Reply[R] = Reply(box.name)
        self.cast(make(reply))
        clock = box._clock
        if clock is None:
            clock = box._clock = ask_clock()
        lane = clock.watch(reply, seconds)
        box._asks.add(reply)
        try:
            return await reply.wait()
        finally:
            lane.pop(reply, None)
            box._asks.discard(reply)

    def __repr__(self) -> str:
        return f"<Address of {self._box!r}>"


def open_mailbox(
    name: str, *, capacity: int, hint_capacity: int = HINT_CAPACITY
) -> tuple[Address[M], Mailbox[M]]:
    """Open a mailbox for `capacity` mail and return its address and itself. A full one refuses
    casts."""
    if not (0 < capacity < math.inf and 0 < hint_capacity < math.inf):
        raise Misuse(f"{name}: a mailbox for {capacity} mail and {hint_capacity} hints")
    mailbox: Mailbox[M] = Mailbox(name, capacity, hint_capacity)
    return Address(mailbox), mailbox
