"""What chats ask for besides the store: a provider and tools that do as chance tells them.

The windows of the models are small, so that chats are summed up now and then, and a prompt may be
found too long before anybody knew.
"""

import json
from contextlib import asynccontextmanager

import trio

from actors.chat.turn.ports import CompactionPlan, LocalTool, Model, OfferedTools, ToolOutput
from actors.law.chat import Role, Verdict
from actors.law.failures import wording
from actors.law.parts.deltas import (
    AnswerFailed,
    AnswerFinished,
    FailureKind,
    FinishReason,
    ProviderToolResult,
    ReasoningDelta,
    ReasoningEnded,
    TextDelta,
    TextEnded,
    ToolCall,
    ToolInputDelta,
    ToolInputStarted,
)
from actors.law.parts.message import JsonText, TokenUsage
from actors.law.parts.prompt import Asker, CallSettings, Prompt, ToolDefinition, UserInput
from actors.prompts.compaction import INSTRUCTIONS
from tests.simulation import agents, disks
from tests.simulation.agents import AGENT_TOOLS

SCHEMA = JsonText('{"type":"object","properties":{}}')
TOOL_SECONDS = 6.0  # deadline of every local tool
CLIENT_TOOLS = ("ask", "pick")
USE_DISKS = ("fetch", "write")  # in lives of disks
LOCAL_TOOLS = tuple(
    LocalTool(ToolDefinition(name, "", SCHEMA), TOOL_SECONDS, **rules)
    for name, rules in {
        "fetch": {"repeatable": True},
        "push": {},
        "write": {"serial": True},
        "plan": {"exclusive": True},
        "bye": {"ends_turn": True},
    }.items()
)
RULES = {tool.tool.name: tool for tool in (*LOCAL_TOOLS, *AGENT_TOOLS)}
CALLED = ("fetch", "push", "push", "write", "write", "plan", "bye", "gone", "ask", "pick", "ask")

DELEGATING = ("spawn_agent", "wait_agent", "spawn_agent", "wait_agent")

HANGS = object()
WINDOW_TOKENS = 100
THRESHOLD_PERCENT = 70


class Buggy(Exception):
    """What the code of a provider or of a tool lets out that should not have."""


class Provider:
    """Answers with a script drawn anew for every prompt: pairs of a pause and a batch."""

    def __init__(self, world):
        self.world = self._world = world

    @asynccontextmanager
    async def stream(self, prompt):
        yield _Answer(self._script(prompt))

    def _script(self, prompt):
        world, rng = self._world, self._world.rng
        if world.life.script is not None:
            return world.life.script(self, prompt)
        if _sums_up(prompt):
            return self._summary()
        if world.is_calm:
            return [*self.text(1, 0.1), self.end()]
        draw = rng.choices(
            ("text", "tools", "retry", "final", "cut", "bug", "empty", "filter", "silence", "long"),
            (30, 45, 5 + 60 * world.storm, 2, 4, 2, 3, 2, 3, 3),
        )[0]
        said = self.text(rng.randrange(5), rng.choice([0.0, 0.1, 1.0, 4.0]))
        match draw:
            case "text":
                return [*said, *self._thought(), *self.text(2, 0.1), self.end()]
            case "tools":
                return [*said, *self.calls(prompt), self.end(FinishReason.TOOL_CALLS)]
            case "retry" | "cut":
                said = said if draw == "cut" else []
                return [*said, (rng.random(), [AnswerFailed(self.failure(retryable=True))])]
            case "final":
                return [(rng.random(), [AnswerFailed(self.failure(retryable=False))])]
            case "bug":
                return [*said, (0.1, Buggy("connection torn"))]
            case "empty":
                return [(rng.random(), [AnswerFinished(FinishReason.STOP)])]
            case "filter":
                said = rng.choice([said, self._thought(), []])
                return [*said, (0.1, [AnswerFinished(FinishReason.CONTENT_FILTER)])]
            case "silence":
                return [*said, (0, HANGS)]
            case "long":
                return [(rng.random(), [AnswerFailed(TOO_LONG)])]

    def _summary(self):
        """Seldom at the first try; mostly in the end."""
        world, rng = self._world, self._world.rng
        if world.is_calm:
            return [*self.text(1, 0.1), self.end()]
        said = self.text(rng.choice([1, 3, 200]), rng.choice([0.0, 0.02]))
        draw = rng.choices(
            ("all", "cut", "empty", "retry", "final", "long", "silence", "bug"),
            (60, 8, 8, 8 + 60 * world.storm, 1, 5, 3, 2),
        )[0]
        match draw:
            case "all":
                return [*said, self.end()]
            case "cut":
                return [*said, self.end(FinishReason.LENGTH)]
            case "empty":
                return [*self._thought(), self.end()]
            case "retry" | "final":
                failure = self.failure(retryable=draw == "retry")
                return [(rng.random(), [AnswerFailed(failure)])]
            case "long":
                return [(rng.random(), [AnswerFailed(TOO_LONG)])]
            case "silence":
                return [*said, (0, HANGS)]
            case "bug":
                return [*said, (0.1, Buggy("connection torn"))]

    def end(self, reason=FinishReason.STOP):
        """With what it has read: in peace there is room for ever."""
        read = 10 if self._world.is_calm else self._world.rng.choice([0, 10, 40, 60, 80, 95])
        return (0, [AnswerFinished(reason, TokenUsage(input_tokens=read, output_tokens=1))])

    def failure(self, *, retryable, wait=None):
        wait = self._world.rng.choice([0.0, 0.0, 5.0]) if wait is None else wait
        return wording.failure(
            FailureKind.OVERLOADED, "openai", retryable=retryable, retry_after_seconds=wait
        )

    def text(self, pieces, pause):
        block = f"t{self._world.number()}"
        said = [(pause, [TextDelta(block, f"{block}.{n} ")]) for n in range(pieces)]
        return [*said, (0, [TextEnded(block)])]

    def _thought(self):
        if self._world.chance(0.7):
            return []
        block = f"r{self._world.number()}"
        return [(0.1, [ReasoningDelta(block, "hm "), ReasoningEnded(block)])]

    def calls(self, prompt):
        """One to four calls. Some providers give the same ids again with every answer."""
        world, rng = self._world, self._world.rng
        called = CALLED + DELEGATING * self._delegates(prompt.asker.chat)
        called += USE_DISKS * 4 * world.life.uses_disks
        names = [rng.choice(called) for _ in range(rng.choice([1, 1, 2, 3, 4]))]
        reuses = prompt.asker.chat.int % 3 == 0
        ids = [f"call{n if reuses else world.number()}" for n in range(len(names))]
        batches = [b for id, name in zip(ids, names, strict=True) for b in self.call(id, name)]
        if world.chance(0.1):
            batches.append([ToolCall("srch", "web", JsonText("{}"), provider_executed=True)])
            batches.append([ProviderToolResult("srch", "web", JsonText("{}"))])
        return [(rng.choice([0.0, 0.1, 2.0]), batch) for batch in batches]

    def _delegates(self, chat):
        return self._world.life.delegates and self._world.store.chats[chat].chat.is_root

    def call(self, id, name):
        args = JsonText("{}" if self._world.chance(0.95) else '{"broken')
        if self._world.chance(0.5):
            return [[ToolCall(id, name, args)]]
        began = [ToolInputStarted(id, name), ToolInputDelta(id, name, args[:1])]
        return [began, [ToolInputDelta(id, name, args[1:]), ToolCall(id, name, args)]]


TOO_LONG = wording.failure(FailureKind.CONFIG, "openai", status=400, too_long=True)


def _sums_up(prompt):
    [*_, last] = prompt.messages
    return INSTRUCTIONS in last.parts[-1].text


class _Answer:
    def __init__(self, script):
        self._script = iter(script)

    def __aiter__(self):
        return self

    async def __anext__(self):
        step = next(self._script, None)
        if step is None:
            raise StopAsyncIteration
        pause, batch = step
        await trio.sleep(pause)
        if batch is HANGS:
            await trio.sleep_forever()
        if isinstance(batch, Exception):
            raise batch
        return batch


class Models:
    """The port Models: one model for all; prompts carry which attempt they are of."""

    def __init__(self, process):
        self._process = process
        self._provider = Provider(process.world)

    async def model_for(self, chat):
        await trio.lowlevel.checkpoint()
        return Model(self._provider, None, "sim", "openai", "model", CallSettings())

    async def prompt_for(self, chat, history, model, tools):
        await trio.lowlevel.checkpoint()
        self._process.world.checks.asking(self._process, chat, history)
        said = tuple(
            UserInput(row.body.parts)
            for row in history
            if row.body.role is Role.USER and not row.deleted
        )
        return Prompt(model.name, said, tools=tuple(tools), asker=Asker(chat.owner_id, chat.id))

    def forget(self, chat):
        pass


class Compacting:
    """The port of this name: all models have one small window."""

    def __init__(self, process):
        self._world = process.world

    async def plan_for(self, chat, model):
        await trio.lowlevel.checkpoint()
        return CompactionPlan(model, THRESHOLD_PERCENT, WINDOW_TOKENS)

    def ended(self, model, result):
        self._world.note("a summary", result)


class Grants:
    """The port of this name: what somebody has allowed always."""

    def __init__(self, process):
        self._world = process.world

    async def of(self, root, chat):
        await trio.lowlevel.checkpoint()
        family = [kept for kept in self._world.store.chats.values() if kept.chat.root == root]
        decided = [one for kept in family for one in kept.decided]
        return {one.tool for one in decided if one.verdict is Verdict.ALLOW_ALWAYS}


class Tools:
    """The port Tools. What a tool does is counted per call."""

    def __init__(self, process):
        self._process = process

    async def for_turn(self, chat, history):
        await trio.lowlevel.checkpoint()
        declared = tuple(ToolDefinition(name, "", SCHEMA) for name in sorted(chat.dynamic_tools))
        delegating = AGENT_TOOLS if chat.is_root and self._process.world.life.delegates else ()
        return Toolset(self._process, OfferedTools((*LOCAL_TOOLS, *delegating), declared))


class Toolset:
    """The port of this name: what a turn can call."""

    def __init__(self, process, offered):
        self._process = process
        self.offered = offered

    async def run(self, calling):
        chat, call = calling.chat, calling.call
        process, world = self._process, self._process.world
        world.checks.running(process, chat, call)
        if call.name in DELEGATING:
            output = await agents.run(process, calling)
            world.checks.ran(process, chat, call, output)
            return output
        if world.life.uses_disks and call.name in USE_DISKS:
            said = await disks.work(process, chat, call, TOOL_SECONDS)
            output = ToolOutput(JsonText(json.dumps({"output": said})))
            world.checks.ran(process, chat, call, output)
            return output
        seconds = world.rng.choice([0.0, 0.1, 1.0, 3.0, 5.0, 5.0, 2 * TOOL_SECONDS])
        await trio.sleep(0.0 if world.is_calm else seconds)
        if world.chance(0.03):
            raise Buggy("a tool crashed")
        output = ToolOutput(JsonText(json.dumps({"output": world.number()})))
        world.checks.ran(process, chat, call, output)
        return output
