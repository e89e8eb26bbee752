"""The lag of the loop: how long all others take before it is our turn again."""

import trio
from trio.testing import MockClock

from runtime.lag import BEHIND_SECONDS, SAMPLE_SECONDS_BEHIND, LoopLag


async def test_a_trip_takes_as_long_as_all_others_do(mock_clock: MockClock, nursery):
    """T7: a trip is as long as what the others do meanwhile."""
    lag = LoopLag()

    async def work():
        for _ in range(50):
            mock_clock.jump(0.02)
            await trio.lowlevel.checkpoint()

    assert await lag.trip() == 0.0
    nursery.start_soon(work)
    await trio.lowlevel.checkpoint()
    trips = [await lag.trip() for _ in range(30)]

    assert max(trips) >= 0.02
    assert 0.01 < lag.seconds <= 0.04


async def test_the_lag_goes_when_the_others_have_done_their_work(autojump_clock, nursery):
    """T7: it is smoothed, and falls again."""
    lag = LoopLag()
    lag.seconds = 1.0
    nursery.start_soon(lag.watch)

    await trio.sleep(5.05)

    assert lag.seconds < BEHIND_SECONDS
    behind = lag.statistics().trips.count
    assert behind * SAMPLE_SECONDS_BEHIND < 5
    await trio.sleep(100)
    assert lag.statistics().trips.count == behind + 100  # an idle process is woken seldom
    nursery.cancel_scope.cancel()
