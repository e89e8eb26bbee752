"""An answer as steps in time: what to send, after which wait, and how it breaks. Pure.

A stream's first delta waits for `first_token_ms`, every other for `delta_ms`; what is no delta
goes with its neighbours at once. An answer that is not streamed takes as long as its stream would.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random

from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.faults import Break, Broken
from adapters.rehearsal.said import Event

PIECE_SECONDS = 0.001  # between the pieces of one write, so that they are likely read one by one
END = b"0\r\n\r\n"  # of a chunked body


@dataclass(frozen=True, slots=True)
class Send:
    """These bytes, so many seconds after the step before was due."""

    seconds: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing any more, until the client has enough of it."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is gone, at once, as after a crash."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """The connection ends, in good order but in the middle of the answer."""


Step = Send | Stall | Reset | HangUp


class Pace:
    """How long each delta waits."""

    def __init__(self, behaviour: Behaviour, random: Random) -> None:
        self._next, self._usual = behaviour.first_token_ms / 1000, behaviour.delta_ms / 1000
        self._jitter, self._random = behaviour.jitter, random

    def next(self) -> float:
        seconds, self._next = self._next, self._usual
        if self._jitter and seconds:
            return seconds * (1 + self._jitter * (2 * self._random.random() - 1))
        return seconds


def streamed(events: Iterable[Event], behaviour: Behaviour, pace: Pace) -> Iterator[Step]:
    """The steps of a whole chunked body."""
    yield from _written(events, behaviour, pace)
    yield Send(0, END)


def broken_off(
    events: Sequence[Event],
    behaviour: Behaviour,
    pace: Pace,
    *,
    broken: Broken,
    report: Callable[[int], bytes],
) -> Iterator[Step]:
    """The steps of a chunked body that breaks; `report` makes the event that reports a failure."""
    before, after = _parted(events, broken.after)
    match broken.how:
        case "garbage":
            torn = [Event(_torn(event.data), event.timed) for event in after[:1]]
            yield from streamed(chain(before, torn, after[1:]), behaviour, pace)
        case "error":
            yield from streamed([*before, Event(report(len(before)))], behaviour, pace)
        case "truncate":
            yield from streamed(before, behaviour, pace)
        case "reset" | "hangup" | "silence":
            yield from _written(before, behaviour, pace)
            yield _stop(broken.how)


def whole(
    seconds: float, head: bytes, body: bytes, *, pieces: int, broken: Broken | None
) -> Iterator[Step]:
    """The steps of an answer in one piece, whose head says the length of the whole body."""
    half = len(body) // 2
    match broken and broken.how:
        case None:
            yield from _cut(seconds, head + body, pieces)
        case "garbage":
            yield Send(seconds, head + body[:half] + b"}" * (len(body) - half))
        case "silence":
            yield Stall()
        case "reset":
            yield Send(seconds, head + body[:half])
            yield Reset()
        case _:
            yield Send(seconds, head + body[:half])
            yield HangUp()


def _stop(how: Break) -> Step:
    match how:
        case "reset":
            return Reset()
        case "silence":
            return Stall()
        case _:
            return HangUp()


def _parted(events: Sequence[Event], after: int | None) -> tuple[Sequence[Event], Sequence[Event]]:
    """Before and after so many deltas (None: half of them); at most all there are."""
    timed = [index for index, event in enumerate(events) if event.timed]
    wished = len(timed) // 2 if after is None else after
    at = timed[wished] if wished < len(timed) else timed[-1] + 1 if timed else 0
    return events[:at], events[at:]


def _torn(event: bytes) -> bytes:
    """The event with the second half of its JSON gone."""
    end = b"\r\n\r\n" if event.endswith(b"\r\n\r\n") else b"\n\n"
    start = event.index(b"data: ") + len(b"data: ")
    return event[: start + (len(event) - len(end) - start) // 2] + end


def _written(events: Iterable[Event], behaviour: Behaviour, pace: Pace) -> Iterator[Step]:
    """Events as chunks: so many in one write, and a write in so many pieces."""
    together, pieces = behaviour.events_per_write, behaviour.writes_per_event
    waiting: list[bytes] = []
    seconds = 0.0
    for event in events:
        if event.timed:
            seconds += pace.next()
        waiting.append(event.data)
        if len(waiting) == together:
            yield from _chunks(seconds, b"".join(waiting), pieces)
            seconds = 0.0
            waiting.clear()
    if waiting:
        yield from _chunks(seconds, b"".join(waiting), pieces)


def _chunks(seconds: float, data: bytes, pieces: int) -> Iterator[Step]:
    """Every piece is a chunk of its own, so an event may be cut anywhere."""
    if pieces == 1:  # nearly always, and many thousand times a second
        yield Send(seconds, b"%x\r\n%b\r\n" % (len(data), data))
        return
    for piece in _cut(seconds, data, pieces):
        yield Send(piece.seconds, b"%x\r\n%b\r\n" % (len(piece.data), piece.data))


def _cut(seconds: float, data: bytes, pieces: int) -> Iterator[Send]:
    size = -(-len(data) // pieces)
    for at in range(0, len(data), size):
        yield Send(PIECE_SECONDS if at else seconds, data[at : at + size])
