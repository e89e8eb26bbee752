"""The world of one simulation: one store, some processes, and all chance drawn from one seed.

    world = World(7, LIVES["users"])
    world.note("user", "sends", ...)    one line of the trace
    world.blame("what does not hold")   the first one ends the run

Time is virtual; the store's clock is the run's, and may leap ahead of it. `storm` says how much
goes wrong; `calm()` ends all faults.
"""

import itertools
import logging
import random
from collections import defaultdict
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

import trio

from actors.law.ids import ChatId
from runtime.log import LOGGER_NAME
from tests.simulation.budgets import Till
from tests.simulation.checks import Checks
from tests.simulation.line import Away
from tests.simulation.listeners import LISTENER_ERRORS
from tests.simulation.provider import Buggy
from tests.simulation.stopping import Stopper
from tests.simulation.store import WatchedJournal, WatchedStore

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
LEASE_SECONDS = 12.0
INJECTED = (Away, Buggy)  # errors that are ours; any other one in the log is a find
# Entries above `warning` that are no find.
EXPECTED_ERRORS = {"tool.crashed", "provider.crashed", "listener.broken", "chat.deadly"}


class StoreClock:
    """The run's clock as a time of day, for the store; it may be set ahead."""

    def __init__(self):
        self.ahead = 0.0
        self.set_at = -1000.0

    def __call__(self):
        return EPOCH + timedelta(seconds=trio.current_time() + self.ahead)

    @property
    def has_just_leapt(self):
        """Leases may have ended that their holders count on."""
        return trio.current_time() - self.set_at < LEASE_SECONDS

    def leap(self, seconds):
        self.ahead += seconds
        self.set_at = trio.current_time()


class World:
    def __init__(self, seed, life):
        self.seed = seed
        self.life = life
        self.initial_chat = defaultdict(set)  # call: the agents that it has spawned
        self.rng = random.Random(seed)
        drawn = self.rng.choice([0.0, 0.01, 0.03, 0.08, 0.15])
        self.storm = drawn if life.storm is None else life.storm
        self.is_calm = False
        self.trace = []
        self.wrong = None
        self.nursery = None
        self.stopper = Stopper()
        self.clock = StoreClock()
        self.checks = Checks(self)
        self.store = WatchedStore(self, clock=self.clock, lease_seconds=LEASE_SECONDS)
        self.journal = WatchedJournal(self)
        self.till = Till(self) if life.is_limited else None
        self.processes = []
        self._ids = itertools.count(1000)
        self._chat_ids = itertools.count(1)
        self._numbers = itertools.count(1)
        self.texts = itertools.count(1)  # of what users say
        self.styles = {}  # chat: what its model does, in lives of deploys
        self.back_at = 0.0  # when a provider that is down answers again
        self.asked_at = []  # when it was asked

    def chance(self, share):
        return self.rng.random() < share

    def faults(self, share):
        """Whether something goes wrong now that goes wrong this often in a storm of 1."""
        return not self.is_calm and self.chance(share * self.storm)

    def number(self):
        return next(self._numbers)

    def new_id(self):
        return UUID(int=next(self._ids))

    def new_chat_id(self):
        return ChatId(UUID(int=next(self._chat_ids)))

    def note(self, *what):
        self.trace.append((trio.current_time(), *what))
        if len(self.trace) == self.life.events_max:
            self.blame(f"going round in circles: {self.life.events_max} events")

    def blame(self, what):
        """Something does not hold. The first thing is told, and the run ends."""
        if self.wrong is None:
            self.wrong = what
            self.note("WRONG", what)
            self.nursery.cancel_scope.cancel()
            for process in self.living():
                process.kill()

    def calm(self):
        """From now on nothing goes wrong any more."""
        self.is_calm = True
        self.note("calm")
        for process in self.living():
            process.heal()
            process.thaw()

    def living(self):
        return [process for process in self.processes if not process.is_gone]

    def process_of(self, worker):
        return next((p for p in self.processes if worker in p.workers), None)


def short(id):
    """An id as the trace writes it."""
    return "-" if id is None else f"#{id.int % 100_000}"


class Listener(logging.Handler):
    """What the code under test logs becomes part of the trace; what nobody expects is a find."""

    def __init__(self, world):
        super().__init__(logging.INFO)
        self.world = world

    def emit(self, record):
        world, fields = self.world, record.fields
        event, error = record.getMessage(), fields.get("error")
        where = fields.get("chat") or fields.get("worker") or fields.get("child") or ""
        world.note("log", event, str(where)[-6:], type(error).__name__ if error else "")
        if event == "lease.lost":
            world.process_of(fields["worker"]).has_let_go.add(fields["worker"])
        ours = INJECTED if event != "listener.broken" else LISTENER_ERRORS
        unforeseen = error is not None and not _is_of(error, ours)
        if unforeseen or (record.levelno >= logging.ERROR and event not in EXPECTED_ERRORS):
            world.blame(f"{event}: {fields}")


@contextmanager
def listening(world):
    logger, listener = logging.getLogger(LOGGER_NAME), Listener(world)
    level, propagates = logger.level, logger.propagate
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)
        logger.propagate = propagates


def _is_of(error, kinds):
    if isinstance(error, BaseExceptionGroup):
        return all(_is_of(inner, kinds) for inner in error.exceptions)
    return isinstance(error, kinds)
