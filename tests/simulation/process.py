"""One process: the real supervisor with real chat actors, until it is drained or killed."""

from functools import partial

import trio

from actors.chat.actor import ChatActor
from actors.chat.histories import KnownHistories
from actors.chat.turn.deps import TurnDeps, TurnLimits
from actors.chat.turn.ports import NO_BOOKS
from actors.chat.turn.spending import NO_BUDGETS
from actors.law.store.hints import HintsLost
from actors.law.store.ports import Applied
from actors.streams.previews import Previews
from actors.supervisor import api
from actors.supervisor.actor import Supervisor
from actors.supervisor.deps import SupervisorDeps, SupervisorLimits
from actors.tools.approvals import ApprovalSettings
from adapters.postgres.bus import Switchboard
from runtime.children import Child, open_children
from runtime.clock import now
from runtime.restart import Restart
from tests.fakes.scripted import TwoMicros
from tests.fakes.watching import pickled
from tests.simulation.budgets import Books, Budgets
from tests.simulation.line import Line
from tests.simulation.provider import Compacting, Grants, Models, Tools
from tests.simulation.world import LEASE_SECONDS

CAPACITY = SupervisorLimits(
    roots=3,
    children=2,
    ending=2,
    batch=2,
    poll_seconds=4.0,
    sync_seconds=9.0,
    claim_seconds=5.0,
    lease_seconds=LEASE_SECONDS,
    drain_seconds=8.0,
)
GUARDS = TurnLimits(startup_seconds=9.0, silence_seconds=12.0, summary_seconds=20.0)
ASK_SECONDS = 200.0  # for a person to decide
STOP_SECONDS = 30.0  # for a drain, all in all


class Process:
    def __init__(self, world):
        self.world = world
        self.name = f"p{len(world.processes) + 1}"
        self.is_gone = self.is_dead = self.is_frozen = self.is_draining = False
        self.is_serving = False  # clients can connect to it
        self.requests_count = 0  # of clients that wait for an answer
        self.line_is_cut = self.line_is_stuck = False
        self.line_healed = trio.Event()
        self.thawed_at = -1.0
        self.parked = []  # what would have woken tasks while it is frozen
        self.workers = []  # every name in which it has beaten
        self.has_let_go = set()  # those whose lease it knows to be lost
        self.actors = {}  # runner: chat, of the actors that live here
        self.waits = {}  # one for each parent that waits for agents here: which, and since when
        self.feeds = []  # that listen to its attempts
        self.disks = {}  # root: the disk of the workspace of its family
        self.told_to_stop_at = self.left_in_seconds = 0.0
        self.bus, self.histories = Switchboard(), KnownHistories()
        self.line, self.journal = Line(self, world.store), Line(self, world.journal)
        self.previews = Previews(pickled)
        self.scope = trio.CancelScope()
        self._told_to_stop = trio.Event()
        models = Models(self)
        self._turns = TurnDeps(
            ledger=self.line,
            reading=self.line,
            models=models,
            prompts=models,
            tools=Tools(self),
            journal=self.journal,
            prices=TwoMicros(),
            budgets=Budgets(self) if world.till else NO_BUDGETS,
            books=Books(self) if world.till else NO_BOOKS,
            previews=self.previews,
            histories=self.histories,
            compacting=Compacting(self),
            approving=ApprovalSettings(Grants(self), deadline_seconds=ASK_SECONDS),
            limits=GUARDS,
            wall=world.clock,
            chance=world.rng.random,
        )
        line = self.line
        self.supervisor = Supervisor(
            SupervisorDeps(
                line, line, line, self.bus, self._live, world.new_id, world.life.capacity
            )
        )

    async def host(self):
        """Everything that is started from here on is stopped by `freeze`."""
        self.world.stopper.adopt(self)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run)
        self.is_gone = True
        self.left_in_seconds = now() - self.told_to_stop_at if self.is_draining else 0.0
        self.world.note(self.name, "is gone")
        if not self.is_dead:
            self.world.checks.has_stopped(self)

    async def _run(self):
        with self.scope, self.world.life.listens(self):
            async with trio.open_nursery() as self.nursery:
                self.is_serving = True
                for body in self.world.life.beside(self):
                    self.nursery.start_soon(body)
                async with open_children(self.name, capacity=1) as children:
                    children.start(self._child())
                    await self._told_to_stop.wait()
                    self.is_serving = False
                self.nursery.cancel_scope.cancel()

    def _child(self):
        return Child(
            name="supervisor",
            body=self.supervisor.run,
            restart=Restart(),
            mailbox=self.supervisor.mailbox,
            tell_to_stop=partial(api.drain, self.supervisor.address),
            grace_seconds=STOP_SECONDS,
        )

    def _live(self, me, held):
        return _Actor(self, me, ChatActor(me, held, self._turns))

    # what happens to it

    def drain(self):
        """SIGTERM; the second one is in more of a hurry."""
        if self._told_to_stop.is_set():
            api.drain(self.supervisor.address)
        else:
            self.told_to_stop_at = now()
        self._told_to_stop.set()
        self.is_draining = True

    def kill(self):
        """SIGKILL: from now on nothing that it does reaches anybody."""
        self.is_gone = self.is_dead = True
        self.thaw()
        self.actors.clear()
        self.scope.cancel()

    def freeze(self):
        self.is_frozen = True

    def thaw(self):
        """Everything that was to wake a task meanwhile does it now."""
        if self.is_frozen:
            self.is_frozen, self.thawed_at = False, trio.current_time()
            parked, self.parked = self.parked, []
            for task, value in parked:
                trio.lowlevel.reschedule(task, value)

    def learn(self, answer):
        """Take note of what the store has answered, if that is a commit of this process."""
        for applied in answer if isinstance(answer, tuple) else (answer,):
            if isinstance(applied, Applied):
                self.histories.note_commit(applied)

    def cut(self):
        self.line_is_cut = True

    def stick(self):
        self.line_is_stuck = True

    def heal(self):
        if self.line_is_cut or self.line_is_stuck:
            self.line_is_cut = self.line_is_stuck = False
            self.line_healed.set()
            self.line_healed = trio.Event()
            if self.world.chance(0.5):
                self.deliver(HintsLost(), 0.1)

    def deliver(self, news, delay):
        self.world.nursery.start_soon(self._deliver, news, delay)

    async def _deliver(self, news, delay):
        await trio.sleep(delay)
        if not (self.is_dead or self.line_is_cut):
            self.bus.hear(news)


def start_process(world):
    process = Process(world)
    world.processes.append(process)
    world.note(process.name, "starts")
    world.nursery.start_soon(process.host)
    return process


def keep_serving(world):
    """Start a process if none is there that stays."""
    if all(process.is_draining for process in world.living()):
        start_process(world)


class _Actor:
    """A chat actor, and that it lives."""

    def __init__(self, process, me, actor):
        self.address, self.mailbox = actor.address, actor.mailbox
        self._process, self._me, self._actor = process, me, actor

    async def run(self):
        actors = self._process.actors
        actors[self._me.runner] = self._actor.chat
        try:
            return await self._actor.run()
        finally:
            actors.pop(self._me.runner, None)
