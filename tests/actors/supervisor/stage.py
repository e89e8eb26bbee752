"""Given-helpers for stories of the supervisor: a store in memory whose clock is the run's, the bus,
and chat actors that do as they are told.

async with a_process() as process:
    chat = await process.new_chat()
    process.actor_of(chat).crash(KeyError("x"))
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import trio
import trio.testing

from actors.chat.api import DrainNow
from actors.law.ids import ChatId, chat_name
from actors.law.requests import Abandon, CreateChat, DynamicTool, FinishTurn, NewChat
from actors.law.store.ports import UnreadableChat, fence_of
from actors.supervisor import api
from actors.supervisor.actor import Supervisor
from actors.supervisor.deps import SupervisorDeps, SupervisorLimits
from adapters.postgres.bus import Switchboard
from runtime.children import Child, open_children
from runtime.mailbox import open_mailbox
from runtime.restart import Restart
from tests.actors.law.chats import ANN, user
from tests.fakes.store import MemoryStore

EPOCH = datetime(2030, 1, 1, tzinfo=UTC)


class VirtualClock:
    """The run's clock as a time of day; `ahead` is how much more has passed for the database."""

    ahead = timedelta(0)

    def __call__(self):
        return EPOCH + timedelta(seconds=trio.current_time()) + self.ahead


STUCK_SECONDS = 5.0  # that a cancelled call takes to let go of a network that is dead


class Cable:
    """Between a process and the store: whole, cut (every call fails), or stuck (none answers, and
    it takes a while to let go)."""

    def __init__(self, store):
        self._store = store
        self.state = "whole"
        self.failing = set()  # calls of these names fail all the same
        self.broken = set()  # calls of these names fail an assertion
        self.early = {}  # name: seconds on the way to the store; nobody can call it back
        self.late = {}  # name: seconds between what the store has done and the answer
        self.torn = set()  # chats whose rows cannot be read
        self.called = []
        self.sent_at = {}  # name: when the last call that was answered left

    def __getattr__(self, name):
        async def call(*args, **kwargs):
            self.called.append(name)
            sent_at = trio.current_time()
            if self.state == "stuck":
                await self._hang()
            if self.state == "cut" or name in self.failing:
                await trio.lowlevel.checkpoint()
                raise ConnectionError("no way to the store")
            assert name not in self.broken, "what cannot be"
            with trio.CancelScope(shield=True):
                await trio.sleep(self.early.get(name, 0))
                answer = await getattr(self._store, name)(*args, **kwargs)
            await trio.sleep(self.late.get(name, 0))
            self.sent_at[name] = sent_at
            return tuple(map(self._as_read, answer)) if name == "acquire" else answer

        return call

    async def _hang(self):
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(STUCK_SECONDS)

    def _as_read(self, stored):
        chat = stored.chat
        if chat.id in self.torn:
            return UnreadableChat(chat.id, chat.holder.runner, ValueError("torn"))
        return stored


class ScriptedLife:
    """Fulfils `RunnableChat`: notes its mail, and ends as it is told."""

    def __init__(self, me, held, process):
        self.me, self.held, self.process = me, held, process
        self.chat = held.stored.chat.id
        self.began_at = trio.current_time()
        self.address, self.mailbox = open_mailbox(chat_name(self.chat), capacity=16)
        self.heard = []
        self.step_seconds = process.step_seconds
        self.cleanup_seconds = 0.0  # that it takes to end, however hard it is pressed
        self._act = trio.Event()
        self._error = None

    async def run(self):
        with self.process.living(self):
            try:
                await self._live()
            finally:
                with trio.CancelScope(shield=True):
                    await trio.sleep(self.cleanup_seconds)

    async def _live(self):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._read)
            await self._act.wait()
            if self._error is not None:
                raise self._error
            nursery.cancel_scope.cancel()

    async def _read(self):
        while True:
            mail = await self.mailbox.receive()
            self.heard.append(mail)
            if isinstance(mail, DrainNow):
                await trio.sleep(self.step_seconds)
                await self.give_back()

    def crash(self, error):
        self._error = error
        self._act.set()

    async def give_back(self):
        await self._write(Abandon())

    async def finish(self):
        await self._write(FinishTurn(), Abandon())

    async def _write(self, *requests):
        store = self.process.store
        chat = (await store.view(self.chat)).chat
        if chat.holder == self.me:
            await store.apply(self.chat, requests, fence=fence_of(chat), by_holder=True)
        self._act.set()


@dataclass
class Process:
    store: MemoryStore
    cable: Cable
    bus: Switchboard
    limits: SupervisorLimits
    step_seconds: float = 1.0
    supervisor: Supervisor = None
    begun: list = field(default_factory=list)  # every chat actor there ever was
    alive: list = field(default_factory=list)
    ended_at: dict = field(default_factory=dict)  # chat: when its actor here was gone
    ends: list = field(default_factory=list)
    crashes_next: bool = False  # the supervisor, once
    crashes_count: int = 0
    _more: trio.Event = field(default_factory=trio.Event)

    @property
    def slots(self):
        return self.supervisor.slots

    @property
    def worker(self):
        return self.slots.worker

    def live(self, me, held):
        if self.crashes_next:
            self.crashes_next = False
            self.crashes_count += 1
            raise KeyError("while it made an actor")
        life = ScriptedLife(me, held, self)
        self.begun.append(life)
        self._more.set()
        self._more = trio.Event()
        return life

    async def has_begun(self, count):
        """So many chat actors have begun to live."""
        while len(self.begun) < count:
            await self._more.wait()
        await settled()

    def living(self, life):
        return _Living(self, life)

    def actor_of(self, chat):
        [life] = [life for life in self.alive if life.chat == chat]
        return life

    def runs(self):
        return [life.chat for life in self.alive]

    def row(self, chat):
        return self.store.chats[chat].chat

    def stored(self, chat):
        """What whoever has just written it knows of it."""
        return replace(self.store._locked(chat), chat=self.row(chat))

    def drain(self):
        api.drain(self.supervisor.address)


class _Living:
    def __init__(self, process, life):
        self.process, self.life = process, life

    def __enter__(self):
        self.process.alive.append(self.life)

    def __exit__(self, *_):
        self.process.alive.remove(self.life)
        self.process.ended_at[self.life.chat] = trio.current_time()


def a_store(bus):
    return MemoryStore(tell=bus.tell, clock=VirtualClock())


@asynccontextmanager
async def a_process(store=None, bus=None, *, step_seconds=1.0, cable=None, **limits):
    """A supervisor at work, with a lease; gone at the end of the block."""
    bus = bus or Switchboard()
    store = store or a_store(bus)
    cable = cable or Cable(store)
    process = Process(store, cable, bus, SupervisorLimits(**limits), step_seconds)
    async with supervising(process):
        await settled()
        yield process


@asynccontextmanager
async def supervising(process):
    """The supervisor of `process` is at work, as long as the block runs."""
    cable = process.cable
    world = SupervisorDeps(cable, cable, cable, process.bus, process.live, uuid4, process.limits)
    process.supervisor = Supervisor(world)
    async with open_children("daemon", capacity=1) as daemon:
        daemon.start(
            Child(
                name="supervisor",
                body=process.supervisor.run,
                restart=Restart(),
                mailbox=process.supervisor.mailbox,
                when_ended=lambda _, end: process.ends.append(end),
            )
        )
        yield
        assert process.crashes_count == daemon.statistics().restarted_count


async def settled():
    """Everything that can happen without time passing has happened."""
    await trio.testing.wait_all_tasks_blocked()


async def a_new_chat(store, *, parent=None, tools=(), then=()):
    declared = tuple(map(DynamicTool, tools))
    new = NewChat(ChatId(uuid4()), ANN, parent_id=parent, root_id=parent, dynamic_tools=declared)
    applied = await store.create(CreateChat(new, (user("hello"),)), then)
    return applied.chat.id
