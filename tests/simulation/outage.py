"""Five hundred chats of one provider, which is down for ten minutes and then answers again.

Meanwhile all of them try again and again. When it is back they all finish, and they do not come all
at once: of all chats no more than `SHARE_MAX` ask within one second.
"""

from bisect import bisect_left
from collections import Counter

import trio

from actors.law import requests as ask
from actors.law.chat import Body, Role
from actors.law.parts.deltas import AnswerFailed
from actors.law.states import Status
from actors.supervisor.deps import SupervisorLimits
from runtime.clock import now
from tests.simulation.deeds import ANN, create, said
from tests.simulation.deploys import ends, serving
from tests.simulation.process import start_process
from tests.simulation.world import LEASE_SECONDS

CHATS_COUNT = 500
BEGIN_SECONDS = 2.0  # in which all of them begin
DOWN_SECONDS = 600.0
FINISH_SECONDS = 100.0  # from the end of the outage until the last has its answer
SHARE_MAX = 0.06  # of all chats, in any one second after the outage
CAPACITY = SupervisorLimits(
    roots=CHATS_COUNT,
    children=2,
    ending=50,
    batch=50,
    poll_seconds=4.0,
    sync_seconds=9.0,
    claim_seconds=5.0,
    lease_seconds=LEASE_SECONDS,
    drain_seconds=8.0,
)


async def ten_minutes(world):
    start_process(world)
    await trio.sleep(1.0)
    world.back_at = now() + DOWN_SECONDS
    async with trio.open_nursery() as nursery:
        for _ in range(CHATS_COUNT):
            await trio.sleep(BEGIN_SECONDS / CHATS_COUNT)
            nursery.start_soon(begin, world)
    await trio.sleep_until(world.back_at + FINISH_SECONDS)
    for fault in faults(world):
        world.blame(fault)


async def begin(world):
    message = Body(Role.USER, said(world).parts, created_by=ANN)
    request = ask.CreateChat(ask.NewChat(world.new_chat_id(), ANN), (message,))
    await serving(world, lambda process: create(process, request))


def script(provider, prompt):
    world = provider.world
    world.asked_at.append(now())
    if now() < world.back_at:
        return [(0.05, [AnswerFailed(provider.failure(retryable=True, wait=0.0))])]
    return [*provider.text(1, 0.1), ends()]


def faults(world):
    chats = [kept.chat for kept in world.store.chats.values()]
    left = Counter(chat.status.value for chat in chats if chat.status is not Status.WAITING)
    if left or len(chats) != CHATS_COUNT:
        yield f"of {len(chats)} chats {dict(left)} have no answer"
    most, second = busiest(world.asked_at, since=world.back_at)
    if most > SHARE_MAX * CHATS_COUNT:
        yield f"{most} of {CHATS_COUNT} chats ask in the second from {second:.1f} s on"


def busiest(times, *, since):
    """(the most of `times` within one second, when that second begins), of those after `since`."""
    times = times[bisect_left(times, since) :]
    counts = [(bisect_left(times, at + 1.0) - n, at) for n, at in enumerate(times)]
    return max(counts, default=(0, since))
