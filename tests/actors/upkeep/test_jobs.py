"""The home of work that nobody waits for: it outlives its asker, has a bound, and ends in order."""

import logging

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.upkeep.jobs import open_background
from runtime.ends import Shutdown
from runtime.scope import CausedScope


class Work:
    """Jobs of one second each, and how they ended."""

    def __init__(self):
        self.ends = []

    def job(self, name, seconds=1.0):
        async def work():
            try:
                await trio.sleep(seconds)
            except trio.Cancelled:
                self.ends.append(f"{name} cut short")
                raise
            self.ends.append(f"{name} done")

        return work


async def test_a_job_outlives_the_task_that_asked_for_it(autojump_clock):
    work = Work()
    async with open_background() as background:
        asker = CausedScope()

        async def ask():
            background.begin("title", work.job("title"))
            asker.cancel(Shutdown())
            await trio.sleep_forever()

        with asker:
            await ask()
        await trio.sleep(2)

        assert ["title done"] == work.ends


async def test_there_is_one_job_of_a_name_at_a_time(autojump_clock):
    work = Work()
    async with open_background() as background:
        first = background.begin("title", work.job("first"))

        second = background.begin("title", work.job("second"))
        await trio.sleep(2)
        third = background.begin("title", work.job("third"))
        await trio.sleep(2)

        assert [True, False, True] == [first, second, third]
        assert ["first done", "third done"] == work.ends
        assert 1 == background.statistics().repeated_count


async def test_at_the_bound_a_job_is_refused_and_counted(autojump_clock):
    work = Work()
    async with open_background(capacity=2) as background:
        begun = [background.begin(name, work.job(name)) for name in "abc"]
        await trio.sleep(2)
        again = background.begin("c", work.job("c"))

        assert [True, True, False] == begun
        assert again
        now = background.statistics()
        assert (2, 1, 2, 3, 1) == (
            now.capacity,
            now.running,
            now.running_peak,
            now.begun_count,
            now.refused_count,
        )


async def test_what_goes_wrong_in_a_job_is_logged_and_disturbs_no_other(autojump_clock, caplog):
    work = Work()

    async def fails():
        await trio.sleep(0.5)
        raise OSError("the disk is away")

    with caplog.at_level(logging.WARNING, "events"):
        async with open_background() as background:
            background.begin("fails", fails)
            background.begin("other", work.job("other"))
            await trio.sleep(2)

            assert 1 == background.statistics().failed_count

    assert ["other done"] == work.ends
    assert [("job.failed", "WARNING")] == [(r.message, r.levelname) for r in caplog.records]


async def test_a_failed_assertion_in_a_job_is_told_loudly(autojump_clock, caplog):
    async def broken():
        raise AssertionError("two and two are five")

    with caplog.at_level(logging.WARNING, "events"):
        async with open_background() as background:
            background.begin("broken", broken)
            await wait_all_tasks_blocked()

            assert 1 == background.statistics().failed_count

    assert [("child.ended", "ERROR")] == [(r.message, r.levelname) for r in caplog.records]


async def test_at_shutdown_jobs_go_on_for_a_while_and_are_then_cancelled(autojump_clock):
    work = Work()
    async with open_background(drain_seconds=10) as background:
        background.begin("short", work.job("short", seconds=9))
        background.begin("long", work.job("long", seconds=60))
        await wait_all_tasks_blocked()
        began = trio.current_time()

    assert ["short done", "long cut short"] == work.ends
    assert 10 == pytest.approx(trio.current_time() - began)
    assert 1 == background.statistics().cut_short_count


async def test_at_shutdown_a_pause_is_over_and_nothing_is_tried_again(autojump_clock):
    paused = []

    async def tries():
        paused.append(await background.pause(1))
        paused.append(await background.pause(60))
        paused.append(await background.pause(60))

    async with open_background(drain_seconds=10) as background:
        background.begin("tries", tries)
        await trio.sleep(2)
        began = trio.current_time()

    assert [True, False, False] == paused
    assert began == trio.current_time()


async def test_shutdown_waits_no_longer_than_the_jobs_do(autojump_clock):
    work = Work()
    async with open_background(drain_seconds=10) as background:
        background.begin("short", work.job("short", seconds=2))
        await wait_all_tasks_blocked()
        began = trio.current_time()

    assert 2 == pytest.approx(trio.current_time() - began)


async def test_while_it_drains_nothing_is_begun(autojump_clock):
    work = Work()
    late = []
    async with open_background() as background:

        async def asks_late():
            await trio.sleep(1)
            late.append(background.begin("more", work.job("more")))

        background.begin("asks late", asks_late)

    assert [False] == late
    assert [] == work.ends
    assert 1 == background.statistics().refused_count
