"""What does mail cost: to cast and receive it, to ask and be answered?

On paper: a cast is an append and, if the reader waits, one `reschedule` (0.4 us). A receive that
finds mail is a popleft and a look at the cancel status (0.2 us); one that has to wait is a pass
of trio's scheduler (some 4 us). So 1 us while mail waits, 5 to 6 when each mail wakes the reader.

An ask is a cast and two passes of the scheduler, asker and actor, each of which many askers
share. The floor to beat is what one writes by hand, a memory channel, an Event and `fail_after`:
its cancel scope with a deadline alone costs 7 us, which is why asks have none.
"""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import trio

from bench.report import Result, Target
from runtime.mailbox import Address, Mailbox, open_mailbox

QUESTION = "what does mail cost: to cast and receive it, to ask and be answered?"
TARGETS = (
    Target("cast_receive_us", "us: cast + receive, each mail wakes its reader", at_most=10),
    Target("ask_64_us", "us: one ask of 64 askers", at_most=10),
    Target("ask_64_ratio", "64 askers: ask / channel, Event and fail_after", at_most=0.6),
)
MAIL = 32_000
WAITING = 64  # mail at a time, where mail waits; and askers at a time
LIMIT_SECONDS = 30.0
ROUNDS = 5  # the best of each counts

Box = tuple[Address[Any], Mailbox[Any]]
Way = Callable[[Box], Awaitable[None]]


async def cast_receive(box: Box) -> None:
    address, mailbox = box

    async def read() -> None:
        for _ in range(MAIL):
            await mailbox.receive()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        for number in range(MAIL):
            address.cast(number)
            await trio.lowlevel.checkpoint()


async def cast_receive_waiting(box: Box) -> None:
    address, mailbox = box
    for _ in range(MAIL // WAITING):
        for number in range(WAITING):
            address.cast(number)
        for _ in range(WAITING):
            await mailbox.receive()


async def cast_drain(box: Box) -> None:
    address, mailbox = box
    for _ in range(MAIL // WAITING):
        for number in range(WAITING):
            address.cast(number)
        await mailbox.drain(WAITING)


async def channel(box: Box) -> None:
    """The floor of `cast_receive`."""
    send, receive = trio.open_memory_channel[int](WAITING)

    async def read() -> None:
        for _ in range(MAIL):
            await receive.receive()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        for number in range(MAIL):
            send.send_nowait(number)
            await trio.lowlevel.checkpoint()


async def ask_1(box: Box) -> None:
    await _asked(box, askers=1)


async def ask_64(box: Box) -> None:
    await _asked(box, askers=64)


async def _asked(box: Box, askers: int) -> None:
    address, mailbox = box

    async def answer() -> None:
        while True:
            for reply in await mailbox.drain(WAITING):
                reply.put(None)

    async def ask() -> None:
        for _ in range(MAIL // askers):
            await address.ask(lambda reply: reply, seconds=LIMIT_SECONDS)

    await _all_of(ask, answer, askers)


async def event_1(box: Box) -> None:
    await _by_hand(askers=1)


async def event_64(box: Box) -> None:
    await _by_hand(askers=64)


async def _by_hand(askers: int) -> None:
    """The floor of an ask."""
    send, receive = trio.open_memory_channel[trio.Event](WAITING)

    async def answer() -> None:
        async for answered in receive:
            answered.set()

    async def ask() -> None:
        for _ in range(MAIL // askers):
            answered = trio.Event()
            with trio.fail_after(LIMIT_SECONDS):
                send.send_nowait(answered)
                await answered.wait()

    await _all_of(ask, answer, askers)


async def _all_of(
    ask: Callable[[], Awaitable[None]], answer: Callable[[], Awaitable[None]], askers: int
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(answer)
        async with trio.open_nursery() as asking:
            for _ in range(askers):
                asking.start_soon(ask)
        nursery.cancel_scope.cancel()


WAYS: tuple[Way, ...] = (
    cast_receive,
    channel,
    cast_receive_waiting,
    cast_drain,
    ask_1,
    event_1,
    ask_64,
    event_64,
)


async def _best() -> dict[str, float]:
    """The best round of each way, us for one mail."""
    best = {way.__name__: float("inf") for way in WAYS}
    for _ in range(ROUNDS):
        for way in WAYS:
            box = open_mailbox("box", capacity=WAITING)
            began = time.perf_counter()
            await way(box)
            us = (time.perf_counter() - began) / MAIL * 1e6
            best[way.__name__] = min(best[way.__name__], us)
    return best


def measure() -> dict[str, float]:
    best = trio.run(_best)
    figures = {f"{name}_us": us for name, us in best.items()}
    figures["ask_64_ratio"] = best["ask_64"] / best["event_64"]
    figures["ask_1_ratio"] = best["ask_1"] / best["event_1"]
    return figures


if __name__ == "__main__":
    print("\n".join(Result("mailbox", QUESTION, measure(), TARGETS).lines()))
