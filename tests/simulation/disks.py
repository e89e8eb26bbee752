"""Disks of workspaces that hang, in virtual time.

A tool that works with files goes through the real threads of its workspace's disk, but no thread
runs: what would run in one is done when the disk answers. One that hangs answers when it is mended.
Work that has nothing to do with that disk must not notice.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from unittest.mock import patch

import outcome
import trio

from adapters.workspaces.disk import WRITE_SECONDS, Disk, DiskSilent
from runtime.clock import now

ON = ContextVar("disk")  # on which disk a thread would work
QUICK_SECONDS = 0.05  # a disk that does not hang
HANGS_SECONDS = (20.0, 90.0)
SLACK_SECONDS = 0.5
# From the wish to interrupt to its end; the process of the chat may be told to stop just then.
INTERRUPT_SECONDS_MAX = 15.0


class VirtualDisk:
    """The disk of one workspace, as one process sees it."""

    def __init__(self, name):
        self.real = Disk(name, name)
        self.hung_at = -1.0  # when it last hung, or still does
        self._mended = trio.Event()
        self._mended.set()

    @property
    def is_hung(self):
        return not self._mended.is_set()

    def hang(self):
        self._mended = trio.Event()

    def mend(self):
        self.hung_at = now()
        self._mended.set()

    async def answer(self, work, deliver):
        """Do the work of a thread, as soon as the disk answers, and deliver its outcome."""
        await self._mended.wait()
        await trio.sleep(QUICK_SECONDS)
        deliver(outcome.capture(work))


@contextmanager
def virtual_threads(world):
    """For the length of the block trio's threads are tasks that wait for the disk of their work."""

    def start(work, deliver, name=None):
        world.nursery.start_soon(ON.get().answer, work, deliver)

    with patch("trio._threads.start_thread_soon", start):
        yield


async def work(process, chat, call, deadline_seconds):
    """Read or write a file of the chat's workspace; return what came of it, in words."""
    world, disk = process.world, disk_of(process, chat)
    began, done = now(), []
    do = disk.real.read if call.name == "fetch" else disk.real.write
    token = ON.set(disk)
    try:
        return await do(lambda: done.append(now()) or "done")
    except DiskSilent as silent:
        return str(silent)
    finally:
        ON.reset(token)
        seconds, was_hung = now() - began, disk.is_hung or disk.hung_at >= began
        if not was_hung and seconds > QUICK_SECONDS + SLACK_SECONDS:
            world.blame(f"chat {chat.id.int} waited {seconds:g} s for a disk that does not hang")
        if seconds > deadline_seconds + WRITE_SECONDS + SLACK_SECONDS:
            world.blame(f"{call.name} of chat {chat.id.int} was held up {seconds:g} s by its disk")


def disk_of(process, chat):
    """A family works in one place. Each process reaches its disk for itself."""
    disks = process.disks
    if chat.root not in disks:
        disks[chat.root] = VirtualDisk(f"{process.name}/{chat.root}")
    return disks[chat.root]


def faults(world):
    """Neither an interrupt nor the end of a process waits for a disk."""
    for chat, seconds in world.checks.interruptions:
        if seconds > INTERRUPT_SECONDS_MAX:
            yield f"the interrupt of chat {chat} took {seconds:g} s"
    most = world.life.capacity.drain_seconds + WRITE_SECONDS + SLACK_SECONDS
    for process in world.processes:
        if process.is_gone and process.left_in_seconds > most:
            yield f"{process.name} took {process.left_in_seconds:g} s to stop, {most:g} are allowed"
