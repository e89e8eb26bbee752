"""A conversation that is summed up in the middle of a turn, whatever the model makes of that."""

from dataclasses import dataclass, replace

import pytest
import trio

from actors.chat.actor import ChatActor
from actors.compaction.wording import INSTRUCTIONS
from actors.failures import wording
from actors.machine.chat import UserMessage
from actors.machine.requests import Acquire, Busy, EditMessage, RequestCompaction
from actors.parts.deltas import Failed, Finished, FinishReason, ReasoningDelta, ReasoningEnded
from actors.parts.failure import FailureKind
from actors.parts.model import JsonText, TextPart
from actors.parts.options import AnthropicOptions
from actors.parts.prompt import CallSettings, Prompt, UserSaid
from actors.parts.usage import Cost, Usage
from actors.prompts.projection import Target, projected
from actors.turn.compacting.scribe import TOO_SMALL
from actors.turn.generation import NO_SUMMARY, NOT_SHORTER
from actors.turn.ports import CompactionPlan, Model, ToolOutput
from actors.turn.retries import SUMMARY_ATTEMPTS_MAX
from actors.turn.work import Held
from runtime.children import run_child
from runtime.scope import CausedScope
from tests.actors.chat.stage import ANN, a_chat_at_work
from tests.actors.machine.chats import HOLDER
from tests.fakes.scripted import (
    HANGS,
    OVERLOADED,
    OneModel,
    ScriptedProvider,
    ScriptedTools,
    call,
)

ROOMY = Usage(input_tokens=10, output_tokens=1)
FULL = Usage(input_tokens=80_000, output_tokens=1)  # of a window of 100,000
WINDOW = 100_000
TOO_LONG = Failed(wording.failure(FailureKind.CONFIG, "anthropic", status=400, too_long=True))
NO_SUCH_CAP = Failed(wording.failure(FailureKind.CONFIG, "anthropic", status=400))
OUT_OF_ROOM = Finished(FinishReason.LENGTH, ROOMY)
THOUGHT = [ReasoningDelta("r", "hm "), ReasoningEnded("r")]
SETTINGS = CallSettings(
    max_output_tokens=4096, effort="high", options=AnthropicOptions(thinking_budget_tokens=4000)
)


def ended(usage=ROOMY, reason=FinishReason.STOP):
    return Finished(reason, usage)


WORKS = [call("a", "read"), ended(FULL, FinishReason.TOOL_CALLS)]  # and fills the window with it
SUMS_UP = ["the ", "summary", ended()]
GOES_ON = ["done", ended()]


class Talk:
    """The port Prompts: what was said, as it is sent."""

    async def prompt_for(self, chat, history, model, tools):
        await trio.lowlevel.checkpoint()
        made = projected(
            history, target=Target("openai", None), identity_of=lambda id: None, files={}
        )
        return Prompt(
            model.name, made.messages, ("be kind",), tuple(tools), settings=model.settings
        )


@dataclass
class Plan:
    """The port Compacting: one plan for all chats, and how summaries ended."""

    threshold: int = 70
    limit: int | None = WINDOW
    by: Model | None = None

    def __post_init__(self):
        self.ends = []

    async def plan_for(self, chat, model):
        return CompactionPlan(self.by or model, self.threshold, self.limit)

    def ended(self, model, result):
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
        stage.counted = stage.world.compacting.ends
        return stage


def asked_for_summary(prompt):
    [*_, last] = prompt.messages
    return isinstance(last, UserSaid) and INSTRUCTIONS in last.parts[-1].text


def roles(stage):
    return "".join(("s" if row.compressed else row.role.value[0]) for row in stage.rows)


DONE = "uatsssa"  # a call and its result, the three rows of the summary, the answer


async def test_the_call_that_sums_up_is_the_next_call_of_the_chat_with_a_question_more(
    autojump_clock,
):
    stage = await settled(WORKS, SUMS_UP, GOES_ON)

    first, summary, after = stage.provider.prompts
    assert [False, True, False] == [asked_for_summary(each) for each in stage.provider.prompts]
    assert first.messages == summary.messages[: len(first.messages)]
    assert (first.tools, first.system) == (summary.tools, summary.system)
    assert "none" == summary.tool_choice
    [handed_over] = after.messages
    assert handed_over.parts[0].text.endswith("\n\nthe summary")
    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)
    assert [] == stage.booked


async def test_thoughts_that_eat_the_answer_are_left_out_the_second_time(autojump_clock):
    stage = await settled(WORKS, [*THOUGHT, OUT_OF_ROOM], SUMS_UP, GOES_ON)

    _, first, plain, _ = stage.provider.prompts
    assert (None, "high") == (first.settings.max_output_tokens, first.settings.effort)
    assert (4096, "low") == (plain.settings.max_output_tokens, plain.settings.effort)
    assert plain.settings.options.thinking_budget_tokens is None
    assert first.messages == plain.messages
    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)
    assert [("compaction", [2])] == stage.booked
    assert Cost(2, "table") == stage.rows[4].cost


async def test_a_summary_that_breaks_off_at_its_cap_is_none(autojump_clock):
    stage = await settled(WORKS, ["the beginn", OUT_OF_ROOM], SUMS_UP, GOES_ON)

    assert "the beginn" not in str(stage.rows)
    assert DONE == roles(stage)


async def test_a_provider_that_wants_to_be_told_a_cap_is_told_the_chats_own(autojump_clock):
    stage = await settled(WORKS, [NO_SUCH_CAP], SUMS_UP, GOES_ON)

    assert [None, 4096] == [p.settings.max_output_tokens for p in stage.provider.prompts[1:3]]
    assert (DONE, []) == (roles(stage), stage.booked)


async def test_a_model_that_never_sums_up_stops_the_chat_after_a_few_attempts(autojump_clock):
    stage = await settled(WORKS, [ended()])

    assert 1 + 2 * SUMMARY_ATTEMPTS_MAX == len(stage.provider.prompts)
    assert ("error", NO_SUMMARY.why) == (stage.status, stage.row.last_error.message)
    assert "uat" == roles(stage)
    assert ["error"] * SUMMARY_ATTEMPTS_MAX == stage.counted
    assert [("compaction", [2, 2])] * SUMMARY_ATTEMPTS_MAX == stage.booked


async def test_a_chat_that_stopped_so_is_summed_up_by_whoever_can(autojump_clock):
    provider, chat = a_long_chat(WORKS, [ended()])
    async with chat as stage:
        await trio.sleep(600)
        assert "error" == stage.status

        provider.scripts = [SUMS_UP, GOES_ON]
        taken = await taken_up(stage, RequestCompaction())

        assert ("waiting", "uatsssa") == (taken.status, roles(taken))


async def taken_up(stage, request):
    """Ask this of a chat that nobody holds any more, and let another actor take it up."""
    applied = await stage.store.apply(stage.chat, [request, Acquire(HOLDER)])
    actor = ChatActor(HOLDER, Held(applied.stored), stage.world)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_child, CausedScope(), actor.run)
        await trio.sleep(600)
        nursery.cancel_scope.cancel()
    return stage


async def test_who_asks_for_a_summary_gets_one_however_little_it_saves(autojump_clock):
    provider, chat = a_long_chat(GOES_ON)
    async with chat as stage:
        await trio.sleep(60)

        provider.scripts = [["longer than all that was said " * 10, ended()]]
        taken = await taken_up(stage, RequestCompaction())

        assert ("waiting", "uasss") == (taken.status, roles(taken))


async def test_a_summary_as_long_as_what_it_replaces_is_none(autojump_clock):
    stage = await settled(WORKS, ["x" * 4 * 79_000, ended()])

    assert ("error", NOT_SHORTER.why) == (stage.status, stage.row.last_error.message)
    assert 1 + SUMMARY_ATTEMPTS_MAX == len(stage.provider.prompts)
    assert "uat" == roles(stage)


async def test_a_summary_may_take_its_time(autojump_clock):
    stage = await settled(WORKS, [500, *SUMS_UP], GOES_ON, seconds=700)

    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)
    assert 500_000 == stage.rows[4].runtime_ms


async def test_a_summary_that_does_not_end_is_a_timeout_and_is_tried_again(autojump_clock):
    endless = [each for _ in range(10) for each in (100, "on and ")] + [HANGS]
    stage = await settled(WORKS, endless, SUMS_UP, GOES_ON, seconds=950)

    assert ["timeout", "success"] == stage.counted
    assert (DONE, "waiting", 1) == (roles(stage), stage.status, stage.provider.hung_up)


async def test_what_fails_for_a_moment_is_tried_as_often_as_any_call(autojump_clock):
    stage = await settled(WORKS, *[[OVERLOADED]] * 8, SUMS_UP, GOES_ON)

    assert ["error"] * 8 + ["success"] == stage.counted
    assert DONE == roles(stage)


# windows


async def test_what_the_provider_finds_too_long_is_summed_up_and_asked_again(autojump_clock):
    """Nobody has configured a limit, or a wrong one: the provider's own word counts."""
    reads = [call("a", "read"), ended(ROOMY)]

    stage = await settled(reads, [TOO_LONG], SUMS_UP, GOES_ON, plan=Plan(limit=None))

    asked = [asked_for_summary(each) for each in stage.provider.prompts]
    assert [False, False, True, False] == asked
    assert (DONE, "waiting", ["success"]) == (roles(stage), stage.status, stage.counted)


async def test_what_is_too_long_after_a_summary_is_not_summed_up_again(autojump_clock):
    stage = await settled(
        [call("a", "read"), ended()], [TOO_LONG], SUMS_UP, [TOO_LONG], plan=Plan(limit=None)
    )

    assert ("error", "config") == (stage.status, stage.row.last_error.kind)
    assert 4 == len(stage.provider.prompts)


async def test_where_it_is_switched_off_what_is_too_long_stops_the_chat(autojump_clock):
    stage = await settled([call("a", "read"), ended(FULL)], [TOO_LONG], plan=Plan(threshold=100))

    assert ("error", "config", 2) == (
        stage.status,
        stage.row.last_error.kind,
        len(stage.provider.prompts),
    )


async def test_what_cannot_be_read_at_once_is_summed_up_in_parts(autojump_clock):
    parts = [["one", ended()], ["two", ended()], ["all", ended()]]

    stage = await settled(
        WORKS, [TOO_LONG], *parts, GOES_ON, text="never delete anything " * 2000, says="z" * 20_000
    )

    _, whole, *asked, _ = stage.provider.prompts
    assert asked_for_summary(whole)
    texts = list(map(text_of, asked))
    assert ["1 of 3", "2 of 3", "3 of 3"] == list(map(number_of, asked))
    so_far = ["# The summary so far\n\none\n", "# The summary so far\n\ntwo\n"]
    assert [so_far[0] in texts[1], so_far[1] in texts[2]] == [True, True]
    assert "so far\n" not in texts[0]
    assert 1998 <= sum(text.count("never delete anything") for text in texts) <= 2000
    assert all(INSTRUCTIONS in text for text in texts)
    assert {((), (), False)} == {(p.system, p.tools, p.cached) for p in asked}
    assert stage.rows[3].parts[0].text.endswith("\n\nall")
    assert [("compaction", [2, 2])] == stage.booked


def text_of(prompt):
    return prompt.messages[0].parts[0].text


def number_of(prompt):
    return text_of(prompt).split("This is part ")[1][:6]


async def test_parts_that_are_too_long_are_halved(autojump_clock):
    stage = await settled(
        WORKS, [TOO_LONG], [TOO_LONG], *[["part", ended()]] * 5, GOES_ON,
        text="word " * 10_000, says="z",
    )  # fmt: skip

    numbers = list(map(number_of, stage.provider.prompts[2:-1]))
    assert ["1 of 2", *(f"{number} of 5" for number in range(1, 6))] == numbers
    assert DONE == roles(stage)


async def test_a_model_whose_window_is_too_small_for_it_is_never_asked_for_all(autojump_clock):
    """The model that was set for summaries reads less than the one of the chat."""
    provider = ScriptedProvider(["part", ended()])
    small = Model(
        provider, None, "other", "other", "openai", "small", CallSettings(), context_limit=10_000
    )

    stage = await settled(WORKS, GOES_ON, plan=Plan(by=small), text="word " * 8_000)

    assert 3 == len(provider.prompts)
    assert not any(prompt.tools for prompt in provider.prompts)
    assert (DONE, "waiting") == (roles(stage), stage.status)


@pytest.mark.parametrize(("window", "words"), [(1_000, 2_000), (3_000, 100_000)])
async def test_where_it_would_take_too_many_parts_it_is_said_so(autojump_clock, window, words):
    small = ScriptedProvider(["part", ended()])
    by = Model(small, None, "o", "o", "openai", "s", CallSettings(), context_limit=window)

    stage = await settled(WORKS, GOES_ON, plan=Plan(by=by), text="word " * words)

    assert ("error", TOO_SMALL, "config") == (
        stage.status,
        stage.row.last_error.message,
        stage.row.last_error.kind,
    )
    assert "uat" == roles(stage)
    assert [] == small.prompts


async def test_a_result_that_would_not_fit_is_summed_up_before_it_is_sent(autojump_clock):
    """The step before was below the threshold; what its tool said is not."""
    below, usage = [call("a", "read")], Usage(input_tokens=69_000)  # and 16,000 for each result
    twice = [*below, call("b", "read"), ended(usage)]

    stage = await settled(twice, ["part", ended()], GOES_ON, says="z" * 65_000)
    fits = await settled([*below, ended(usage)], GOES_ON, says="z" * 65_000)

    assert "uattsssa" == roles(stage)
    assert "uata" == roles(fits)


class Windowed(OneModel):
    async def model_for(self, chat):
        return replace(await super().model_for(chat), context_limit=WINDOW)


async def test_what_may_not_fit_is_tried(autojump_clock):
    """What came since is only estimated, and what a provider refuses costs nothing."""
    provider = ScriptedProvider(
        [call("a", "read"), call("b", "read"), ended(Usage(input_tokens=69_000))], SUMS_UP, GOES_ON
    )

    _, chat = a_long_chat(says="z" * 65_000, models=Windowed(provider))
    async with chat as stage:
        await trio.sleep(60)

        assert ("none", 1) == (provider.prompts[1].tool_choice, len(provider.prompts[1].tools))
        assert "uattsssa" == roles(stage)


async def test_what_clearly_does_not_fit_is_not_tried_at_once(autojump_clock):
    provider = ScriptedProvider(
        [*(call(id, "read") for id in "abcd"), ended(Usage(input_tokens=69_000))],
        *[["part", ended()]] * 4, GOES_ON,
    )  # fmt: skip

    _, chat = a_long_chat(says="z" * 95_000, models=Windowed(provider))
    async with chat as stage:
        await trio.sleep(60)

        assert ["of 4"] * 4 == [number_of(p)[2:] for p in provider.prompts[1:5]]
        assert "uattttsssa" == roles(stage)


# with everything else


async def test_a_message_that_steers_is_read_behind_the_summary(autojump_clock):
    provider, chat = a_long_chat(WORKS, [5, *SUMS_UP], GOES_ON)
    async with chat as stage:
        await trio.sleep(3)
        await stage.send("left", busy=Busy.STEER)
        await trio.sleep(60)

        assert "uatsssua" == roles(stage)
        texts = [said.parts[0].text for said in provider.prompts[-1].messages]
        assert ["left"] == texts[1:]


async def test_a_message_that_interrupts_ends_the_summary_and_leaves_nothing_of_it(
    autojump_clock,
):
    provider, chat = a_long_chat(WORKS, [5, *SUMS_UP], SUMS_UP, GOES_ON)
    async with chat as stage:
        await trio.sleep(3)
        await stage.send("left", busy=Busy.INTERRUPT)
        await trio.sleep(60)

        assert ("uatusssa", "waiting") == (roles(stage), stage.status)
        assert 1 == provider.hung_up


async def test_calls_of_the_client_are_awaited_before_anything_is_summed_up(autojump_clock):
    asks = [call("q", "ask"), ended(FULL, FinishReason.TOOL_CALLS)]

    stage = await settled(asks, SUMS_UP, dynamic=("ask",), seconds=60)

    assert ("requires_action", 1) == (stage.status, len(stage.provider.prompts))


async def test_a_summary_that_came_too_late_is_paid_for_all_the_same(autojump_clock):
    _, chat = a_long_chat(WORKS, [5, *SUMS_UP], GOES_ON)
    async with chat as stage:
        await trio.sleep(3)
        await edited_unheard(stage)
        await trio.sleep(60)

        assert [("compaction", [2])] == stage.world.books.booked
        assert [("user", "other"), ("assistant", "done")] == stage.said
        assert [] == stage.world.compacting.ends


async def edited_unheard(stage):
    first = stage.store.chats[stage.chat].messages[0].id
    edit = EditMessage(first, UserMessage((TextPart("other"),), ANN))
    await stage.store.apply(stage.chat, [edit])


async def test_an_answer_that_came_too_late_is_paid_for_all_the_same(autojump_clock):
    _, chat = a_long_chat([2, "late", ended()], GOES_ON)
    async with chat as stage:
        await trio.sleep(1)
        await edited_unheard(stage)
        await trio.sleep(60)

        assert [("answer", [2])] == stage.world.books.booked
        assert [("user", "other"), ("assistant", "done")] == stage.said
