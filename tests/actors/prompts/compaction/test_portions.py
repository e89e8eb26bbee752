"""A conversation as text, in parts."""

from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import AssistantOutput, ToolAnswer, ToolResults, UserInput
from actors.prompts.compaction.portions import (
    PORTION_BYTES_MIN,
    portion_bytes,
    portions,
    tokens_about,
)

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
