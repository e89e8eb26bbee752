"""Agents in lives of families: models of roots spawn them and wait for them, by the real rules.

`run(seed, "families")` is such a life, and so are those of deploys.
"""

import json

from actors.agents.ports import FamilyMember
from actors.agents.rules import child_id, has_settled
from actors.agents.waiting import wait_for
from actors.chat.turn.ports import LocalTool, ToolOutput
from actors.law.chat import Body, Role
from actors.law.parts.message import JsonText, TextPart, ToolResultPart
from actors.law.parts.prompt import ToolDefinition
from actors.law.requests import CreateChat, NewChat
from actors.law.store.ports import Applied
from adapters.access.changes import ChatSender
from runtime.clock import now

AGENTS_MAX = 3  # of a root
SCHEMA = JsonText('{"type":"object","properties":{}}')
AGENT_TOOLS = (
    LocalTool(ToolDefinition("spawn_agent", "", SCHEMA), 45.0, repeatable=True),
    LocalTool(ToolDefinition("wait_agent", "", SCHEMA), 45.0, repeatable=True, only_waits=True),
)


async def run(process, calling):
    do = _spawn if calling.call.name == "spawn_agent" else _wait
    return ToolOutput(JsonText(json.dumps(await do(process, calling.chat, calling.call))))


async def _spawn(process, chat, call):
    world, id = process.world, child_id(chat, call.id)
    if len(set(_children(world, chat.id)) - {id}) >= AGENTS_MAX:
        return {"output": "enough"}
    new = NewChat(
        id,
        chat.owner_id,
        parent_id=chat.id,
        root_id=chat.root,
        approval_policy=chat.approval_policy,
    )
    said = Body(Role.USER, (TextPart(f"spawned {id}"),), created_by=chat.owner_id)
    made = await ChatSender(process.line, process.supervisor).create(CreateChat(new, (said,)))
    if isinstance(made, Applied):
        world.initial_chat[chat.id, chat.history_version, call.id].add(id)
        world.note(process.name, "spawns an agent of", chat.id.int)
    return {"spawned": str(id)} if id in world.store.chats else {"output": str(made)}


async def _wait(process, chat, call):
    world, children = process.world, _children(process.world, chat.id)
    waiting = object()
    process.waits[waiting] = chat.id, now()
    try:
        found = await wait_for(
            chat.id,
            children,
            family=Family(process.line),
            bus=process.bus,
            seconds=world.rng.choice([0.5, 4.0, 20.0]),
            any_of_them=world.chance(0.3),
        )
    finally:
        del process.waits[waiting]
    settled = [str(child.id) for child in found or () if has_settled(child.status)]
    world.note(
        process.name, "has waited for agents of", chat.id.int, len(settled), "of", len(children)
    )
    return {"settled": settled}


class Family:
    """As much of the port as waiting asks for, over a process's line to the store."""

    def __init__(self, line):
        self._line = line

    async def with_reports(self, of, wanted):
        found = [(await self._line.view(id)).chat for id in wanted]
        return [
            FamilyMember(
                each.id, of, "", "", each.status, each.archived, each.last_error, None, None
            )
            for each in found
        ]


def faults(world):
    """What is wrong with families once everything is at rest."""
    chats = world.store.chats
    for key, born in world.initial_chat.items():
        if len(born) > 1:
            yield f"{key} has spawned {born}"
    for kept in chats.values():
        chat = kept.chat
        if not chat.is_root and chat.archived is not chats[chat.root].chat.archived:
            yield f"chat {chat.id.int} is an orphan: its family is archived, or it is"
        for id in _spawned(kept.messages):
            if id not in map(str, _children(world, chat.id)):
                yield f"chat {chat.id.int} has been told of an agent {id} that is not there"


def _spawned(messages):
    parts = [part for row in messages for part in row.body.parts]
    results = [p for p in parts if isinstance(p, ToolResultPart) and p.name == "spawn_agent"]
    told = [json.loads(result.result) for result in results]
    return [each["spawned"] for each in told if isinstance(each, dict) and "spawned" in each]


def _children(world, parent):
    return [id for id, kept in world.store.chats.items() if kept.chat.parent_id == parent]
