"""What is asked for a summary, and what is taken for one."""

import pytest

from actors.compaction.wording import INSTRUCTIONS, asking_for_summary, summary_in
from actors.parts.assemble import Answer
from actors.parts.deltas import FinishReason
from actors.parts.model import JsonText, ReasoningPart, TextPart
from actors.parts.prompt import CallSettings, Prompt, Tool, UserSaid

HELLO = UserSaid((TextPart("hello"),))


def test_the_same_prompt_is_asked_with_one_question_more_and_no_tool_may_be_called():
    prompt = Prompt(
        "m",
        (HELLO,),
        system=("be kind",),
        tools=(Tool("look", "", JsonText("{}")),),
        settings=CallSettings(max_output_tokens=9, temperature=0.5),
    )

    asked = asking_for_summary(prompt)

    assert (HELLO, UserSaid((TextPart(INSTRUCTIONS),))) == asked.messages
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
    assert summary == summary_in(Answer(parts, FinishReason.STOP))
