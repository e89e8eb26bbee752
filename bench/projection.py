"""What does it cost to make a prompt of a long history, and of the same one step later?

On paper: a row of a history is looked at a dozen times (what the model sees, whose it is, what it
says, which call it answers), some 8 us each; a thousand of them are 8 ms. Nothing of that changes
until the next step but the rows that are new. What is left is to see that nothing has changed, and
to put it together: half a microsecond a row.

The history is that of an agent at work: a question every sixty messages, thoughts, words, two calls
and their results, 2.5 MB all in all. It is asked for as a turn does, at each of the two kinds of
providers: those with rules of their own for tools that they run themselves, and all others. The
floor is the same history written as JSON once. All of it is this process's own CPU time.
"""

import json
import time
from datetime import UTC, datetime
from uuid import UUID

import msgspec
import trio

from actors.chat.turn.ports import Model
from actors.law.chat import Body, Message, Role, Visibility
from actors.law.ids import ChatId, MessageId, ModelConfigId, UserId
from actors.law.parts.message import (
    JsonText,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import CallSettings, Prompt
from actors.law.parts.vendors import vendor_of
from actors.law.requests import NewChat
from adapters.daemon.daemon import tune_garbage_collector
from adapters.models.prompting import Prompting, TurnContext
from bench.report import Target

QUESTION = "what does it cost to make a prompt of a long history, and of the same one step later?"
ROWS = 1_000
TARGETS = (
    Target("anthropic_ms", f"a prompt of {ROWS:,} messages for Anthropic, ms of CPU", at_most=20),
    Target("openai_ms", "the same for OpenAI", at_most=20),
    Target("anthropic_next_share", "the next step's prompt / the first, Anthropic", at_most=0.25),
    Target("openai_next_share", "the same, OpenAI", at_most=0.25),
)
STEP = 3  # messages that a step adds: an answer, and the results of its two calls
ROUNDS = 15  # the best counts: others may work on this machine
AT = datetime(2030, 1, 1, tzinfo=UTC)
MODEL = ModelConfigId(UUID(int=3))
CHAT = NewChat(ChatId(UUID(int=1)), UserId(UUID(int=2))).initial_chat()


def history(count: int) -> tuple[Message, ...]:
    bodies = [Body(Role.SYSTEM, (TextPart("You are an agent. " * 50),), Visibility.MODEL)]
    step = 0
    while len(bodies) < count:
        if step % 20 == 0:
            bodies.append(Body(Role.USER, (TextPart("And now do this, please. " * 20),)))
        step += 1
        bodies += _step(step)
    rows = enumerate(bodies[:count], start=1)
    return tuple(Message(MessageId(n), n, AT, False, body) for n, body in rows)


def _step(number: int) -> list[Body]:
    read, run = f"read-{number}", f"run-{number}"
    said: tuple[Part, ...] = (
        ReasoningPart("I think about it for a while. " * 20),
        TextPart("Let me look at it. " * 10),
        ToolCallPart(read, "read_file", _json({"path": f"/src/file{number}.py", "limit": 200})),
        ToolCallPart(run, "execute", _json({"command": "ls -la " * 20})),
    )
    results = {read: {"content": "a line of code\n" * 200}, run: {"output": "file.txt\n" * 100}}
    return [
        Body(Role.ASSISTANT, said, model_config_id=MODEL),
        *(Body(Role.TOOL, (ToolResultPart(id, "t", _json(r)),)) for id, r in results.items()),
    ]


def _json(value: object) -> JsonText:
    return JsonText(json.dumps(value))


class Surroundings:
    """Everything was said by one provider, and nothing more is told."""

    async def turn_context(self, chat: object) -> TurnContext:
        return TurnContext((), lambda _: "me")


class NoFiles:
    async def read(self, wanted: object) -> dict[object, object]:
        return {}


async def _measured(label: str) -> dict[str, float]:
    whole, first, following = history(ROWS + STEP), [], []
    rules = vendor_of(label).rules
    model = Model(None, MODEL, "me", label, "model", CallSettings(), rules=rules)  # type: ignore[arg-type]
    for _ in range(ROUNDS):
        prompting = Prompting(Surroundings(), NoFiles())  # type: ignore[arg-type]
        for rows, spent in ((whole[:ROWS], first), (whole, following)):
            began = time.process_time()
            prompt = await prompting.prompt_for(CHAT, rows, model, ())
            spent.append((time.process_time() - began) * 1e3)
            assert isinstance(prompt, Prompt)
    return {
        f"{label}_ms": min(first),
        f"{label}_next_ms": min(following),
        f"{label}_next_share": min(following) / min(first),
    }


def _floor() -> dict[str, float]:
    rows, spent = history(ROWS), []
    for _ in range(ROUNDS):
        began = time.process_time()
        written = msgspec.json.encode(rows)
        spent.append((time.process_time() - began) * 1e3)
    return {"floor_ms": min(spent), "megabytes": len(written) / 1e6}


def measure() -> dict[str, float]:
    tune_garbage_collector()  # as the daemon does
    figures = _floor()
    for label in ("anthropic", "openai"):
        figures |= trio.run(_measured, label)
    return figures
