"""A disk that hangs: a thread that touches it waits in the kernel, on a pipe without a writer."""

import os
import threading

import trio

from runtime.threads import statistics


class HangingDisk:
    """`touch` blocks its thread until the disk is mended."""

    def __init__(self, path):
        os.mkfifo(path)
        self._path = path
        self._is_mended = threading.Event()
        self._token = trio.lowlevel.current_trio_token()
        self._writer = None
        self.touched = trio.Semaphore(0)  # once for each thread that waits

    def touch(self, result="done"):
        self._token.run_sync_soon(self.touched.release)
        if not self._is_mended.is_set():
            with open(self._path, "rb"):
                pass
        return result

    def mend(self):
        self._is_mended.set()
        if self._writer is None:  # open for both: threads that wait go on, later ones do not wait
            self._writer = os.open(self._path, os.O_RDWR)

    def close(self):
        self.mend()
        os.close(self._writer)


async def leave(disk, work):
    """Begin `work`, and cancel it when it hangs."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(work)
        await disk.touched.acquire()
        nursery.cancel_scope.cancel()


async def all_ended():
    """Wait until no thread of ours works any more."""
    with trio.fail_after(60):
        while any(each.running for each in statistics().values()):
            await trio.sleep(0.005)


def use_up_trios_threads():
    """Take all threads of trio's own limiter, as a library that hangs would."""
    limiter = trio.to_thread.current_default_thread_limiter()
    for number in range(int(limiter.total_tokens)):
        limiter.acquire_on_behalf_of_nowait(number)
