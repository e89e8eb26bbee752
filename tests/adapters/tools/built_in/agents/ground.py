"""A parent at rest and the tools by which it works with agents, on a daemon that runs them."""

import json
from dataclasses import dataclass, replace

from actors.chat.turn.ports import ToolInvocation
from actors.law.parts.message import JsonText, ToolCallPart
from actors.law.requests import (
    Abandon,
    Acquire,
    CallToApprove,
    CommitStep,
    CreateChat,
    EnterRequiresAction,
    NewChat,
)
from adapters.access.changes import ChatSender
from adapters.postgres.family import PostgresFamily
from adapters.tools.built_in.agents import AgentTools
from tests.actors.law.chats import HOLDER, assistant, call, user
from tests.adapters.chats.routes.daemon import Daemon
from tests.adapters.postgres.stores import new_chat_id
from tests.fakes.balky import Away

SLOW = "[[first-token-ms: 60000]] take your time"


@dataclass
class Parent:
    daemon: Daemon
    tools: AgentTools
    chat: object
    calls: int = 0

    async def call(self, name, _id=None, _age=0.0, **arguments):
        """What the model is told of it."""
        self.calls += 1
        call = ToolCallPart(_id or f"call-{self.calls}", name, json.dumps(arguments, default=str))
        calling = ToolInvocation(self.chat, call, (), show=lambda piece: None, age_seconds=_age)
        return json.loads((await self.tools.run(calling, name)).result)

    async def spawn(self, prompt, **more):
        return await self.call("spawn_agent", type="general", prompt=prompt, **more)

    async def at_rest(self, agent):
        return await self.daemon.at_rest(agent["chat_id"])

    def unheard(self, *calls):
        """The next answer of each of these calls to the store gets lost, after what it did."""
        chats = self.daemon.chats
        ledger = Unheard(chats.store.ledger, calls)
        family = Unheard(self.tools.family, calls)
        self.tools = replace(
            self.tools, sending=ChatSender(ledger, chats.supervisor), family=family
        )
        return self

    async def waiting_agent(self, said="work"):
        """An agent that waits for its user: he is asked whether a call may run."""
        owner, id = self.chat.owner_id, new_chat_id()
        new = NewChat(id, owner, parent_id=self.chat.id, root_id=self.chat.id)
        asked = [
            CommitStep((assistant(call("c", "push")),)),
            EnterRequiresAction((CallToApprove("c", "push", JsonText("{}")),), 600.0),
            Abandon(),
        ]
        store = self.daemon.chats.store
        await store.leases.beat(HOLDER.worker)  # so that nobody else does it
        await store.ledger.create(CreateChat(new, (user(said),)), [Acquire(HOLDER)])
        await store.ledger.apply(id, asked)
        return {"chat_id": id}


async def a_parent(daemon, *said, **new):
    chat = await daemon.begin(*(said or ("hello",)), **new)
    await daemon.at_rest(chat)
    stored = await daemon.chats.store.reading.view(chat)
    chats = daemon.chats
    sending = ChatSender(chats.store.ledger, chats.supervisor)
    family = PostgresFamily(chats.store.pool)
    tools = AgentTools(sending, family, chats.store.bus, chats.catalogue, chats.mcp.registry.usable)
    return Parent(daemon, tools, stored.chat)


class Unheard:
    def __init__(self, port, calls):
        self._port, self._lost = port, set(calls)

    def __getattr__(self, name):
        method = getattr(self._port, name)

        async def call(*args, **more):
            answer = await method(*args, **more)
            if name in self._lost:
                self._lost.remove(name)
                raise Away(f"{name}: the connection is gone")
            return answer

        return call


def error(document):
    """Of a call that could not be served, and about which nothing more is said."""
    assert ["error"] == list(document)
    return document["error"]
