"""Answers as steps in time."""

from random import Random

import pytest

from adapters.rehearsal import pacing
from adapters.rehearsal.behaviour import Behaviour, BrokenAnswer
from adapters.rehearsal.dialogue import StreamEvent
from adapters.rehearsal.pacing import END, DeltaPace, HangUp, Reset, Send, Stall

EVENTS = [
    StreamEvent(b"data: start\n\n"),
    *(StreamEvent(b"data: %d\n\n" % number, timed=True) for number in range(4)),
    StreamEvent(b"data: stop\n\n"),
]


def stream(broken=None, **settings):
    behaviour = Behaviour(**settings)
    pace = DeltaPace(behaviour, Random(1))
    if broken is None:
        return list(pacing.stream_steps(EVENTS, behaviour, pace))
    options = {"broken": broken, "report": lambda count: b"data: failed after %d\n\n" % count}
    return list(pacing.broken_steps(EVENTS, behaviour, pace, **options))


def body(steps):
    """What the chunks hold, and whether the body has its end."""
    rest, data = b"".join(step.data for step in steps if isinstance(step, Send)), b""
    while rest and rest != END:
        size, _, rest = rest.partition(b"\r\n")
        data += rest[: int(size, 16)]
        rest = rest[int(size, 16) + 2 :]
    return data, rest == END


WHOLE = b"".join(event.data for event in EVENTS)


def test_the_first_delta_waits_for_itself_and_the_others_for_each_other():
    waits = [step.seconds for step in stream(first_token_ms=500, delta_ms=20)]

    assert [0, 0.5, 0.02, 0.02, 0.02, 0, 0] == waits


def test_jitter_stays_within_its_share():
    waits = [step.seconds for step in stream(delta_ms=100, first_token_ms=100, jitter=0.5)][1:5]

    assert 4 == len(set(waits))
    assert all(0.05 <= wait <= 0.15 for wait in waits)


@pytest.mark.parametrize(("together", "writes"), [(1, 6), (2, 3), (4, 2), (100, 1)])
def test_several_events_may_be_one_write(together, writes):
    steps = stream(events_per_write=together, delta_ms=10, first_token_ms=10)

    assert (WHOLE, True) == body(steps)
    assert writes + 1 == len(steps)
    assert pytest.approx(0.04) == sum(step.seconds for step in steps)


@pytest.mark.parametrize("pieces", [2, 3, 50])
def test_one_event_may_be_several_writes(pieces):
    steps = stream(writes_per_event=pieces)

    assert (WHOLE, True) == body(steps)
    assert len(steps) > len(EVENTS) * 2


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize(
    ("how", "last"), [("reset", Reset()), ("hangup", HangUp()), ("silence", Stall())]
)
def test_a_broken_stream_says_so_many_deltas_and_stops(how, last, after):
    *steps, stop = stream(BrokenAnswer(how, after))

    expected = b"".join(event.data for event in EVENTS[: 1 + after])
    assert ((expected, False), last) == (body(steps), stop)


def test_half_of_the_deltas_is_where_a_stream_breaks_if_nobody_says_where():
    steps = stream(BrokenAnswer("truncate"))

    assert (b"".join(event.data for event in EVENTS[:3]), True) == body(steps)


def test_a_stream_that_breaks_after_more_than_there_is_breaks_before_its_end():
    steps = stream(BrokenAnswer("truncate", 99))

    assert (b"".join(event.data for event in EVENTS[:5]), True) == body(steps)


def test_garbage_tears_one_event_and_goes_on():
    data, ended = body(stream(BrokenAnswer("garbage", 1)))

    assert ended
    torn = WHOLE.replace(b"data: 1", b"data: ")
    assert torn == data


def test_an_error_is_reported_where_the_stream_ends():
    data, ended = body(stream(BrokenAnswer("error", 2)))

    assert ended
    assert data.endswith(b"data: 1\n\ndata: failed after 3\n\n")
