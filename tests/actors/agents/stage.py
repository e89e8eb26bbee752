"""A stage on which a parent spawns an agent, waits for it and repeats what it reported: two whole
processes (supervisor, chat actors, the tools for agents) on one store in memory, in virtual time.

    story = Story()
    await story.play(cause, at=1.3)    `cause(story)` strikes at that second; then all comes to rest

Every question to the store is some time on its way there, and some on its way back: whoever is
stopped in between has asked for nothing, or does not hear what came of it.
"""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

import trio

from actors.agents.ports import ChildReport, FamilyCounts, FamilyMember
from actors.agents.rules import has_settled, is_whole, report_in
from actors.chat.actor import ChatActor
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.ports import Model
from actors.law.chat import Role
from actors.law.ids import ChatId, ModelConfigId
from actors.law.parts.deltas import AnswerFinished, FinishReason, TextDelta, TextEnded, ToolCall
from actors.law.parts.message import JsonText, ToolCallPart, ToolResultPart
from actors.law.parts.prompt import Asker, CallSettings, Prompt
from actors.law.requests import CreateChat, NewChat
from actors.law.states import Status
from actors.streams.previews import Previews
from actors.supervisor import api
from actors.supervisor.actor import Supervisor
from actors.supervisor.api import Intake
from actors.supervisor.deps import SupervisorDeps, SupervisorLimits
from adapters.access.changes import ChatSender
from adapters.models.choosing import ModelChoice
from adapters.postgres.bus import Switchboard
from adapters.tools.built_in.agents import AgentTools
from adapters.tools.toolbox import Toolbox
from tests.actors.law.chats import ANN, user
from tests.actors.supervisor.stage import VirtualClock
from tests.fakes.scripted import MemoryJournal, TwoMicros
from tests.fakes.store import MemoryStore
from tests.fakes.watching import pickled

REPORT = "the report"
WAY_SECONDS = 0.05  # to the store, and back again
THOUGHT_SECONDS = 0.3  # of a parent's model
WORK_SECONDS = 2.0  # of an agent's
LEASE_SECONDS = 3.0
LIMITS = SupervisorLimits(
    roots=2, children=2, lease_seconds=LEASE_SECONDS, poll_seconds=0.5, drain_seconds=0.0
)
PATIENCE_SECONDS = 120.0
REST = (Status.WAITING, Status.ERROR)


class Way:
    """Between one process and what is shared."""

    def __init__(self, process, target):
        self._process, self._target = process, target

    def __getattr__(self, name):
        method = getattr(self._target, name)

        async def call(*args, **kwargs):
            await trio.sleep(WAY_SECONDS)
            if self._process.is_dead:
                await trio.sleep_forever()
            answer = await method(*args, **kwargs)
            await trio.sleep(WAY_SECONDS)
            return answer

        return call


class Process:
    def __init__(self, story):
        self.story, self.is_dead, self.is_gone = story, False, False
        self.bus = Switchboard()
        self.scope = trio.CancelScope()
        store, family = Way(self, story.store), Way(self, Family(story.store))
        intake = Intake(story.limits, uuid4)
        sending = ChatSender(store, intake)
        agents = AgentTools(sending, family, self.bus, Catalogue(), no_servers)
        models = Models()
        world = TurnDeps(
            ledger=store,
            reading=store,
            models=models,
            prompts=models,
            tools=Toolbox(NoTools(), [agents]),
            journal=Way(self, story.journal),
            prices=TwoMicros(),
            previews=Previews(pickled),
        )
        self.supervisor = Supervisor(
            SupervisorDeps(
                store,
                store,
                store,
                self.bus,
                lambda me, held: ChatActor(me, held, world),
                uuid4,
                story.limits,
            ),
            intake,
        )

    async def run(self):
        with self.scope:
            await self.supervisor.run()

    def kill(self):
        self.is_dead = self.is_gone = True
        self.scope.cancel()

    def drain(self):
        self.is_gone = True  # as far as anybody may count on it
        api.drain(self.supervisor.address)


class Story:
    """`lost`: the numbers of hints that reach nobody."""

    def __init__(self, lost=frozenset(), *, limits=LIMITS):
        self.limits = limits
        self._lost, self._told = lost, 0
        self.store = MemoryStore(tell=self._tell, clock=VirtualClock(), lease_seconds=LEASE_SECONDS)
        self.journal = MemoryJournal()
        self.processes = []
        self.nursery = None
        self.parent = None

    def _tell(self, hint):
        self._told += 1
        if self._told in self._lost:
            return
        for process in self.processes:
            if not process.is_dead:
                process.bus.hear(hint)

    def start(self):
        process = Process(self)
        self.processes.append(process)
        self.nursery.start_soon(process.run)
        return process

    async def play(self, cause, at=0.0):
        async with trio.open_nursery() as self.nursery:
            first, _ = self.start(), self.start()
            while first.supervisor.slots.worker is None:
                await trio.sleep(WAY_SECONDS)
            new = NewChat(ChatId(uuid4()), ANN)
            self.parent = new.id
            sending = ChatSender(Way(first, self.store), first.supervisor)
            await sending.create(CreateChat(new, (user("delegate"),)))
            await trio.sleep(at)
            await cause(self)
            with trio.fail_after(PATIENCE_SECONDS):
                while not all(kept.chat.status in REST for kept in self.store.chats.values()):
                    await trio.sleep(0.5)
            self.nursery.cancel_scope.cancel()

    # what there is

    @property
    def row(self):
        return self.store.chats[self.parent].chat

    @property
    def children(self):
        kept = self.store.chats.values()
        return [each.chat for each in kept if each.chat.parent_id == self.parent]

    def holder(self):
        """The process that works for the family, if any does."""
        chats = [self.row, *self.children]
        workers = {chat.holder.worker for chat in chats if chat.holder is not None}
        of = {process.supervisor.slots.worker: process for process in self.processes}
        return next((of[worker] for worker in workers if worker in of), self.processes[0])

    def results(self):
        """What the parent was told, by the calls of its model: each has one."""
        parts = [part for row in self.history(self.parent) for part in row.body.parts]
        calls = [part.id for part in parts if isinstance(part, ToolCallPart)]
        results = [part for part in parts if isinstance(part, ToolResultPart)]
        assert calls == [result.id for result in results]
        return [(result.name, json.loads(result.result)) for result in results]

    def history(self, chat):
        return [row for row in self.store.chats[chat].messages if not row.deleted]

    def answers(self, chat):
        said = [row.body for row in self.history(chat) if row.body.role is Role.ASSISTANT]
        return [text for body in said if (text := report_in(body.parts))]


@dataclass
class Family:
    """The port of this name, read from the store in memory."""

    store: MemoryStore

    async def descendants(self, of, wanted):
        found = (self.store.chats.get(id) for id in wanted)
        return [_kin(each) for each in found if each is not None and each.chat.parent_id == of]

    async def with_reports(self, of, wanted):
        return await self.descendants(of, wanted)

    async def family_counts(self, of, *, besides):
        kept = [each.chat for each in self.store.chats.values() if each.chat.parent_id == of]
        others = [chat for chat in kept if chat.id not in besides]
        return FamilyCounts("api", len(others), sum(chat.status not in REST for chat in others))


def _kin(kept):
    chat = kept.chat
    said = None
    if has_settled(chat.status):
        bodies = [row.body for row in kept.messages if not row.deleted]
        answers = [report_in(body.parts) for body in bodies if body.role is Role.ASSISTANT]
        source = None if bodies[-1].cost is None else bodies[-1].cost.source
        said = ChildReport(answers[-1] if answers else "", is_whole(bodies[-1].role, source))
    when = kept.created_at, kept.updated_at
    return FamilyMember(
        chat.id, chat.parent_id, "", "", chat.status, chat.archived, chat.last_error, *when, said
    )


class Catalogue:
    async def for_child(self, user, **_):
        return None

    async def choose(self, user, wanted, effort, *, last):
        return ModelChoice(ModelConfigId(UUID(int=1)), effort)

    async def system_messages(self, **_):
        return ()


class NoTools:
    """Of clients."""

    async def of(self, chat):
        return ()


async def no_servers(chat):
    return ()


class Models:
    """The ports Models and Prompts, and the provider: it knows what stands in the history."""

    async def model_for(self, chat):
        await trio.lowlevel.checkpoint()
        return Model(self, None, "stage", "openai", "model", CallSettings())

    async def prompt_for(self, chat, history, model, tools):
        await trio.lowlevel.checkpoint()
        parts = tuple(part for row in history for part in row.body.parts)
        return Prompt("model", parts, asker=Asker(chat.owner_id, chat.root, chat.parent_id))

    def forget(self, chat):
        pass

    @asynccontextmanager
    async def stream(self, prompt):
        is_child = prompt.asker.subchat is not None
        results = [part for part in prompt.messages if isinstance(part, ToolResultPart)]
        say = partial(_spoken, REPORT) if is_child else partial(_line, results)
        yield _after(WORK_SECONDS if is_child else THOUGHT_SECONDS, say)


async def _after(seconds, say):
    await trio.sleep(seconds / 2)
    yield [TextDelta("t", "")]
    await trio.sleep(seconds / 2)
    yield say()


def _line(results):
    if not results:
        return _called("spawn_agent", type="general", prompt="do your part")
    told = json.loads(results[-1].result)
    if "chat_id" in told and ("report" not in told or told.get("timed_out")):
        return _called("wait_agent", chat_id=told["chat_id"], timeout_seconds=20)
    return _spoken(f"heard: {told.get('report', told)}")


def _spoken(text):
    return [TextDelta("t", text), TextEnded("t"), AnswerFinished(FinishReason.STOP)]


def _called(name, **arguments):
    call = ToolCall(f"call-{name}", name, JsonText(json.dumps(arguments)))
    return [call, AnswerFinished(FinishReason.TOOL_CALLS)]
