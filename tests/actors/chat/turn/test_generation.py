"""One action of a turn after the other: what leads to what, in one write each."""

import pytest
import trio

from actors.chat.turn.ports import JournalEntry, ToolOutput
from actors.chat.turn.tool_batch import MAY_HAVE_RUN
from actors.law.chat import ChatError
from actors.law.parts.deltas import AnswerFinished, FinishReason, TextEnded
from actors.law.parts.message import Cost, JsonText, TokenUsage
from actors.law.requests import BusyBehaviour
from runtime.ends import Finished as Ended
from tests.actors.chat.stage import a_chat_at_work
from tests.actors.law.chats import NOW
from tests.fakes.scripted import (
    DONE,
    MemoryJournal,
    OneModel,
    PlainPrompts,
    ScriptedProvider,
    ScriptedTools,
    call,
)

HELLO = ("user", "hello")


async def settled(*scripts, seconds=60, **more):
    """The stage when all has been played, and what the provider was asked."""
    provider = ScriptedProvider(*scripts)
    async with a_chat_at_work(provider, **more) as stage:
        await trio.sleep(seconds)
        stage.provider = provider
        return stage


async def test_an_answer_of_nothing_ends_the_turn_without_a_message(autojump_clock):
    stage = await settled([DONE])

    assert [HELLO] == stage.said
    assert ("waiting", None, 2) == (stage.status, stage.row.holder, stage.row.snapshot_version)


async def test_an_answer_stands_with_what_it_took(autojump_clock):
    stage = await settled(
        [2, "Hello", TextEnded("t"), AnswerFinished(FinishReason.STOP, TokenUsage(3, 5))]
    )

    [_, answer] = stage.rows
    assert (TokenUsage(3, 5), Cost(2, "table"), 2000) == (
        answer.usage,
        answer.cost,
        answer.runtime_ms,
    )


async def test_an_answer_that_is_withheld_stops_the_chat_and_says_why(autojump_clock):
    stage = await settled([AnswerFinished(FinishReason.CONTENT_FILTER)])

    assert ("error", "content_filter") == (stage.status, stage.row.last_error.kind)
    assert [HELLO] == stage.said


async def test_a_tool_that_ends_the_turn_ends_it_without_another_word(autojump_clock):
    tools = ScriptedTools().add("plan", ends_turn=True)

    stage = await settled([call("p", "plan")], ["never"], tools=tools)

    assert ("tool", 'p={"output": "plan done"}') == stage.said[-1]
    assert ("waiting", None) == (stage.status, stage.row.holder)
    assert 1 == len(stage.provider.prompts)


async def test_a_tool_that_failed_to_end_the_turn_is_answered_by_the_model(autojump_clock):
    refused = ToolOutput(JsonText('{"error":"no"}'), is_error=True)
    tools = ScriptedTools().add("plan", refused, ends_turn=True)

    stage = await settled([call("p", "plan")], ["sorry"], tools=tools)

    assert ("assistant", "sorry") == stage.said[-1]


async def test_a_refused_batch_is_a_step_like_any_other(autojump_clock):
    tools = ScriptedTools().add("think", exclusive=True)

    stage = await settled(
        [call("t", "think"), call("c", "ask")], ["again"], tools=tools, dynamic=("ask",)
    )

    assert [] == tools.ran
    assert ["t", "c"] == [row.parts[0].id for row in stage.rows[2:4]]
    assert ("assistant", "again") == stage.said[-1]


async def test_a_call_without_valid_arguments_is_stored_without_them_and_answered(autojump_clock):
    tools = ScriptedTools().add("read")

    stage = await settled([call("a", "read", '{"half')], ["again"], tools=tools)

    assert stage.rows[1].parts[0].args is None
    assert stage.rows[2].parts[0].is_error
    assert [] == tools.ran
    assert "waiting" == stage.status


async def test_a_message_that_steers_enters_behind_the_step(autojump_clock):
    provider = ScriptedProvider([call("a", "read")], ["turned"])
    tools = ScriptedTools().add("read", 2)
    async with a_chat_at_work(provider, tools=tools) as stage:
        await trio.sleep(1)
        await stage.send("left", busy=BusyBehaviour.STEER)
        await trio.sleep(5)

        said = [("user", "left"), ("assistant", "turned")]
        assert said == stage.said[-2:]
        assert 2 == len(provider.prompts)


# what is asked


class Watched(PlainPrompts):
    """Keeps what it was to make a prompt of."""

    def __init__(self):
        self.seen = []

    async def prompt_for(self, chat, history, model, tools):
        self.seen.append(([m.body.role.value for m in history], [tool.name for tool in tools]))
        return await super().prompt_for(chat, history, model, tools)


async def test_the_model_sees_all_that_stands_and_all_tools_local_ones_first(autojump_clock):
    tools, prompts = ScriptedTools().add("read"), Watched()

    await settled([call("a", "read")], ["done"], tools=tools, dynamic=("ask",), prompts=prompts)

    names = ["read", "ask"]
    assert [
        (["user"], names),
        (["user", "assistant", "tool"], names),
    ] == prompts.seen


class Told:
    """The port Titles: who is told that a model is asked."""

    def __init__(self):
        self.told = []

    def begin(self, chat, history, model):
        self.told.append((chat.id, len(history), model.name))


async def test_titles_are_told_whenever_a_model_is_asked(autojump_clock):
    titles = Told()

    stage = await settled(
        [call("a", "read")], ["done"], tools=ScriptedTools().add("read"), titles=titles
    )

    assert [(stage.chat, 1, "model"), (stage.chat, 3, "model")] == titles.told


NONE = ChatError("There is no model to ask.", kind="config")


class NoModel(OneModel):
    async def model_for(self, chat):
        return NONE


class NoPrompt(PlainPrompts):
    async def prompt_for(self, *args):
        return NONE


@pytest.mark.parametrize("ports", [{"models": NoModel(None)}, {"prompts": NoPrompt()}])
async def test_a_chat_that_cannot_be_asked_about_stops_and_says_why(autojump_clock, ports):
    stage = await settled(["never"], **ports)

    assert ("error", NONE, None) == (stage.status, stage.row.last_error, stage.row.holder)
    assert [] == stage.provider.prompts
    assert [Ended()] == stage.ends


class Unsteady(PlainPrompts):
    """Fails a few times."""

    def __init__(self, times):
        self.times = times

    async def prompt_for(self, *args):
        self.times -= 1
        if self.times >= 0:
            raise OSError("files: gone for a moment")
        return await super().prompt_for(*args)


async def test_what_fails_while_a_prompt_is_made_is_made_again(autojump_clock):
    stage = await settled(["Hello"], prompts=Unsteady(3))

    assert [HELLO, ("assistant", "Hello")] == stage.said
    assert 1 == len(stage.provider.prompts)


# a batch that another process had begun


async def begun_elsewhere(entry, *, repeatable=False):
    """A chat whose process died in its first batch, taken over by us."""
    journal = MemoryJournal()
    tools = ScriptedTools().add("push", 1, repeatable=repeatable).add("read", 1)
    provider = ScriptedProvider([call("a", "push"), call("b", "read")], ["done"])

    class Found(MemoryJournal):
        async def begin(self, chat, calls):
            journal.entries[chat.id, chat.history_version, "a"] = entry
            return await journal.begin(chat, calls)

        async def end(self, *args):
            await journal.end(*args)

    async with a_chat_at_work(provider, tools=tools, journal=Found()) as stage:
        await trio.sleep(10)
        assert ("assistant", "done") == stage.said[-1]
        return tools.ran, [row.parts[0] for row in stage.rows[2:4]]


async def test_a_call_that_ended_elsewhere_is_not_run_again(autojump_clock):
    pushed = JournalEntry("a", NOW, ToolOutput(JsonText('{"output":"pushed"}')), NOW)

    ran, results = await begun_elsewhere(pushed)

    assert ["b"] == ran
    assert [("a", '{"output":"pushed"}'), ("b", '{"output": "read done"}')] == [
        (result.id, result.result) for result in results
    ]


async def test_a_call_that_was_cut_off_elsewhere_may_have_run(autojump_clock):
    ran, [pushed, _] = await begun_elsewhere(JournalEntry("a", NOW))

    assert ["b"] == ran
    assert pushed.is_error
    assert MAY_HAVE_RUN in pushed.result


async def test_a_call_that_was_cut_off_elsewhere_is_run_again_if_that_does_no_harm(autojump_clock):
    ran, [pushed, _] = await begun_elsewhere(JournalEntry("a", NOW), repeatable=True)

    assert ["a", "b"] == sorted(ran)
    assert '{"output": "push done"}' == pushed.result
