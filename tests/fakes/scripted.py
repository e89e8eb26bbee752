"""A world for stories of the chat actor: a provider that plays a script, tools that do as told.

    provider = ScriptedProvider(["Hel", 0.5, "lo"], [fails(...)], [call("c1", "f"), DONE])

One script per call of the model, in order; the last one is played again and again. Of a script,
a text is a piece of text, a number a silence in seconds, a delta itself, a list of deltas what
arrives together; an exception is raised, `HANGS` waits for ever, `BREAKS_OFF` ends without an end.
"""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import trio

from actors.chat.turn.ports import JournalEntry, LocalTool, Model, OfferedTools, ToolOutput
from actors.law.failures import wording
from actors.law.parts.deltas import (
    AnswerFailed,
    AnswerFinished,
    FailureKind,
    FinishReason,
    TextDelta,
    TextEnded,
    ToolCall,
)
from actors.law.parts.message import Cost, JsonText
from actors.law.parts.prompt import CallSettings, Prompt, ToolDefinition

HANGS = object()
BREAKS_OFF = object()
DONE = AnswerFinished(FinishReason.STOP)
OVERLOADED = AnswerFailed(
    wording.failure(FailureKind.OVERLOADED, "anthropic", retryable=True, status=529)
)
NO_CREDIT = AnswerFailed(wording.failure(FailureKind.AUTH, "anthropic", status=401))


def call(id, name, args="{}"):
    return ToolCall(id, name, JsonText(args))


class ScriptedProvider:
    """A provider without a network. `prompts` are what it was asked."""

    def __init__(self, *scripts):
        self.scripts = list(scripts)
        self.prompts = []
        self.hung_up = 0

    @asynccontextmanager
    async def stream(self, prompt):
        self.prompts.append(prompt)
        script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
        try:
            yield self._play(script)
        except trio.Cancelled:
            self.hung_up += 1
            raise

    async def _play(self, script):
        await trio.lowlevel.checkpoint()
        for item in script:
            if item is HANGS:
                await trio.sleep_forever()
            elif isinstance(item, str):
                yield [TextDelta("t", item)]
            elif isinstance(item, int | float):
                await trio.sleep(item)
            elif isinstance(item, Exception):
                raise item
            elif item is BREAKS_OFF:
                return
            else:
                yield item if isinstance(item, list) else [item]
        ended = [delta for item in script for delta in (item if isinstance(item, list) else [item])]
        if not any(isinstance(item, AnswerFinished | AnswerFailed) for item in ended):
            yield [TextEnded("t"), DONE]


@dataclass
class OneModel:
    """The port Models, with one model for all."""

    provider: ScriptedProvider

    async def model_for(self, chat):
        await trio.lowlevel.checkpoint()
        return Model(self.provider, None, "scripted", "anthropic", "model", CallSettings())


class PlainPrompts:
    """The port Prompts: what is asked does not matter to these stories."""

    async def prompt_for(self, chat, history, model, tools):
        await trio.lowlevel.checkpoint()
        return Prompt(model.name, (), tools=tuple(tools))

    def forget(self, chat):
        pass


class TwoMicros:
    """The port Prices: everything costs the same."""

    def cost(self, model, usage):
        return Cost(2, "table")


@dataclass
class ScriptedTools:
    """Tools by name: seconds of work, then an output; or `HANGS`; or an exception."""

    tools: dict[str, LocalTool] = field(default_factory=dict)
    scripts: dict[str, list] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    ages: list[float] = field(default_factory=list)  # of the calls that ran
    declared: tuple[ToolDefinition, ...] = ()

    def add(self, name, *script, seconds=60, **rules):
        tool = ToolDefinition(name, "", JsonText('{"type":"object","properties":{}}'))
        self.tools[name] = LocalTool(tool, seconds, **rules)
        self.scripts[name] = list(script)
        return self

    async def for_turn(self, chat, history):
        """Fulfils both ports, Tools and Toolset: what is offered is the same for all."""
        await trio.lowlevel.checkpoint()
        empty = JsonText('{"type":"object","properties":{}}')
        self.declared = tuple(
            ToolDefinition(name, "", empty) for name in sorted(chat.dynamic_tools)
        )
        return self

    @property
    def offered(self):
        return OfferedTools(tuple(self.tools.values()), self.declared)

    async def run(self, calling):
        call = calling.call
        self.ran.append(call.id)
        self.ages.append(calling.age_seconds)
        await trio.lowlevel.checkpoint()
        for item in self.scripts[call.name]:
            if item is HANGS:
                await trio.sleep_forever()
            elif isinstance(item, int | float):
                await trio.sleep(item)
            elif isinstance(item, Exception):
                raise item
            else:
                return item
        return ToolOutput(JsonText(json.dumps({"output": f"{call.name} done"})))


@dataclass
class MemoryJournal:
    """The port Journal in memory; what stands in it when a process dies is put in by hand."""

    entries: dict = field(default_factory=dict)

    async def begin(self, chat, calls):
        await trio.lowlevel.checkpoint()
        known = [self.entries[_key(chat, c.id)] for c in calls if _key(chat, c.id) in self.entries]
        for c in calls:
            self.entries.setdefault(_key(chat, c.id), JournalEntry(c.id, datetime.now(UTC)))
        return tuple(known)

    async def look(self, chat, calls):
        await trio.lowlevel.checkpoint()
        found = (self.entries.get(_key(chat, c.id)) for c in calls)
        return tuple(entry for entry in found if entry is not None)

    async def end(self, chat, tool_call_id, output):
        await trio.lowlevel.checkpoint()
        key = _key(chat, tool_call_id)
        begun = self.entries[key].begun_at
        self.entries[key] = JournalEntry(tool_call_id, begun, output, datetime.now(UTC))


def _key(chat, tool_call_id):
    return chat.id, chat.history_version, tool_call_id
