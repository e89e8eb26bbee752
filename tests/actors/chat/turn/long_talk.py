"""Given-helpers for stories of conversations that are summed up in the middle of a turn.

stage = await settled(WORKS, SUMS_UP, GOES_ON)    one script for each call of the model
"""

from dataclasses import dataclass, replace

import trio

from actors.chat.turn.ports import CompactionPlan, Model, NoTelemetry, ToolOutput
from actors.law.failures import wording
from actors.law.parts.deltas import (
    AnswerFailed,
    AnswerFinished,
    FailureKind,
    FinishReason,
    ReasoningDelta,
    ReasoningEnded,
)
from actors.law.parts.message import JsonText, TokenUsage
from actors.law.parts.prompt import AnthropicOptions, CallSettings, Prompt, UserInput
from actors.law.parts.vendors import OPENAI
from actors.prompts.compaction import INSTRUCTIONS
from actors.prompts.projection import project
from actors.prompts.selecting import Target
from tests.actors.chat.stage import a_chat_at_work
from tests.fakes.scripted import (
    OneModel,
    ScriptedProvider,
    ScriptedTools,
    call,
)

ROOMY = TokenUsage(input_tokens=10, output_tokens=1)
FULL = TokenUsage(input_tokens=80_000, output_tokens=1)  # of a window of 100,000
WINDOW = 100_000
TOO_LONG = AnswerFailed(wording.failure(FailureKind.CONFIG, "anthropic", status=400, too_long=True))
NO_SUCH_CAP = AnswerFailed(wording.failure(FailureKind.CONFIG, "anthropic", status=400))
OUT_OF_ROOM = AnswerFinished(FinishReason.LENGTH, ROOMY)
THOUGHT = [ReasoningDelta("r", "hm "), ReasoningEnded("r")]
SETTINGS = CallSettings(
    max_output_tokens=4096, effort="high", options=AnthropicOptions(thinking_budget_tokens=4000)
)


def ended(usage=ROOMY, reason=FinishReason.STOP):
    return AnswerFinished(reason, usage)


WORKS = [call("a", "read"), ended(FULL, FinishReason.TOOL_CALLS)]  # and fills the window with it
SUMS_UP = ["the ", "summary", ended()]
GOES_ON = ["done", ended()]


class Talk:
    """The port Prompts: what was said, as it is sent."""

    async def prompt_for(self, chat, history, model, tools):
        await trio.lowlevel.checkpoint()
        made = project(
            history,
            target=Target("openai", None, OPENAI.rules),
            identity_of=lambda id: None,
            files={},
        )
        return Prompt(
            model.name, made.messages, ("be kind",), tuple(tools), settings=model.settings
        )

    def forget(self, chat):
        pass


@dataclass
class Plan:
    """The port Compacting: one plan for all chats."""

    threshold: int = 70
    limit: int | None = WINDOW
    by: Model | None = None

    async def plan_for(self, chat, model):
        return CompactionPlan(self.by or model, self.threshold, self.limit)


class Counted(NoTelemetry):
    """The port Telemetry: how summaries ended."""

    def __init__(self):
        self.ends = []

    def compaction_ended(self, model, result):
        self.ends.append(result)


class Told:
    """The port Books."""

    def __init__(self):
        self.booked = []

    async def book(self, chat, what, costs):
        if costs:
            self.booked.append((what, [cost.micros for cost in costs]))


class Set(OneModel):
    async def model_for(self, chat):
        return replace(await super().model_for(chat), settings=SETTINGS)


def a_long_chat(*scripts, plan=None, says="x", **more):
    """A chat that has read so much with its first step that it is summed up before the second."""
    provider = ScriptedProvider(*scripts)
    tools = ScriptedTools().add("read", ToolOutput(JsonText('{"output":"' + says + '"}')))
    return provider, a_chat_at_work(
        provider,
        **{
            "tools": tools,
            "prompts": Talk(),
            "compacting": plan or Plan(),
            "books": Told(),
            "telemetry": Counted(),
            "models": Set(provider),
        }
        | more,
    )


async def settled(*scripts, seconds=600, **more):
    provider, chat = a_long_chat(*scripts, **more)
    async with chat as stage:
        await trio.sleep(seconds)
        stage.provider = provider
        stage.booked = stage.world.books.booked
        stage.counted = stage.world.telemetry.ends
        return stage


def asked_for_summary(prompt):
    [*_, last] = prompt.messages
    return isinstance(last, UserInput) and INSTRUCTIONS in last.parts[-1].text


def roles(stage):
    return "".join(("s" if row.compressed else row.role.value[0]) for row in stage.rows)


DONE = "uatsssa"  # a call and its result, the three rows of the summary, the answer
