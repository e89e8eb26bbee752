"""What is kept of an answer that was cut short."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.chat.interruption import partial_rows
from actors.law.chat import Body, Role
from actors.law.parts.assemble import Assembly
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
)
from actors.law.parts.json_text import is_json
from actors.law.parts.message import (
    CUT_SHORT,
    FilePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.requests import FinishInterruption
from actors.law.states import State
from tests.actors.law.chats import FAST, NOW, a_chat, done

LATER = NOW + timedelta(seconds=90)
OPEN = ToolInputStarted("a", "f")


def args(text, id="a", **more):
    return ToolInputDelta(id, "f", text, **more)


def kept(*deltas, runtime_ms=7):
    """The rows of an answer whose deltas came a second apart."""
    answer = Assembly()
    for second, delta in enumerate(deltas):
        answer.add(delta, NOW + timedelta(seconds=second))
    return partial_rows(answer, now=LATER, runtime_ms=runtime_ms, model_config_id=FAST)


def parts(*deltas):
    rows = kept(*deltas)
    return rows[0].parts if rows else ()


def test_text_is_kept_as_far_as_it_had_come():
    [row] = kept(TextDelta("t", "Hel"), TextDelta("t", "lo"))

    said = (TextPart("Hello"),)
    whole = Body(Role.ASSISTANT, said, model_config_id=FAST, runtime_ms=7, cost=CUT_SHORT)
    assert whole == row


@pytest.mark.parametrize("deltas", [[], [TextDelta("t", "")], [OPEN], [OPEN, args("")]])
def test_of_nothing_nothing_is_kept(deltas):
    assert () == kept(*deltas)


def test_thoughts_are_kept_with_both_their_times():
    thought = parts(ReasoningDelta("r", "h"), ReasoningDelta("r", "m"))

    assert (ReasoningPart("hm", NOW, LATER),) == thought


def test_thoughts_are_kept_apart_and_each_keeps_its_own_signature():
    first = [ReasoningDelta("r", "a"), ReasoningDelta("r", "", '"1"'), ReasoningEnded("r")]

    both = parts(*first, ReasoningDelta("q", "b"))

    assert [("a", '"1"'), ("b", None)] == [(p.text, p.provider_metadata) for p in both]


def test_a_call_is_kept_once_its_arguments_are_whole():
    whole = parts(OPEN, args('{"a"'), args(":1}"))
    told = parts(OPEN, args('{"a"'), ToolCall("a", "f", '{"b":2}'))

    assert (ToolCallPart("a", "f", '{"a":1}', created_at=NOW),) == whole
    assert '{"b":2}' == told[0].args


@pytest.mark.parametrize(
    "deltas",
    [
        [OPEN, args('{"a"')],
        [OPEN, ToolCall("a", "f", '{"a"')],
        [args("{}", id="")],
        [ToolCall("", "f", "{}")],
    ],
    ids=["half", "broken", "half of nobody's", "nobody's"],
)
def test_what_is_left_of_a_call_that_nobody_could_execute_is_dropped(deltas):
    assert (TextPart("so"),) == parts(TextDelta("t", "so"), TextEnded("t"), *deltas)


def test_a_call_without_arguments_has_none():
    assert "{}" == parts(ToolCall("a", "f", ""))[0].args


def test_the_providers_own_calls_and_results_stay_in_their_places():
    search = ToolCall("w", "search", "{}", provider_executed=True)

    made = parts(search, ProviderToolResult("w", "search", "[]"), TextDelta("t", "so"))

    assert [ToolCallPart, ToolResultPart, TextPart] == [type(part) for part in made]


def test_a_file_alone_is_not_billed():
    image = FileMade("image/png", "aGk=")

    [file], [both] = kept(image), kept(image, TextDelta("t", "so"))

    assert (FilePart("image/png", data="aGk="),) == file.parts
    assert [None, 7] == [file.runtime_ms, both.runtime_ms]
    assert [None, CUT_SHORT] == [file.cost, both.cost]


def test_no_time_at_all_is_no_runtime():
    [row] = kept(TextDelta("t", "so"), runtime_ms=0)

    assert row.runtime_ms is None


def test_an_answer_that_was_whole_is_kept_whole():
    made = parts(
        TextDelta("t", "so"), ToolCall("a", "f", "{}"), AnswerFinished(FinishReason.TOOL_CALLS)
    )

    assert {TextPart("so"), ToolCallPart("a", "f", "{}", created_at=NOW + timedelta(0, 1))} == {
        *made
    }


TEXTS = st.sampled_from(["", "a", "b", '{"x":', "1}", "{}"])
IDS = st.sampled_from("ab")
DELTAS = st.one_of(
    st.builds(TextDelta, st.just("t"), TEXTS),
    st.builds(TextEnded, st.just("t")),
    st.builds(ReasoningDelta, st.sampled_from("rq"), TEXTS),
    st.builds(ReasoningEnded, st.sampled_from("rq")),
    st.builds(ToolInputStarted, IDS, st.just("f")),
    st.builds(ToolInputDelta, IDS, st.just("f"), TEXTS),
    st.builds(ProviderToolResult, st.just("w"), st.just("search"), st.just("[]")),
    st.builds(SourceFound, IDS, st.just("https://x")),
    st.builds(FileMade, st.just("image/png"), st.just("aGk=")),
)
ENDS = st.sets(IDS).map(lambda ids: [ToolCall(id, "f", "{}") for id in sorted(ids)])


@settings(max_examples=50)
@given(st.lists(DELTAS, max_size=12), ENDS)
def test_whatever_had_come_an_interruption_settles_and_loses_no_text(deltas, ends):
    rows = kept(*deltas, *ends)

    change = done(a_chat(State.I0, tail=()), FinishInterruption(rows))
    calls = [part for row in rows for part in row.parts if isinstance(part, ToolCallPart)]
    answers = [part.id for body in change.added[len(rows) :] for part in body.parts]
    assert State.W is change.state
    assert [call.id for call in calls] == answers
    assert len(answers) == len(set(answers))
    assert all(is_json(call.args) for call in calls)
    assert _said(deltas) == _text(rows)


def _said(deltas):
    return "".join(delta.text for delta in deltas if isinstance(delta, TextDelta))


def _text(rows):
    return "".join(p.text for row in rows for p in row.parts if isinstance(p, TextPart))
