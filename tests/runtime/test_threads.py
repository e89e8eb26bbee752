"""Threads for work that blocks, here on a pipe without a writer."""

import os
import subprocess
import sys
from functools import partial

import pytest
import trio
import trio.testing

from runtime import threads as threads
from runtime.errors import Misuse
from runtime.threads import ThreadLimits, ThreadsBlocked, Unwanted, check_wanted, read, write
from tests.fakes.hanging import HangingDisk, all_ended, leave, use_up_trios_threads

BOUND = ThreadLimits("hanging", 3, per_key_max=2, wait_seconds=0.05, answer_seconds=30)


@pytest.fixture
async def disk(tmp_path):
    disk = HangingDisk(tmp_path / "disk")
    yield disk
    disk.mend()
    await all_ended()
    disk.close()


def counted(kind=BOUND):
    return threads.statistics()[kind.name]


async def test_a_read_that_is_cancelled_leaves_at_once_and_its_thread_counts(disk):
    """W2: until the thread has ended."""
    with trio.fail_after(10):
        await leave(disk, partial(read, BOUND, disk.touch, key="a"))

    assert (1, 1) == (counted().running, counted().left)
    disk.mend()
    with trio.fail_after(10):
        while counted().running:
            await trio.sleep(0.005)
    assert (0, 0, 0) == (counted().running, counted().left, counted().keys)


async def test_threads_that_hang_take_none_from_other_keys_and_kinds(disk):
    """W1, W5: of one kind and key there are so many, in all so many; then callers are told."""
    for _ in range(2):
        await leave(disk, partial(read, BOUND, disk.touch, key="a"))

    with pytest.raises(ThreadsBlocked, match=r"^hanging of a: no answer within 0\.05 s$"):
        await read(BOUND, disk.touch, key="a")
    assert await read(BOUND, lambda: "b", key="b") == "b"
    await leave(disk, partial(read, BOUND, disk.touch, key="b"))
    with pytest.raises(ThreadsBlocked):
        await read(BOUND, lambda: "c", key="c")
    assert await read(ThreadLimits("other", 1), lambda: "d") == "d"
    assert (3, 3, 2) == (counted().running, counted().left, counted().blocked_count)


async def test_the_limiter_of_trio_is_not_used(disk):
    """W1: so work that uses it up starves none of ours."""
    use_up_trios_threads()

    with trio.fail_after(10):
        assert await read(BOUND, lambda: 1) == 1
        assert await write(BOUND, lambda: 2, grace_seconds=1) == 2


async def test_work_that_does_not_end_in_time_is_left(disk):
    """W5: and its caller is told."""
    short = ThreadLimits("short", 1, answer_seconds=0.02)

    with pytest.raises(ThreadsBlocked, match=r"^short: no answer within 0\.02 s$"):
        await read(short, disk.touch)

    assert (1, 1) == (counted(short).running, counted(short).left)


async def test_a_cancelled_write_that_ends_in_its_grace_returns_its_result(disk):
    """W3: so what was done is known to be done."""
    results = []

    async def work():
        results.append(await write(BOUND, disk.touch, key="a", grace_seconds=30))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await disk.touched.acquire()
        nursery.cancel_scope.cancel()
        with trio.move_on_after(0.05, shield=True):
            await trio.sleep_forever()
        assert not results
        disk.mend()

    assert ["done"] == results
    assert (0, 0) == (counted().running, counted().left)


async def test_what_comes_after_a_write_that_was_left_waits_for_it(disk):
    """W4: and does not pass it."""
    order = []
    patient = ThreadLimits("patient", 3, wait_seconds=30)

    def slow():
        disk.touch()
        order.append("first")

    with trio.fail_after(10):
        await leave(disk, partial(write, patient, slow, key="a", grace_seconds=0.02))
    async with trio.open_nursery() as nursery:
        for name in ("second", "third"):
            nursery.start_soon(partial(read, patient, partial(order.append, name), key="a"))
        await read(patient, partial(order.append, "other"), key="b")
        await trio.sleep(0.05)
        assert ["other"] == order
        disk.mend()

    assert ["other", "first"] == order[:2]
    assert {"second", "third"} == set(order[2:])


async def mend_one_after_the_other(other, disk, order):
    """When the write has been left and a thread of the same key is free."""
    with trio.fail_after(20):
        while not counted_left("two_for_a_key"):
            await trio.sleep(0.005)
        other.mend()
        while threads.statistics()["two_for_a_key"].running > 1:
            await trio.sleep(0.005)
    await trio.sleep(0.05)
    assert not order
    disk.mend()


def counted_left(name):
    return threads.statistics()[name].left


async def test_nor_does_what_had_begun_to_wait_before_it_was_left(disk, tmp_path):
    """W4: it waited for a thread, and now waits for the write."""
    other, order = HangingDisk(tmp_path / "other"), []
    patient = ThreadLimits("two_for_a_key", 9, per_key_max=2, wait_seconds=30)

    def slow():
        disk.touch()
        order.append("first")

    async with trio.open_nursery() as nursery, trio.open_nursery() as leaving:
        leaving.start_soon(partial(write, patient, slow, key="a", grace_seconds=0.02))
        nursery.start_soon(partial(read, patient, other.touch, key="a"))
        for each in (disk, other):
            await each.touched.acquire()
        nursery.start_soon(partial(read, patient, partial(order.append, "second"), key="a"))
        await trio.testing.wait_all_tasks_blocked()
        leaving.cancel_scope.cancel()
        nursery.start_soon(mend_one_after_the_other, other, disk, order)
    assert ["first", "second"] == order
    other.close()


async def test_what_waits_for_a_write_that_was_left_is_told_when_it_takes_too_long(disk):
    """W4, W5: an endless wait is none."""
    await leave(disk, partial(write, BOUND, disk.touch, key="a", grace_seconds=0.02))

    with pytest.raises(ThreadsBlocked, match="hanging of a"):
        await write(BOUND, lambda: None, key="a", grace_seconds=0.02)


async def test_work_can_ask_whether_it_is_wanted(disk):
    """W6: long work ends soon after its caller was cancelled."""
    asked = []

    def work():
        check_wanted()
        disk.touch()
        try:
            check_wanted()
        except Unwanted:
            asked.append("unwanted")
            raise

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(write, BOUND, work, grace_seconds=30))
        await disk.touched.acquire()
        nursery.cancel_scope.cancel()
        with trio.move_on_after(0.02, shield=True):
            await trio.sleep_forever()
        disk.mend()

    assert nursery.cancel_scope.cancelled_caught
    assert ["unwanted"] == asked


def test_work_elsewhere_cannot_ask():
    """W6: no caller waits for it."""
    with pytest.raises(Misuse):
        check_wanted()


async def test_what_work_raises_is_raised_before_its_caller():
    """W2, W3: as if it had been called."""
    for call in (partial(read, BOUND), partial(write, BOUND, grace_seconds=1)):
        with pytest.raises(ZeroDivisionError):
            await call(lambda: 1 // 0)


async def test_work_that_ends_its_thread_ends_no_run():
    """W2, W3: such an error, too, is raised before the caller, and nowhere else."""
    for call in (partial(read, BOUND), partial(write, BOUND, grace_seconds=1)):
        with pytest.raises(SystemExit):
            await call(sys.exit)
        with pytest.raises(Panic):
            await call(panic)

    assert (0, 0) == (counted().running, counted().keys)


class Panic(BaseException):
    """As libraries that are written in Rust raise it."""


def panic():
    raise Panic


async def test_an_error_shows_no_key_that_is_no_name(disk):
    """W5: a key may hold what is secret."""
    secret = partial(print, "secret")
    for _ in range(2):
        await leave(disk, partial(read, BOUND, disk.touch, key=secret))

    with pytest.raises(ThreadsBlocked, match=r"^hanging: no answer within 0\.05 s$"):
        await read(BOUND, disk.touch, key=secret)


def test_the_end_of_a_run_waits_for_no_thread(tmp_path):
    """W7: not even for a write that was left."""
    ends = []

    async def main():
        disk = HangingDisk(tmp_path / "disk")
        ends.append(disk)
        await leave(disk, partial(read, BOUND, disk.touch, key="a"))
        await leave(disk, partial(write, BOUND, disk.touch, key="b", grace_seconds=0.02))

    trio.run(main)

    ends[0].close()


def test_nor_does_the_end_of_the_process(tmp_path):
    """W7: a disk that hangs keeps no daemon from stopping."""
    os.mkfifo(tmp_path / "disk")
    program = f"""
import trio
from runtime.threads import ThreadLimits
from runtime.threads import read, write

async def main():
    hanging = ThreadLimits("hanging", 2, answer_seconds=0.1)
    for call in (read, lambda *words: write(*words, grace_seconds=0.1)):
        with trio.move_on_after(0.1):
            await call(hanging, lambda: open({str(tmp_path / "disk")!r}))

trio.run(main)
print("over")
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)

    assert (0, b"over\n") == (ended.returncode, ended.stdout)
