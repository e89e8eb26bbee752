"""A conversation that is too long: for its model, or for whoever is to sum it up."""

from dataclasses import replace

import pytest
import trio

from actors.chat.turn.ports import Model
from actors.chat.turn.scribe import TOO_SMALL
from actors.law.failures import wording
from actors.law.parts.deltas import AnswerFailed, FailureKind
from actors.law.parts.message import TokenUsage
from actors.law.parts.prompt import CallSettings
from actors.prompts.compaction import INSTRUCTIONS
from tests.actors.chat.turn.long_talk import (
    DONE,
    FULL,
    GOES_ON,
    ROOMY,
    SUMS_UP,
    TOO_LONG,
    WINDOW,
    WORKS,
    Plan,
    a_long_chat,
    asked_for_summary,
    ended,
    roles,
    settled,
)
from tests.fakes.scripted import (
    OVERLOADED,
    OneModel,
    ScriptedProvider,
    call,
)


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
    assert [("compaction", [2])] * 2 == stage.booked


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


async def test_a_part_that_fails_for_a_moment_is_asked_for_again_and_not_all_of_them(
    autojump_clock,
):
    parts = [["one", ended()], [OVERLOADED], [OVERLOADED], ["two", ended()]]

    stage = await settled(WORKS, [TOO_LONG], *parts, GOES_ON, text="word " * 5_000, says="z")

    assert ["1 of 2", "2 of 2", "2 of 2", "2 of 2"] == numbers_of(stage)
    assert (DONE, ["success"]) == (roles(stage), stage.counted)


@pytest.mark.parametrize(("wait", "tries"), [(0, 3), (61, 1)])
async def test_a_part_that_fails_on_is_left_to_the_next_attempt(autojump_clock, wait, tries):
    away = wording.failure(
        FailureKind.OVERLOADED, "anthropic", retryable=True, retry_after_seconds=wait
    )
    parts = [["one", ended()], *[[AnswerFailed(away)]] * tries, SUMS_UP]

    stage = await settled(WORKS, [TOO_LONG], *parts, GOES_ON, text="word " * 5_000, says="z")

    assert ["1 of 2", *["2 of 2"] * tries] == numbers_of(stage)[: tries + 1]
    assert (DONE, ["error", "success"]) == (roles(stage), stage.counted)


def numbers_of(stage):
    in_parts = [p for p in stage.provider.prompts if "This is part " in text_of(p)]
    return list(map(number_of, in_parts))


async def test_a_model_whose_window_is_too_small_for_it_is_never_asked_for_all(autojump_clock):
    """The model that was set for summaries reads less than the one of the chat."""
    provider = ScriptedProvider(["part", ended()])
    small = Model(provider, None, "other", "openai", "small", CallSettings(), context_limit=10_000)

    stage = await settled(WORKS, GOES_ON, plan=Plan(by=small), text="word " * 8_000)

    assert 3 == len(provider.prompts)
    assert not any(prompt.tools for prompt in provider.prompts)
    assert (DONE, "waiting") == (roles(stage), stage.status)


@pytest.mark.parametrize(("window", "words"), [(1_000, 2_000), (3_000, 100_000)])
async def test_where_it_would_take_too_many_parts_it_is_said_so(autojump_clock, window, words):
    small = ScriptedProvider(["part", ended()])
    by = Model(small, None, "o", "openai", "s", CallSettings(), context_limit=window)

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
    below, usage = (
        [call("a", "read")],
        TokenUsage(input_tokens=69_000),
    )  # and 16,000 for each result
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
        [call("a", "read"), call("b", "read"), ended(TokenUsage(input_tokens=69_000))],
        SUMS_UP,
        GOES_ON,
    )

    _, chat = a_long_chat(says="z" * 65_000, models=Windowed(provider))
    async with chat as stage:
        await trio.sleep(60)

        assert ("none", 1) == (provider.prompts[1].tool_choice, len(provider.prompts[1].tools))
        assert "uattsssa" == roles(stage)


async def test_what_clearly_does_not_fit_is_not_tried_at_once(autojump_clock):
    provider = ScriptedProvider(
        [*(call(id, "read") for id in "abcd"), ended(TokenUsage(input_tokens=69_000))],
        *[["part", ended()]] * 4, GOES_ON,
    )  # fmt: skip

    _, chat = a_long_chat(says="z" * 95_000, models=Windowed(provider))
    async with chat as stage:
        await trio.sleep(60)

        assert ["of 4"] * 4 == [number_of(p)[2:] for p in provider.prompts[1:5]]
        assert "uattttsssa" == roles(stage)
