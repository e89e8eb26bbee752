"""Scopes that know why they were cancelled, and the causes themselves."""

from dataclasses import FrozenInstanceError, dataclass

import pytest
import trio
import trio.lowlevel

from runtime.ends import Cause, ChildGaveUp, Deadline, Shutdown, SupervisorGone
from runtime.scope import CausedScope


@dataclass(frozen=True, slots=True)
class Superseded(Cause):
    by_version: int


def test_a_cause_is_a_value():
    """S6: frozen, compared by value, with a word for logs."""
    cause = Superseded(7)

    assert Superseded(7) == cause
    assert Superseded(8) != cause
    assert {Superseded(7)} == {cause}
    assert cause.code == "Superseded"
    assert Deadline(3).code == "Deadline"
    assert ChildGaveUp("a") != SupervisorGone("a")
    with pytest.raises(FrozenInstanceError):
        cause.by_version = 8


async def test_the_first_cause_wins(autojump_clock):
    """S1: later ones are ignored."""
    scope = CausedScope()
    async with trio.open_nursery() as nursery:

        async def cancel_twice():
            await trio.sleep(1)
            scope.cancel(Superseded(7))
            scope.cancel(Shutdown())

        nursery.start_soon(cancel_twice)
        with scope:
            await trio.sleep_forever()

    assert Superseded(7) == scope.interrupted_by
    assert Superseded(7) == scope.requested


async def test_a_deadline_is_a_cause(autojump_clock):
    """S2: its time runs from the entry."""
    scope = CausedScope(seconds=30)
    await trio.sleep(100)

    with scope:
        await trio.sleep(31)

    assert Deadline(30) == scope.interrupted_by
    assert trio.current_time() == 130


async def test_a_deadline_that_has_passed_counts_as_first(autojump_clock):
    """S1, S2: even before it could take effect."""
    with CausedScope(seconds=1) as scope:
        try:
            await trio.sleep_forever()
        finally:
            scope.cancel(Shutdown())

    assert Deadline(1) == scope.interrupted_by


async def test_a_cause_before_the_deadline_outlives_it(autojump_clock):
    """S1, S2: the deadline passes later and changes nothing."""
    with CausedScope(seconds=1) as scope:
        scope.cancel(Shutdown())
        with trio.CancelScope(shield=True):
            await trio.sleep(5)
        await trio.lowlevel.checkpoint()

    assert Shutdown() == scope.interrupted_by


async def test_a_deadline_after_the_work_is_none(autojump_clock):
    """S2, S4: the scope was over by then."""
    with CausedScope(seconds=1) as scope:
        pass
    await trio.sleep(5)

    assert scope.requested is None


async def test_a_scope_cancelled_before_its_entry_stops_the_work_at_its_first_await():
    """S4: told to stop and cut short."""
    scope = CausedScope()
    scope.cancel(Shutdown())
    assert (Shutdown(), None) == (scope.requested, scope.interrupted_by)

    with scope:
        await trio.lowlevel.checkpoint()

    assert (Shutdown(), Shutdown()) == (scope.requested, scope.interrupted_by)


async def test_work_that_ended_by_itself_was_not_interrupted():
    """S4: it was told to stop all the same."""
    with CausedScope() as scope:
        scope.cancel(Shutdown())

    assert (Shutdown(), None) == (scope.requested, scope.interrupted_by)


async def test_a_scope_left_alone_shows_nothing():
    """S4: neither told to stop nor cut short."""
    with CausedScope(seconds=5) as scope:
        await trio.lowlevel.checkpoint()

    assert (scope.requested, scope.interrupted_by) == (None, None)
    assert repr(scope) == "<CausedScope: going on>"


async def test_cancellation_from_outside_is_not_the_scopes_own():
    """S5: the inner one shows nothing, the outer one its cause, also in the traceback."""
    inner, outer = CausedScope(), CausedScope()
    seen = []
    with outer:
        outer.cancel(Shutdown())
        try:
            with inner:
                await trio.sleep_forever()
        except trio.Cancelled as cancelled:
            seen.append(str(cancelled))
            raise

    assert (inner.requested, inner.interrupted_by) == (None, None)
    assert Shutdown() == outer.interrupted_by
    assert "Shutdown()" in seen[0]


async def test_a_shield_keeps_outer_cancellation_out(autojump_clock):
    """S5: but not the scope's own."""
    with CausedScope() as outer:
        outer.cancel(Shutdown())
        with CausedScope(shield=True, seconds=2) as inner:
            await trio.sleep(1)
            assert trio.current_time() == 1
            await trio.sleep(5)

    assert Deadline(2) == inner.interrupted_by
    assert trio.current_time() == 2


@pytest.mark.parametrize("when", ["before entry", "inside"])
async def test_a_grace_is_a_deadline_with_a_cause(autojump_clock, when):
    """S3: the work goes on until it is over."""
    scope = CausedScope()
    if when == "before entry":
        scope.expire_in(3, Shutdown())
    with scope:
        if when == "inside":
            scope.expire_in(3, Shutdown())
        await trio.sleep(2)
        assert scope.requested is None
        await trio.sleep(2)

    assert Shutdown() == scope.interrupted_by
    assert trio.current_time() == 3


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [(3, 9, (Superseded(1), 3)), (9, 3, (Superseded(2), 3)), (3, 3, (Superseded(1), 3))],
)
@pytest.mark.parametrize("entered", [False, True])
async def test_the_earlier_of_two_graces_stands(autojump_clock, first, second, expected, entered):
    """S3: with its own cause, whichever was given first."""
    scope = CausedScope()
    graces = [(first, Superseded(1)), (second, Superseded(2))]
    if not entered:
        for seconds, cause in graces:
            scope.expire_in(seconds, cause)
    with scope:
        if entered:
            for seconds, cause in graces:
                scope.expire_in(seconds, cause)
        await trio.sleep_forever()

    assert expected == (scope.interrupted_by, trio.current_time())


@pytest.mark.parametrize(("seconds", "cause"), [(2, Deadline(2)), (8, Shutdown())])
async def test_a_grace_never_gives_more_than_the_scope_had(autojump_clock, seconds, cause):
    """S3: its own deadline stands if it is earlier."""
    with CausedScope(seconds=seconds) as scope:
        scope.expire_in(5, Shutdown())
        await trio.sleep_forever()

    assert cause == scope.interrupted_by
    assert min(seconds, 5) == trio.current_time()


async def test_a_stop_during_the_grace_comes_first(autojump_clock):
    """S1, S3: and after a stop there is no grace any more."""
    with CausedScope() as scope:
        scope.expire_in(5, Shutdown())
        await trio.sleep(1)
        scope.cancel(Superseded(1))
        scope.expire_in(1, Shutdown())
        await trio.sleep_forever()

    assert (Superseded(1), 1) == (scope.interrupted_by, trio.current_time())


@pytest.mark.parametrize("seconds", [0, -3])
async def test_no_grace_at_all_stops_at_once(autojump_clock, seconds):
    """S3: nothing left is as good as nothing."""
    with CausedScope() as scope:
        scope.expire_in(seconds, Shutdown())
        assert Shutdown() == scope.requested
        await trio.sleep_forever()

    assert (Shutdown(), 0) == (scope.interrupted_by, trio.current_time())


async def test_a_guard_is_renewed_while_things_go_well(autojump_clock):
    """S7"""
    guard = CausedScope()
    with guard:
        guard.renew(10, Deadline(10))
        await trio.sleep(9)
        guard.renew(10, Deadline(10))
        await trio.sleep(9)
        guard.renew(100, Shutdown())
        await trio.sleep(200)

    assert Shutdown() == guard.interrupted_by
    assert 118 == trio.current_time()


async def test_a_scope_that_was_told_to_stop_is_not_renewed(autojump_clock):
    """S7"""
    guard = CausedScope()
    with guard:
        guard.cancel(Shutdown())
        guard.renew(10, Deadline(10))
        await trio.sleep(5)

    assert Shutdown() == guard.interrupted_by
    assert 0 == trio.current_time()
