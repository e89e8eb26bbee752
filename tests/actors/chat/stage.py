"""Given-helpers for stories of the chat actor: a store, a scripted world, and one chat at work."""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import trio

from actors.chat.actor import ChatActor
from actors.chat.api import notify_changed
from actors.chat.turn.deps import TurnDeps, TurnLimits
from actors.chat.turn.work import HeldChat
from actors.law.chat import Body, Role, UserMessage
from actors.law.ids import ChatId, Holder, RunnerId, UserId, WorkerId
from actors.law.parts.message import TextPart, ToolCallPart, ToolResultPart
from actors.law.requests import (
    Acquire,
    CreateChat,
    DynamicTool,
    NewChat,
    RecordGenerationAttempt,
    RecordRetryState,
    SendMessage,
)
from actors.law.store.hints import ChatMoved
from actors.streams.previews import Previews
from runtime.children import run_child
from runtime.scope import CausedScope
from tests.actors.law.chats import RETRY
from tests.fakes.balky import BalkyStore
from tests.fakes.scripted import MemoryJournal, OneModel, PlainPrompts, ScriptedTools, TwoMicros
from tests.fakes.store import MemoryStore
from tests.fakes.watching import pickled, shown

ANN = UserId(uuid4())
OTHER = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)


def run_time():
    """The run's own clock as a time of day."""
    return BEGINNING + timedelta(seconds=trio.current_time())


@dataclass
class Stage:
    store: MemoryStore  # what is true
    balky: BalkyStore  # how the actor gets at it
    chat: ChatId
    actor: ChatActor
    world: TurnDeps
    life: CausedScope
    ends: list = field(default_factory=list)

    @property
    def row(self):
        return self.store.chats[self.chat].chat

    @property
    def status(self):
        return self.row.status.value

    @property
    def rows(self):
        """The messages that stand."""
        return [m.body for m in self.store.chats[self.chat].messages if not m.deleted]

    @property
    def said(self):
        """The history in short: (role, text or call or result) of every part that stands."""
        return [
            (message.body.role.value, _short(part))
            for message in self.store.chats[self.chat].messages
            if not message.deleted
            for part in message.body.parts
        ]

    async def ask(self, *requests):
        """What the API does: a transition, and its hint to the actor."""
        answer = await self.store.apply(self.chat, list(requests))
        notify_changed(self.actor.address)
        return answer

    async def send(self, text, **busy):
        return await self.ask(SendMessage(UserMessage((TextPart(text),), ANN), **busy))

    def shown(self, attempt=1, history_version=None):
        """What watchers of an attempt saw."""
        for key, preview in {**self.world.previews._open, **self.world.previews._closed}.items():
            if key.attempt == attempt and history_version in (None, key.history_version):
                return [_short(said.piece) for said in shown(preview)]
        return None


def _short(part):
    match part:
        case TextPart(text=text):
            return text
        case ToolCallPart(id=id, name=name):
            return f"{name}({id})"
        case ToolResultPart(id=id, result=result, is_error=is_error):
            return f"{id}{'!' if is_error else '='}{result}"
        case _:
            return type(part).__name__


@asynccontextmanager
async def a_chat_at_work(
    provider,
    *,
    tools=None,
    dynamic=(),
    limits=None,
    text="hello",
    journal=None,
    prepare=None,
    clock=None,
    attempt=1,
    failures=0,
    deaths=0,
    approval_policy="",
    **ports,
):
    """One chat, created and acquired in one transaction, with its actor running.

    `prepare(balky store)` is called before the actor begins; `clock` tells the store's time;
    `attempt` is the one that the actor begins with: those before it were made by others, of which
    the provider failed `failures`, and so many processes died in `deaths`. `ports` are other parts
    of its world than the plain ones.
    """
    store = MemoryStore(clock=clock)
    balky = BalkyStore(store)
    if prepare is not None:
        prepare(balky)
    me = Holder(WorkerId(uuid4()), RunnerId(uuid4()))
    new = NewChat(
        ChatId(uuid4()),
        ANN,
        dynamic_tools=tuple(DynamicTool(n) for n in dynamic),
        approval_policy=approval_policy,
    )
    message = Body(Role.USER, (TextPart(text),), created_by=ANN)
    begun = [
        Acquire(OTHER),
        *[Acquire(OTHER, after_death=True)] * deaths,
        *[RecordRetryState(RETRY)] * failures,
        Acquire(me),
        *[RecordGenerationAttempt()] * attempt,
    ]
    applied = await store.create(CreateChat(new, (message,)), begun)
    plain = {
        "models": OneModel(provider),
        "prompts": PlainPrompts(),
        "tools": tools or ScriptedTools(),
        "journal": journal or MemoryJournal(),
        "prices": TwoMicros(),
        "previews": Previews(pickled),
        "limits": limits or TurnLimits(),
        "wall": run_time,
        "chance": lambda: 0.0,
    }
    world = TurnDeps(ledger=balky, reading=balky, **(plain | ports))
    actor = ChatActor(me, HeldChat(applied.stored, attempt_begun=True), world)
    stage = Stage(store, balky, new.id, actor, world, CausedScope())
    async with trio.open_nursery() as nursery:

        async def live():
            stage.ends.append(await run_child(stage.life, actor.run))

        nursery.start_soon(live)
        yield stage
        nursery.cancel_scope.cancel()


def moves(stage):
    """Every status that watchers were told of, in order."""
    return [hint.status.value for hint in stage.store.told if isinstance(hint, ChatMoved)]
