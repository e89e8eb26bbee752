"""Converse's events and whole answers: the parts they come to, however their bytes are cut."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.law.parts.deltas import FinishReason, ProviderRefusal, ToolInputDelta, ToolInputStarted
from actors.law.parts.json_text import notes_of
from actors.law.parts.message import ReasoningPart, TextPart, TokenUsage, ToolCallPart
from adapters.models.providers.bedrock_converse.response import ConverseDecoder
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds
from tests.adapters.models.providers.bedrock_converse.samples import (
    call,
    delta,
    ended,
    event,
    stream,
    thoughts,
    whole,
    words,
)
from tests.adapters.models.providers.replay import answer_of, deltas_of

CALLS = stream(
    *thoughts(0, {"text": "I have "}, {"text": "to look."}, {"signature": "sig"}),
    *words(1, "One ", "moment."),
    *call(2, "tooluse_1", "look", '{"at":', ' "rivers"}'),
    *call(3, "tooluse_2", "look"),
    reason="tool_use",
)


def heard(body, **more):
    decoder = ConverseDecoder(**more)
    return answer_of(deltas_of(decoder, [body]))


def heard_whole(document, **more):
    return answer_of(ConverseDecoder(**more).whole(json.dumps(document).encode()))


def test_words_thoughts_calls_and_counts_become_an_answer():
    answer = heard(CALLS)

    thought, text, first, second = answer.parts
    assert (type(thought), thought.text) == (ReasoningPart, "I have to look.")
    assert notes_of(thought.provider_metadata, "bedrock") == {"signature": "sig"}
    assert text == TextPart("One moment.")
    assert (type(first), first.id, first.name) == (ToolCallPart, "tooluse_1", "look")
    assert json.loads(first.args) == {"at": "rivers"}
    assert (second.id, second.args) == ("tooluse_2", "{}")
    assert answer.reason is FinishReason.TOOL_CALLS
    assert answer.usage == TokenUsage(30, 12, 42)


def test_calls_are_shown_while_they_come():
    shown = [
        delta
        for delta in deltas_of(ConverseDecoder(), [CALLS])
        if isinstance(delta, ToolInputStarted | ToolInputDelta) and delta.id == "tooluse_1"
    ]

    assert shown == [
        ToolInputStarted("tooluse_1", "look"),
        ToolInputDelta("tooluse_1", "look", '{"at":'),
        ToolInputDelta("tooluse_1", "look", ' "rivers"}'),
    ]


@pytest.mark.slow
@given(st.data())
def test_any_cut_gives_the_same_answer(data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(CALLS)), max_size=20)))
    borders = [0, *cuts, len(CALLS)]

    pieces = [CALLS[a:b] for a, b in itertools.pairwise(borders)]

    assert answer_of(deltas_of(ConverseDecoder(), pieces)) == heard(CALLS)


def test_a_whole_answer_is_what_its_stream_is():
    document = whole(
        {"reasoningContent": {"reasoningText": {"text": "I have to look.", "signature": "sig"}}},
        {"text": "One moment."},
        {"toolUse": {"toolUseId": "tooluse_1", "name": "look", "input": {"at": "rivers"}}},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "look", "input": {}}},
        reason="tool_use",
    )

    assert heard_whole(document) == heard(CALLS)


def test_what_was_read_from_and_written_to_the_cache_is_counted_apart():
    body = stream(*words(0, "hi"), cacheReadInputTokens=20, cacheWriteInputTokens=5)

    assert heard(body).usage == TokenUsage(30, 12, 42, None, 5, 20)


def test_thoughts_without_a_signature_are_shown_and_encrypted_ones_are_kept():
    body = stream(
        *thoughts(0, {"text": "plain"}),
        *thoughts(1, {"redactedContent": "c2VjcmV0"}),
        *words(2, "hi"),
    )

    plain, hidden, _ = heard(body).parts

    assert (plain.text, plain.provider_metadata) == ("plain", None)
    assert hidden.text == ""
    assert notes_of(hidden.provider_metadata, "bedrock") == {"redacted": "c2VjcmV0"}


def test_words_of_an_answer_with_citations_are_words():
    cited = {"content": [{"text": "Three "}, {"text": "rivers."}], "citations": []}

    assert heard_whole(whole({"citationsContent": cited})).parts == (TextPart("Three rivers."),)


@pytest.mark.parametrize(
    ("said", "reason", "refusal"),
    [
        ("end_turn", FinishReason.STOP, None),
        ("stop_sequence", FinishReason.STOP, None),
        ("max_tokens", FinishReason.LENGTH, None),
        ("model_context_window_exceeded", FinishReason.LENGTH, None),
        ("content_filtered", FinishReason.CONTENT_FILTER, ProviderRefusal("content_filtered")),
        (
            "guardrail_intervened",
            FinishReason.CONTENT_FILTER,
            ProviderRefusal("guardrail_intervened"),
        ),
        ("brand_new", FinishReason.OTHER, ProviderRefusal("brand_new")),
    ],
)
def test_each_stop_reason_has_its_meaning(said, reason, refusal):
    for answer in (
        heard(stream(*words(0, "hi"), reason=said)),
        heard_whole(whole({"text": "hi"}, reason=said)),
    ):
        assert (answer.reason, answer.refusal) == (reason, refusal)


@pytest.mark.parametrize("said", ["malformed_tool_use", "malformed_model_output", "tool_use"])
def test_an_answer_that_broke_its_own_syntax_is_made_again(said):
    """gpt-oss ends with `tool_use` and no call where its call was none."""
    with pytest.raises(ReportedFailure, match=r"^server error: "):
        heard(stream(*words(0, "hi"), reason=said))
    with pytest.raises(ReportedFailure, match=r"^server error: "):
        heard_whole(whole({"text": "hi"}, reason=said))


def test_a_stream_that_ends_without_counts_is_an_answer_all_the_same():
    body = b"".join((*words(0, "hi"), ended("end_turn")[0]))

    assert heard(body).parts == (TextPart("hi"),)


def test_a_stream_that_ends_before_its_message_is_none():
    assert ConverseDecoder().close() == []


def test_a_call_that_nobody_has_closed_is_a_call():
    [start, *pieces, _] = call(0, "t", "look", '{"a": 1}')

    answer = heard(stream(start, *pieces, reason="tool_use"))

    assert [each.id for each in answer.local_calls] == ["t"]


def test_the_input_of_the_tool_for_the_answer_is_the_answer():
    body = stream(*call(0, "t", "Title", '{"title": ', '"x"}'), reason="tool_use")
    block = {"toolUse": {"toolUseId": "t", "name": "Title", "input": {"title": "x"}}}

    assert heard(body, answer_tool="Title").parts == (TextPart('{"title": "x"}'),)
    found = heard_whole(whole(block, reason="tool_use"), answer_tool="Title")
    assert [json.loads(part.text) for part in found.parts] == [{"title": "x"}]


def test_kinds_that_we_do_not_know_are_counted_and_read_over():
    skipped = SkippedKinds()
    image = event("contentBlockStart", contentBlockIndex=0, start={"image": {"format": "png"}})
    odd = (image, delta(0, image={"source": {}}), event("brandNew", a=1))

    answer = heard(stream(*odd, *words(1, "hi")), skipped=skipped)
    heard_whole(whole({"video": {}}, {"text": "hi"}), skipped=skipped)

    assert answer.parts == (TextPart("hi"),)
    assert skipped.statistics().skipped == {"block image": 2, "brandNew": 1, "block video": 1}


@pytest.mark.parametrize(
    "broken", [event("contentBlockDelta", delta={"text": "x"}), event("messageStop")]
)
def test_an_event_without_what_it_needs_breaks_the_stream(broken):
    with pytest.raises(BrokenStream, match=r"^bedrock: "):
        ConverseDecoder().feed(broken)
