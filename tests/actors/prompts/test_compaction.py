"""What is asked for a summary, and what is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AnthropicOptions,
    AssistantOutput,
    CallSettings,
    GoogleOptions,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    Prompt,
    RoutedReasoning,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
    VercelOptions,
)
from actors.prompts.compaction import (
    INSTRUCTIONS,
    PORTION_BYTES_MIN,
    plain_prompt,
    portion_bytes,
    portions,
    prompt_for_part,
    prompt_for_summary,
    summary_in,
    tokens_about,
)

HELLO = UserInput((TextPart("hello"),))


def test_the_same_prompt_is_asked_with_one_question_more_and_no_tool_may_be_called():
    prompt = Prompt(
        "m",
        (HELLO,),
        system=("be kind",),
        tools=(ToolDefinition("look", "", JsonText("{}")),),
        settings=CallSettings(max_output_tokens=9, temperature=0.5),
    )

    asked = prompt_for_summary(prompt)

    assert (HELLO, UserInput((TextPart(INSTRUCTIONS),))) == asked.messages
    assert (prompt.system, prompt.tools, "none") == (asked.system, asked.tools, asked.tool_choice)
    assert CallSettings(max_output_tokens=None, temperature=0.5) == asked.settings


@pytest.mark.parametrize(
    ("parts", "summary"),
    [
        ((TextPart(" a \n"), TextPart("b")), "a b"),
        ((ReasoningPart("hm"), TextPart("a")), "a"),
        ((TextPart(" "),), ""),
        ((ReasoningPart("hm"),), ""),
        ((), ""),
    ],
)
def test_a_summary_is_what_was_written(parts, summary):
    assert summary == summary_in(ModelAnswer(parts, FinishReason.STOP))


def test_a_summary_that_was_cut_off_is_none():
    assert "" == summary_in(ModelAnswer((TextPart("the beginn"),), FinishReason.LENGTH))


def test_no_cap_is_left_wherever_it_was_set():
    settings = CallSettings(options=OpenAIOptions(max_completion_tokens=9, user="ann"))

    asked = prompt_for_summary(Prompt("m", (HELLO,), settings=settings))

    uncapped = CallSettings(max_output_tokens=None, options=OpenAIOptions(user="ann"))
    assert uncapped == asked.settings


def test_a_part_is_asked_about_by_itself():
    prompt = Prompt(
        "m", (HELLO,), system=("be kind",), tools=(ToolDefinition("look", "", JsonText("{}")),)
    )

    first = prompt_for_part(prompt, "[the user]\nhello {x}", "", number=1, count=2)
    second = prompt_for_part(prompt, "[the user]\nbye", "so {far}", number=2, count=2)

    assert ((), (), "auto") == (first.system, first.tools, first.tool_choice)
    [said], [later] = first.messages[0].parts, second.messages[0].parts
    assert "[the user]\nhello {x}" in said.text
    assert "The summary so far" not in said.text
    assert "# The summary so far\n\nso {far}\n" in later.text
    assert later.text.endswith(INSTRUCTIONS)


RULED = RoutedReasoning(max_tokens=9)


@pytest.mark.parametrize(
    ("usual", "plain"),
    [
        (AnthropicOptions(thinking_budget_tokens=9), AnthropicOptions()),
        (GoogleOptions(thinking_budget=9, thinking_level="high"), GoogleOptions()),
        (OpenRouterOptions(reasoning=RULED), OpenRouterOptions()),
        (VercelOptions(reasoning=RULED, order=("a",)), VercelOptions(order=("a",))),
        (OpenAIOptions(max_completion_tokens=9), OpenAIOptions(max_completion_tokens=9)),
        (OpenAICompatOptions(user="ann"), OpenAICompatOptions(user="ann")),
        (None, None),
    ],
)
def test_plainly_there_is_little_thought_and_the_chats_own_cap(usual, plain):
    settings = CallSettings(max_output_tokens=7, temperature=0.5, effort="high", options=usual)
    prompt = prompt_for_summary(Prompt("m", (HELLO,), settings=settings))

    asked = plain_prompt(prompt, settings)

    assert CallSettings(7, temperature=0.5, effort="low", options=plain) == asked.settings
    assert (prompt.messages, prompt.tool_choice) == (asked.messages, asked.tool_choice)


def test_who_has_no_effort_gets_none():
    assert plain_prompt(Prompt("m", (HELLO,)), CallSettings()).settings.effort is None


TALK = (
    UserInput((TextPart("never touch prod"), FilePart("image/png", "plan.png", data="AAAA"))),
    AssistantOutput(
        (
            ReasoningPart("hm"),
            TextPart("I look"),
            ToolCallPart("a", "look", JsonText('{"at":1}')),
            ToolCallPart("s", "search", None, provider_executed=True),
            ToolResultPart("s", "search", JsonText('"found"'), provider_executed=True),
        )
    ),
    ToolResults(
        (
            ToolAnswer("a", "look", "seen", media=FilePart("image/png", data="AAAA")),
            ToolAnswer("b", "run", "broken", is_error=True),
        )
    ),
)


def test_everything_that_was_said_stands_there_with_who_said_it():
    [whole] = portions(TALK, 10_000)

    assert (
        "[the user]\nnever touch prod\n\n"
        "[the user]\n(a file: plan.png, image/png)\n\n"
        "[the assistant]\nI look\n\n"
        '[the assistant calls look]\n{"at":1}\n\n'
        "[the assistant calls search]\n{}\n\n"
        '[search answers]\n"found"\n\n'
        "[look answers]\nseen\n(a file: without a name, image/png)\n\n"
        "[run fails]\nbroken\n\n"
    ) == whole


def test_a_part_ends_between_two_entries_if_it_can():
    talk = [UserInput((TextPart(word * 10),)) for word in "abc"]

    assert [entries.count("[the user]") for entries in portions(talk, 60)] == [2, 1]


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(8, 60))
def test_nothing_is_lost_or_doubled_and_no_part_is_too_long(texts, bytes_max):
    talk = [UserInput((TextPart(text),)) for text in texts]

    parts = portions(talk, bytes_max)

    assert "".join(parts) == "".join(portions(talk, 1_000_000))
    assert all(0 < len(part.encode()) <= bytes_max for part in parts)


def test_no_conversation_has_no_parts():
    assert [] == list(portions((), 100))


def test_a_part_fills_half_of_a_window_and_half_of_what_is_too_long_for_one_that_nobody_knows():
    long = (UserInput((TextPart("x" * 100_000),)),)

    assert 1500 == portion_bytes(long, 1000)
    assert 50_000 < portion_bytes(long, None) < 50_100
    assert PORTION_BYTES_MIN == portion_bytes(TALK, None)


def test_four_bytes_are_about_a_token():
    assert 25 <= tokens_about((UserInput((TextPart("x" * 100),)),)) <= 30
