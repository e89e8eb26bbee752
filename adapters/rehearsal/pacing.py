"""An answer as steps in time: what to send, after which wait, and how it breaks. Pure.

A stream's first delta waits for `first_token_ms`, every other for `delta_ms`; an event that is no
delta is sent at once with its neighbours. An answer that is not streamed takes as long as its
stream would.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from random import Random

from adapters.rehearsal.behaviour import Behaviour, Break, BrokenAnswer
from adapters.rehearsal.dialogue import StreamEvent

PIECE_SECONDS = 0.001  # between the pieces of one write, so that they are likely read one by one
END = b"0\r\n\r\n"  # of a chunked body


@dataclass(frozen=True, slots=True)
class Send:
    """A step that sends these bytes, so many seconds after the step before was due."""

    seconds: float
    data: bytes


@dataclass(frozen=True, slots=True)
class Stall:
    """A step after which nothing comes, until the client hangs up."""


@dataclass(frozen=True, slots=True)
class Reset:
    """A step that ends the connection at once, as a crash does."""


@dataclass(frozen=True, slots=True)
class HangUp:
    """A step that ends the connection in good order, but in the middle of the answer."""


Step = Send | Stall | Reset | HangUp


class DeltaPace:
    """The waits of the deltas of one answer."""

    def __init__(self, behaviour: Behaviour, random: Random) -> None:
        self._next, self._usual = behaviour.first_token_ms / 1000, behaviour.delta_ms / 1000
        self._jitter, self._random = behaviour.jitter, random

    def next(self) -> float:
        """Return how long the next delta waits."""
        seconds, self._next = self._next, self._usual
        if self._jitter and seconds:
            return seconds * (1 + self._jitter * (2 * self._random.random() - 1))
        return seconds


def stream_steps(
    events: Iterable[StreamEvent], behaviour: Behaviour, pace: DeltaPace
) -> Iterator[Step]:
    """Yield the steps of a whole chunked body."""
    yield from _written(events, behaviour, pace)
    yield Send(0, END)


def broken_steps(
    events: Sequence[StreamEvent],
    behaviour: Behaviour,
    pace: DeltaPace,
    *,
    broken: BrokenAnswer,
    report: Callable[[int], bytes],
) -> Iterator[Step]:
    """Yield the steps of a chunked body that breaks; `report` makes the event that says so."""
    before, after = _parted(events, broken.after)
    match broken.how:
        case "garbage":
            torn = [StreamEvent(_torn(event.data), event.timed) for event in after[:1]]
            yield from stream_steps(chain(before, torn, after[1:]), behaviour, pace)
        case "error":
            yield from stream_steps([*before, StreamEvent(report(len(before)))], behaviour, pace)
        case "truncate":
            yield from stream_steps(before, behaviour, pace)
        case "reset" | "hangup" | "silence":
            yield from _written(before, behaviour, pace)
            yield _stop(broken.how)


def whole_steps(
    seconds: float, head: bytes, body: bytes, *, pieces: int, broken: BrokenAnswer | None
) -> Iterator[Step]:
    """Yield the steps of an answer in one piece, whose head tells the length of the whole body."""
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


def _parted(
    events: Sequence[StreamEvent], after: int | None
) -> tuple[Sequence[StreamEvent], Sequence[StreamEvent]]:
    """Return the events before and after so many deltas; None: half of them."""
    timed = [index for index, event in enumerate(events) if event.timed]
    wished = len(timed) // 2 if after is None else after
    at = timed[wished] if wished < len(timed) else timed[-1] + 1 if timed else 0
    return events[:at], events[at:]


def _torn(event: bytes) -> bytes:
    """Return an event without the second half of its JSON."""
    end = b"\r\n\r\n" if event.endswith(b"\r\n\r\n") else b"\n\n"
    start = event.index(b"data: ") + len(b"data: ")
    return event[: start + (len(event) - len(end) - start) // 2] + end


def _written(
    events: Iterable[StreamEvent], behaviour: Behaviour, pace: DeltaPace
) -> Iterator[Step]:
    """Yield events as chunks: so many in one write, and a write in so many pieces."""
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
    """Yield data as chunks, each piece one of its own, so that an event may be cut anywhere."""
    if pieces == 1:  # nearly always, and many thousand times a second
        yield Send(seconds, b"%x\r\n%b\r\n" % (len(data), data))
        return
    for piece in _cut(seconds, data, pieces):
        yield Send(piece.seconds, b"%x\r\n%b\r\n" % (len(piece.data), piece.data))


def _cut(seconds: float, data: bytes, pieces: int) -> Iterator[Send]:
    size = -(-len(data) // pieces)
    for at in range(0, len(data), size):
        yield Send(PIECE_SECONDS if at else seconds, data[at : at + size])
