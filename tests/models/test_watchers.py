"""Whatever comes between a chat and its watchers, they end with what is stored, and miss no status.

The world is in watchers.py. Things happen at random; then everything that was delayed comes
through, what was lost is found by the poll, and every watcher is compared with the store. A seed
is a story: what fails names its own.
"""

from random import Random

import pytest
import trio
import trio.testing

from tests.models.requests import drawing
from tests.models.watchers import Stage

HAPPENINGS = (
    *[Stage.somebody_commits] * 8,
    *[Stage.something_is_said] * 6,
    *[Stage.everybody_does_what_he_can] * 3,
    *[Stage.an_attempt_begins] * 3,
    *[Stage.a_watcher_comes] * 2,
    *[Stage.a_watcher_comes_back] * 2,
    *[Stage.a_record_comes] * 2,
    *[Stage.a_hint_comes] * 2,
    Stage.a_watcher_is_busy,
    Stage.news_is_lost,
    Stage.an_attempt_ends,
    Stage.reads_take_their_time,
    *[Stage.a_read_goes_on] * 2,
    Stage.time_passes,
)
STEPS = 80
STORIES = 200


def play(seed, steps=STEPS):
    random = Random(seed)

    async def story():
        async with trio.open_nursery() as nursery:
            with drawing(random) as draw:
                stage = Stage(nursery)
                await stage.begin(draw)
                await stage.a_watcher_comes(draw)
                for _ in range(steps):
                    await random.choice(HAPPENINGS)(stage, draw)
                await stage.settle()
                stage.check()
            nursery.cancel_scope.cancel()

    trio.run(story, clock=trio.testing.MockClock(autojump_threshold=0))


@pytest.mark.slow
def test_watchers_end_with_what_is_stored_and_miss_no_status():
    for seed in range(STORIES):
        try:
            play(seed)
        except Exception as failure:
            failure.add_note(f"story {seed}")
            raise
