"""The kinds of life that a seed can be played as. Each says what goes on, and what goes wrong.

users       some minutes of users, operators and fate
families    likewise, and models of roots spawn agents and wait for them
listeners   likewise, and those who listen to attempts raise
budgets     likewise, and money is set aside for calls of models under a limit
disks       likewise, and disks of workspaces hang; processes are told to stop meanwhile
housekeeping  likewise, and housekeepers archive chats and remove things by a lease that they share
notices     likewise, and every process delivers the news to receivers that fail now and then
deploys     an hour in which every few seconds a process is replaced by a new one
outage      five hundred chats of a provider that is down for ten minutes
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field

import trio

from actors.supervisor.deps import SupervisorLimits
from tests.simulation import budgets, deploys, disks, housekeeping, listeners, notices, outage
from tests.simulation.deeds import Deeds
from tests.simulation.process import CAPACITY, keep_serving

DEEDS_COUNT = 120  # of users and operators
PAUSE_SECONDS = 1.2  # between two of them, on average


async def some_minutes(world):
    deeds = Deeds(world)
    for _ in range(DEEDS_COUNT):
        await trio.sleep(world.rng.expovariate(1 / PAUSE_SECONDS))
        keep_serving(world)
        deeds.one()


@dataclass(frozen=True)
class Life:
    """One kind of life."""

    trouble: Callable = some_minutes  # what goes on until nothing goes wrong any more
    storm: float | None = None  # how much goes wrong; None: as the seed has it
    delegates: bool = False  # models of roots spawn agents
    is_limited: bool = False  # money is set aside for calls
    uses_disks: bool = False  # some tools work with files
    hits: Mapping[str, float] = field(default_factory=dict)  # deeds of fate that are its own
    script: Callable | None = None  # what the provider says; None: as chance has it
    capacity: SupervisorLimits = CAPACITY
    events_max: int = 20_000  # of one run; the usual is some hundred
    listens: Callable = nullcontext  # beside each process, as long as it lives
    beside: Callable = lambda process: ()  # what runs in each process beside its chats
    surroundings: Callable = nullcontext  # of the whole run
    faults: Callable = lambda world: ()  # what does not hold at the end


LIVES = {
    "users": Life(),
    "families": Life(delegates=True),
    "listeners": Life(listens=listeners.listening_to, faults=listeners.faults),
    "budgets": Life(is_limited=True, faults=budgets.faults),
    "disks": Life(
        storm=0.0,
        hits={"_hang": 10, "_drain": 1},
        uses_disks=True,
        surroundings=disks.virtual_threads,
        faults=disks.faults,
    ),
    "housekeeping": Life(beside=housekeeping.keepers, faults=housekeeping.faults),
    "notices": Life(listens=notices.sending, surroundings=notices.filed, faults=notices.faults),
    "deploys": Life(
        deploys.an_hour,
        storm=0.0,
        delegates=True,
        script=deploys.script,
        events_max=400_000,
        faults=deploys.faults,
    ),
    "outage": Life(
        outage.ten_minutes,
        storm=0.0,
        script=outage.script,
        capacity=outage.CAPACITY,
        events_max=400_000,
        faults=outage.faults,
    ),
}
