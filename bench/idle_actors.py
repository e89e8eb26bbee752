"""What do ten thousand idle actors cost: in memory each, and to stop them all?

On paper, one actor: a trio task with its coroutine frames (child, body, receive: some 2 KB), its
cancel scope and status (1 KB), a mailbox with an empty deque (1 KB), the record of the child and
its name (0.5 KB): 5 KB. Judged is what the process grows by (resident memory, allocator's waste
included); what Python's allocator was asked for is told beside it.

Stopping one is a cancel, an exception through five frames and the end of a task: 15 us in bare
trio, and again as much for garbage collections if all the exceptions are alive at once. So 0.3 s.
"""

import gc
import time
import tracemalloc
from functools import partial

import psutil
import trio
from trio.testing import wait_all_tasks_blocked

from bench.report import Result, Target
from runtime.children import Child, Children, open_children
from runtime.ends import End, Shutdown, Stopped
from runtime.mailbox import Address, Mailbox, open_mailbox

QUESTION = "what do ten thousand idle actors cost: in memory each, and to stop them all?"
TARGETS = (
    Target("resident_kb", "KB of resident memory for one idle actor", at_most=12),
    Target("stop_seconds", "seconds to stop 10,000 idle actors", at_most=0.5),
)
ACTORS = 10_000
ROUNDS = 3  # the best time of each counts; memory is that of the first, in a process still fresh
MAILBOX_CAPACITY = 64
KB = 1024


async def idle(mailbox: Mailbox[int]) -> None:
    while True:
        await mailbox.receive()


def _start_all(children: Children, ends: list[End]) -> list[Address[int]]:
    addresses = []
    for number in range(ACTORS):
        name = f"actor/{number}"
        address, mailbox = open_mailbox(name, capacity=MAILBOX_CAPACITY)
        children.start(
            Child(
                name=name,
                body=partial(idle, mailbox),
                mailbox=mailbox,
                when_ended=lambda _, end: ends.append(end),
            )
        )
        addresses.append(address)
    return addresses


def _resident_kb() -> float:
    gc.collect()
    return psutil.Process().memory_info().rss / KB


async def _timed() -> dict[str, float]:
    """Memory as the process sees it, and time, without anything that watches."""
    ends: list[End] = []
    resident_before = _resident_kb()
    async with open_children("bench", capacity=ACTORS) as children:
        began = time.perf_counter()
        addresses = _start_all(children, ends)
        await wait_all_tasks_blocked()
        started = time.perf_counter()
        resident = _resident_kb() - resident_before
        began_to_stop = time.perf_counter()
        await children.stop(Shutdown())
        stopped = time.perf_counter()
    assert ends == [Stopped(Shutdown())] * len(addresses), "every actor was stopped, and told of"
    return {
        "resident_kb": resident / ACTORS,
        "start_seconds": started - began,
        "stop_seconds": stopped - began_to_stop,
    }


async def _traced() -> dict[str, float]:
    """Memory as Python's allocator sees it."""
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    async with open_children("bench", capacity=ACTORS) as children:
        addresses = _start_all(children, [])
        await wait_all_tasks_blocked()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return {"allocated_kb": (after - before) / len(addresses) / KB}


def measure() -> dict[str, float]:
    rounds = [trio.run(_timed) for _ in range(ROUNDS)]
    best = {name: min(figures[name] for figures in rounds) for name in rounds[0]}
    return best | {"resident_kb": rounds[0]["resident_kb"]} | trio.run(_traced)


if __name__ == "__main__":
    print("\n".join(Result("idle_actors", QUESTION, measure(), TARGETS).lines()))
