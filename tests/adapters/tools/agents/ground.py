"""A parent at rest and the tools by which it works with agents, on a daemon that runs them."""

import json
from dataclasses import dataclass

from actors.parts.model import ToolCallPart
from actors.turn.ports import Calling
from adapters.api.sending import Sending
from adapters.postgres.kin.family import PostgresFamily
from adapters.tools.agents.source import AgentTools
from tests.adapters.api.routes.daemon import Daemon

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
        calling = Calling(self.chat, call, (), show=lambda piece: None, age_seconds=_age)
        return json.loads((await self.tools.run(calling, name)).result)

    async def spawn(self, prompt, **more):
        return await self.call("spawn_agent", type="general", prompt=prompt, **more)

    async def at_rest(self, agent):
        return await self.daemon.at_rest(agent["chat_id"])


async def a_parent(daemon, *said, **new):
    chat = await daemon.begin(*(said or ("hello",)), **new)
    await daemon.at_rest(chat)
    stored = await daemon.chats.store.reading.view(chat)
    chats = daemon.chats
    sending = Sending(chats.store.ledger, chats.supervisor)
    family = PostgresFamily(chats.store.pool)
    tools = AgentTools(sending, family, chats.store.bus, chats.catalogue, chats.mcp.known.usable)
    return Parent(daemon, tools, stored.chat)


def error(document):
    """Of a call that could not be served, and about which nothing more is said."""
    assert ["error"] == list(document)
    return document["error"]
