"""Deltas to parts: order, metadata, times, ends that never come."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from actors.law.parts.assemble import Assembly, merge_usage
from actors.law.parts.deltas import (
    AnswerFinished,
    FileMade,
    FinishReason,
    ProviderToolResult,
    ReasoningDelta,
    ReasoningEnded,
    SourceFound,
    TextDelta,
    TextEnded,
    ToolCall,
    ToolInputDelta,
    ToolInputStarted,
    UsageReported,
)
from actors.law.parts.message import (
    FilePart,
    ReasoningPart,
    SourcePart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)

T0 = datetime(2026, 1, 1, tzinfo=UTC)
SERVER = UUID(int=7)
END = AnswerFinished(FinishReason.STOP)


def at(second):
    return T0 + timedelta(seconds=second)


def assembled(*deltas):
    assembly = Assembly()
    for second, delta in enumerate(deltas):
        assembly.add(delta, at(second))
    return assembly


def test_pieces_of_a_text_become_one_part():
    answer = assembled(TextDelta("0", "He"), TextDelta("0", "llo"), TextEnded("0"), END).answer()

    assert (TextPart("Hello"),) == answer.parts


def test_parts_stand_in_the_order_of_their_ends():
    deltas = (TextDelta("a", "first"), TextDelta("b", "second"), TextEnded("b"), TextEnded("a"))

    answer = assembled(*deltas, END).answer()

    assert (TextPart("second"), TextPart("first")) == answer.parts


def test_blocks_that_are_never_ended_end_with_the_answer_in_the_order_they_began():
    answer = assembled(TextDelta("b", "1"), TextDelta("a", "2"), TextDelta("b", "3"), END).answer()

    assert (TextPart("13"), TextPart("2")) == answer.parts


def test_reasoning_keeps_the_newest_metadata_that_says_anything_and_its_times():
    deltas = (
        ReasoningDelta("r", "hm", '{"signature":"old"}'),
        ReasoningDelta("r", "", '{"signature":"new"}'),
        ReasoningDelta("r", "m"),
        ReasoningEnded("r", None),
    )

    answer = assembled(*deltas, END).answer()

    assert (ReasoningPart("hmm", at(0), at(3), '{"signature":"new"}'),) == answer.parts


@pytest.mark.parametrize(
    ("metadata", "parts"),
    [
        ('{"redacted":"x"}', (ReasoningPart("", at(0), at(1), '{"redacted":"x"}'),)),
        (None, ()),
    ],
)
def test_empty_reasoning_is_kept_only_if_it_is_signed_or_redacted(metadata, parts):
    answer = assembled(ReasoningDelta("r", ""), ReasoningEnded("r", metadata), END).answer()

    assert parts == answer.parts


def test_an_empty_text_leaves_no_part():
    answer = assembled(TextDelta("0", ""), TextEnded("0"), TextEnded("1"), END).answer()

    assert not answer.parts


def test_the_whole_call_replaces_its_streamed_input():
    deltas = (
        ToolInputStarted("c", "f"),
        ToolInputDelta("c", "f", '{"a"'),
        ToolCall("c", "f", "{}"),
    )

    answer = assembled(*deltas, END).answer()

    assert (ToolCallPart("c", "f", "{}", created_at=at(2)),) == answer.parts


@pytest.mark.parametrize(
    ("args", "kept"), [("", "{}"), (" ", "{}"), ('{"a":', None), ("[" * 100_000, None)]
)
def test_no_arguments_are_an_empty_object_and_broken_ones_are_left_out(args, kept):
    answer = assembled(ToolCall("c", "f", args), END).answer()

    assert kept == answer.parts[0].args


def test_results_of_the_providers_own_tools_sources_and_files_stand_in_place():
    deltas = (
        ToolCall("s", "web_search", '{"q":1}', True),
        ProviderToolResult("s", "web_search", "[]", metadata="{}"),
        SourceFound("u", "https://a.test", "A"),
        FileMade("image/png", "iVBO"),
    )

    answer = assembled(*deltas, END).answer()

    assert (
        ToolCallPart("s", "web_search", '{"q":1}', True, created_at=at(0)),
        ToolResultPart(
            "s", "web_search", "[]", False, False, True, created_at=at(1), provider_metadata="{}"
        ),
        SourcePart("u", "https://a.test", "A"),
        FilePart("image/png", data="iVBO"),
    ) == answer.parts


def test_add_hands_back_each_part_as_it_is_completed():
    assembly = Assembly()

    assert assembly.add(TextDelta("0", "x"), T0) is None
    assert TextPart("x") == assembly.add(TextEnded("0"), T0)


def test_a_count_is_replaced_only_by_a_count():
    assembly = assembled(
        UsageReported(TokenUsage(input_tokens=10, output_tokens=1)),
        UsageReported(TokenUsage(output_tokens=5)),
    )

    assembly.add(AnswerFinished(FinishReason.LENGTH, TokenUsage(total_tokens=15)), T0)

    assert TokenUsage(10, 5, 15) == assembly.answer().usage


def test_merging_nothing_changes_nothing():
    assert TokenUsage(1, 2) == merge_usage(TokenUsage(1, 2), TokenUsage())


def test_an_answer_cut_short_keeps_what_was_said_and_calls_that_are_whole():
    assembly = assembled(
        TextDelta("0", "done"),
        TextEnded("0"),
        ReasoningDelta("1", "thinking"),
        TextDelta("2", "half a"),
        ToolInputDelta("c", "f", '{"a":1}'),
        ToolInputDelta("d", "f", '{"a":'),
        ToolInputStarted("e", "f"),
    )

    assert (
        TextPart("done"),
        ReasoningPart("thinking", at(2), at(9)),
        TextPart("half a"),
        ToolCallPart("c", "f", '{"a":1}', created_at=at(4)),
    ) == assembly.cut_short(at(9))


def test_a_call_that_is_cut_short_still_says_whose_tool_it_calls():
    assembly = Assembly({"f": SERVER})

    assembly.add(ToolInputDelta("c", "f", '{"a":1}'), T0)

    [call] = assembly.cut_short(T0)
    assert SERVER == call.mcp_server_config_id


@pytest.mark.parametrize(
    ("name", "args", "shown"),
    [
        ("execute", '{"command": "git status -s | head"}', (("git", "status"), ("head",))),
        ("execute", '{"command": 7}', ()),
        ("execute", "[]", ()),
        ("execute", "{", ()),
        ("read_file", '{"command": "git status"}', ()),
    ],
)
def test_a_call_of_a_command_says_what_it_starts(name, args, shown):
    [whole] = assembled(ToolCall("1", name, args), END).answer().parts
    cut = assembled(ToolInputStarted("1", name), ToolInputDelta("1", name, args)).cut_short(at(9))

    assert shown == whole.parsed_commands
    assert all(shown == part.parsed_commands for part in cut)
