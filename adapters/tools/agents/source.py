"""What the tools for agents do: families of chats over the same ledger as everybody else.

A call that is made again after a crash finds what it has done: a child's id comes from its call,
and a message is kept with a receipt in the call's name.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import UUID

from actors.ids import ChatId, ModelConfigId
from actors.machine.chat import Chat, Message, UserMessage
from actors.machine.refusals import InvalidState, NotAllowed, Repeated
from actors.machine.requests import Busy, CreateChat, Interrupt, NewChat, SendMessage
from actors.machine.states import Status
from actors.parts.model import JsonText, TextPart
from actors.store.answers import Applied
from actors.store.bus import Bus
from actors.store.receipts import Receipt
from actors.subagents import rules
from actors.subagents.ports import Family, Kin
from actors.subagents.rules import AgentType
from actors.subagents.waiting import wait_for
from actors.titles.fallback import fallback_title
from actors.tools.gating import allowed, kind_of
from actors.turn.ports import Calling, LocalTool, ToolOutput
from actors.turn.steps import error_output
from adapters.api.sending import Sending
from adapters.models.catalogue import Catalogue
from adapters.models.choosing import Choice, NoChoice
from adapters.tools.agents.asked import (
    LISTED_MAX,
    TOOLS,
    InterruptAgent,
    ListAgents,
    ListSubagentModels,
    MessageAgent,
    SpawnAgent,
    WaitAgent,
    shown,
)
from adapters.tools.schemas import read


class Wrong(Exception):
    """The call cannot be served; the words are for the model."""


@dataclass(frozen=True, slots=True)
class AgentTools:
    """Fulfils `adapters.tools.toolbox.ToolSource`."""

    sending: Sending
    family: Family
    bus: Bus
    catalogue: Catalogue

    async def offered(self, chat: Chat, history: Sequence[Message]) -> Sequence[LocalTool]:
        kind = kind_of(chat)
        return [tool for tool in TOOLS if allowed(tool.tool.name, kind)]

    async def run(self, calling: Calling, name: str) -> ToolOutput:
        arguments, do = self._deeds()[name]
        asked = read(arguments, calling.call.args or "{}")
        if isinstance(asked, str):
            return error_output(asked)
        try:
            return _said(await do(calling, asked))
        except Wrong as wrong:
            return error_output(str(wrong))

    def _deeds(self) -> Mapping[str, tuple[Any, Callable[[Calling, Any], Awaitable[Any]]]]:
        return {
            "spawn_agent": (SpawnAgent, self._spawn),
            "list_subagent_models": (ListSubagentModels, self._models),
            "wait_agent": (WaitAgent, self._wait),
            "message_agent": (MessageAgent, self._message),
            "interrupt_agent": (InterruptAgent, self._interrupt),
            "list_agents": (ListAgents, self._list),
        }

    # spawning

    async def _spawn(self, calling: Calling, asked: SpawnAgent) -> Mapping[str, Any]:
        chat, prompt = calling.chat, asked.prompt.strip()
        type = rules.type_of(asked.type)
        why = rules.may_spawn(chat) or (type if isinstance(type, str) else None)
        if why or isinstance(type, str):
            raise Wrong(why)
        if not prompt:
            raise Wrong("prompt is empty; say what the agent is to do")
        choice = await self._model(chat, asked, type)
        child = rules.child_id(chat, calling.call.id)
        new = NewChat(
            child,
            chat.owner_id,
            title=asked.title.strip()[:80] or fallback_title(prompt),
            parent_id=chat.id,
            root_id=chat.root,
            plan_mode="" if type is AgentType.EXPLORE else chat.plan_mode,
            mode=type.value if type is AgentType.EXPLORE else "",
            workspace_id=chat.workspace_id,
            mcp_server_ids=chat.mcp_server_ids,
        )
        said = UserMessage((TextPart(prompt),), chat.owner_id, choice.model, choice.effort)
        hidden = await self.catalogue.system_messages()
        made = await self.sending.create(CreateChat(new, (*hidden, said.as_body())))
        if not isinstance(made, Applied | NotAllowed):
            raise Wrong(str(made))
        # Refused: the id is taken, by this very call before a crash.
        return rules.introduced(await self._kin(chat, child))

    async def _model(self, chat: Chat, asked: SpawnAgent, type: AgentType) -> Choice:
        try:
            wanted = UUID(asked.model_config_id) if asked.model_config_id.strip() else None
        except ValueError:
            raise Wrong("model_config_id is no UUID; see list_subagent_models") from None
        effort = asked.reasoning_effort.strip() or None
        last = chat.last_model_config_id
        override = None
        if wanted is None:
            override = await self.catalogue.for_child(
                chat.owner_id, context=type.value, effort=effort
            )
        if override is not None:
            return override
        named = None if wanted is None else ModelConfigId(wanted)
        choice = await self.catalogue.choose(chat.owner_id, named, effort, last=last)
        if isinstance(choice, NoChoice):
            raise Wrong(f"{choice.message} {choice.detail}; see list_subagent_models")
        return choice

    async def _models(self, calling: Calling, asked: ListSubagentModels) -> Mapping[str, Any]:
        found = await self.catalogue.askable(calling.chat.owner_id)
        return {"models": [shown(model) for model in found]}

    # waiting

    async def _wait(self, calling: Calling, asked: WaitAgent) -> Mapping[str, Any]:
        agents = [ChatId(id) for id in asked.agents]
        if not agents:
            raise Wrong("chat_id is missing; say which agents to wait for")
        for agent in agents:
            await self._kin(calling.chat, agent)
        found = await wait_for(
            calling.chat.id,
            agents,
            family=self.family,
            bus=self.bus,
            seconds=asked.seconds,
            any_of_them=asked.until == "any",
        )
        documents = [await self._told(child) for child in found]
        if asked.chat_id is not None and len(documents) == 1:
            return documents[0]
        return {
            "agents": documents,
            "timed_out": any(document.get("timed_out", False) for document in documents),
        }

    async def _told(self, child: Kin) -> Mapping[str, Any]:
        if not rules.has_settled(child.status):
            return {**rules.introduced(child), "timed_out": True}
        return rules.settled(child, await self.family.report(child.id))

    # talking

    async def _message(self, calling: Calling, asked: MessageAgent) -> Mapping[str, Any]:
        chat, text = calling.chat, asked.message.strip()
        if not text:
            raise Wrong("message is empty; say what the agent is to be told")
        child = await self._kin(chat, ChatId(asked.chat_id))
        if child.archived:
            raise Wrong("this agent is archived; spawn another")
        message = UserMessage((TextPart(text),), chat.owner_id)
        busy = Busy.INTERRUPT if asked.interrupt else Busy.QUEUE
        key = f"call/{chat.id}/{chat.history_version}/{calling.call.id}"
        receipt = Receipt(chat.owner_id, key, sha256(text.encode()).digest())
        sent = await self.sending.apply(
            child.id, [SendMessage(message, busy)], is_root=False, receipt=receipt
        )
        if not isinstance(sent, Applied | Repeated):
            raise Wrong(str(sent))
        now = await self._kin(chat, child.id)
        was_running = child.status is Status.RUNNING
        return {**rules.introduced(now), "interrupted": asked.interrupt and was_running}

    async def _interrupt(self, calling: Calling, asked: InterruptAgent) -> Mapping[str, Any]:
        child = await self._kin(calling.chat, ChatId(asked.chat_id))
        if child.archived or child.status is Status.ERROR:
            state = "archived" if child.archived else "stopped by an error"
            raise Wrong(f"this agent is {state}; there is nothing to interrupt")
        if child.status is not Status.RUNNING:
            stopping = child.status is Status.INTERRUPTING
            return {**rules.introduced(child), "interrupted": stopping}
        done = await self.sending.apply(
            child.id, [Interrupt("interrupted by its parent")], is_root=False
        )
        if not isinstance(done, Applied | NotAllowed | InvalidState):
            raise Wrong(str(done))
        now = await self._kin(calling.chat, child.id)
        return {**rules.introduced(now), "interrupted": isinstance(done, Applied)}

    async def _list(self, calling: Calling, asked: ListAgents) -> Mapping[str, Any]:
        limit = min(max(asked.limit, 1), LISTED_MAX)
        page = await self.family.children(calling.chat.id, limit=limit, offset=asked.offset)
        agents = [
            {
                **rules.introduced(child),
                "created_at": child.created_at.isoformat(),
                "updated_at": child.updated_at.isoformat(),
            }
            for child in page.shown
        ]
        return {
            "agents": agents,
            "total": page.total,
            "returned": len(agents),
            "offset": asked.offset,
            "has_more": asked.offset + len(agents) < page.total,
        }

    async def _kin(self, chat: Chat, agent: ChatId) -> Kin:
        """A descendant of this chat. Of others nothing is said, not even that they exist."""
        found = await self.family.descendants(chat.id, [agent])
        if not found:
            raise Wrong(f"{agent} is no agent of this chat; see list_agents")
        return found[0]


def _said(document: Mapping[str, Any]) -> ToolOutput:
    return ToolOutput(JsonText(json.dumps(document, ensure_ascii=False)))
