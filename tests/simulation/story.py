"""How a life goes: trouble, then peace, then the end. The kinds of trouble are in lives.py."""

import hypothesis  # noqa: F401  # importing it makes trio's scheduler seedable
import trio
from trio.testing import MockClock

from runtime.clock import now
from tests.simulation import agents
from tests.simulation.lives import LIVES
from tests.simulation.process import CAPACITY, keep_serving, start_process
from tests.simulation.world import World, listening

PEACE_SECONDS = 120.0  # until every chat must be at rest, once nothing goes wrong any more
CLIENT_SECONDS = 300.0  # more, if a client is waited for that never answers
END_SECONDS = 120.0  # until every process must have stopped
EVENTS_SHOWN = 40


class Failed(AssertionError):
    """A seed under which something did not hold."""


def run(seed, life="users"):
    """Play one seed to its end; the trace of it. Raises `Failed` if something does not hold."""
    world = World(seed, LIVES[life])
    trio._core._run._r.seed(seed)
    with listening(world), world.life.surroundings(world):
        trio.run(
            play,
            world,
            clock=MockClock(autojump_threshold=0),
            instruments=[world.stopper],
        )
    if world.wrong is not None:
        last = "\n".join(map(line, world.trace[-EVENTS_SHOWN:]))
        raise Failed(f"seed {seed} of {life}: {world.wrong}\n{last}")
    return world.trace


def line(event):
    at, *what = event
    return f"{at:9.3f}  {' '.join(str(word) for word in what)}"


async def play(world):
    async with trio.open_nursery() as world.nursery:
        start_process(world)
        await world.life.trouble(world)
        world.calm()
        keep_serving(world)
        await come_to_rest(world)
        await compare_with_the_store(world)
        world.checks.nothing_is_left()
        for fault in (*agents.faults(world), *world.life.faults(world)):
            world.blame(fault)
        last = world.living()
        for process in last:
            process.drain()
        await have_stopped(world)
        world.checks.all_is_handed_back(last)


async def come_to_rest(world):
    """Every chat waits for a user, or, under some seeds, for a client that never answers."""
    clients_wait = world.chance(0.7)
    seconds = PEACE_SECONDS if clients_wait else PEACE_SECONDS + CLIENT_SECONDS
    until = now() + seconds
    while why := world.checks.at_rest(clients_wait=clients_wait):
        if now() > until:
            world.blame(f"no rest after {seconds:g} s: {why}")
        await trio.sleep(5)


async def compare_with_the_store(world):
    """A process that lost the news of its own commit finds out when it compares."""
    with trio.move_on_after(CAPACITY.sync_seconds + 1):
        while world.checks.left_over():
            await trio.sleep(1)


async def have_stopped(world):
    with trio.move_on_after(END_SECONDS):
        while world.living():
            await trio.sleep(1)
    if world.living():
        world.blame(f"{[process.name for process in world.living()]} do not stop")
