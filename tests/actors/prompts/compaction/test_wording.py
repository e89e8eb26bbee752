"""What is asked for a summary, and what is taken for one."""

import pytest

from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import FinishReason
from actors.law.parts.message import JsonText, ReasoningPart, TextPart
from actors.law.parts.prompt import (
    AnthropicOptions,
    CallSettings,
    GoogleOptions,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    Prompt,
    RoutedReasoning,
    ToolDefinition,
    UserInput,
    VercelOptions,
)
from actors.prompts.compaction.wording import (
    INSTRUCTIONS,
    asking_for_part,
    asking_for_summary,
    plainly,
    summary_in,
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

    asked = asking_for_summary(prompt)

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

    asked = asking_for_summary(Prompt("m", (HELLO,), settings=settings))

    uncapped = CallSettings(max_output_tokens=None, options=OpenAIOptions(user="ann"))
    assert uncapped == asked.settings


def test_a_part_is_asked_about_by_itself():
    prompt = Prompt(
        "m", (HELLO,), system=("be kind",), tools=(ToolDefinition("look", "", JsonText("{}")),)
    )

    first = asking_for_part(prompt, "[the user]\nhello {x}", "", number=1, count=2)
    second = asking_for_part(prompt, "[the user]\nbye", "so {far}", number=2, count=2)

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
    prompt = asking_for_summary(Prompt("m", (HELLO,), settings=settings))

    asked = plainly(prompt, settings)

    assert CallSettings(7, temperature=0.5, effort="low", options=plain) == asked.settings
    assert (prompt.messages, prompt.tool_choice) == (asked.messages, asked.tool_choice)


def test_who_has_no_effort_gets_none():
    assert plainly(Prompt("m", (HELLO,)), CallSettings()).settings.effort is None
