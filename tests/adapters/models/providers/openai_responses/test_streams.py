"""What the Responses API says beside the recorded: odd, withheld, cut short, broken."""

import json

import pytest

from actors.law.parts.deltas import (
    AnswerFinished,
    FinishReason,
    ProviderRefusal,
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
from actors.law.parts.message import TokenUsage
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds
from adapters.models.providers.openai_responses.response import ResponsesDecoder
from tests.adapters.models.providers.replay import deltas_of, events


def event(kind, **fields):
    return json.dumps({"type": f"response.{kind}", **fields}).encode()


def begun(type, **fields):
    return event("output_item.added", item={"type": type, **fields})


def ended(type, **fields):
    return event("output_item.done", item={"type": type, **fields})


def over(status="completed", kind=None, **fields):
    return event(kind or status, response={"id": "r1", "status": status, **fields})


def text(delta, index=0):
    return event("output_text.delta", item_id="m", content_index=index, delta=delta)


def read(*data, **options):
    return deltas_of(ResponsesDecoder(**options), [events(*data)])


def message(*parts, **more):
    return ended("message", id="m", role="assistant", content=list(parts), **more)


SAID = {"type": "output_text", "text": "hi", "annotations": []}
END = AnswerFinished(FinishReason.STOP, response_id="r1")


def test_parallel_calls_may_stream_interleaved():
    deltas = read(
        begun("function_call", id="f1", call_id="a", name="add", arguments=""),
        begun("function_call", id="f2", call_id="b", name="sub", arguments=""),
        event("function_call_arguments.delta", item_id="f2", delta="{}"),
        event("function_call_arguments.delta", item_id="f1", delta='{"x":1}'),
        ended("function_call", id="f2", call_id="b", name="sub", arguments="{}"),
        ended("function_call", id="f1", call_id="a", name="add", arguments='{"x":1}'),
        over(),
    )

    assert deltas == [
        ToolInputStarted("a", "add"),
        ToolInputStarted("b", "sub"),
        ToolInputDelta("b", "sub", "{}"),
        ToolInputDelta("a", "add", '{"x":1}'),
        ToolCall("b", "sub", "{}"),
        ToolCall("a", "add", '{"x":1}'),
        AnswerFinished(FinishReason.TOOL_CALLS, response_id="r1"),
    ]


def test_summaries_of_one_thought_are_paragraphs_of_it():
    def summary(index, delta):
        return event("reasoning_summary_text.delta", item_id="rs", summary_index=index, delta=delta)

    kept = [{"type": "summary_text", "text": "ab"}, {"type": "summary_text", "text": "c"}]

    deltas = read(
        summary(0, "a"),
        summary(0, "b"),
        summary(1, "c"),
        ended("reasoning", id="rs", summary=kept, encrypted_content="x"),
        over(),
    )

    assert "".join(d.text for d in deltas if isinstance(d, ReasoningDelta)) == "ab\n\nc"
    (end,) = [delta for delta in deltas if isinstance(delta, ReasoningEnded)]
    item = {"id": "rs", "encrypted_content": "x", "summary": kept, "type": "reasoning"}
    assert json.loads(end.metadata) == {"openai_responses": {"reasoning": item}}


def test_thoughts_that_are_only_encrypted_are_kept_without_a_word():
    first, end, _ = read(ended("reasoning", id="rs", summary=[], encrypted_content="x"), over())

    assert first == ReasoningDelta("rs", "")
    assert isinstance(end, ReasoningEnded)
    assert '"x"' in end.metadata


def test_thoughts_that_can_neither_be_read_nor_sent_back_are_nothing():
    assert read(begun("reasoning", id="rs", summary=[]), ended("reasoning", id="rs"), over()) == [
        END
    ]


def test_open_thoughts_are_read_as_they_come():
    deltas = read(
        event("reasoning_text.delta", item_id="rs", content_index=0, delta="hm"),
        ended("reasoning", id="rs", content=[{"type": "reasoning_text", "text": "hm"}]),
        over(),
    )

    said, ending, over_ = deltas
    assert (said, over_) == (ReasoningDelta("rs", "hm"), END)
    assert json.loads(ending.metadata)["openai_responses"]["reasoning"] == {
        "type": "reasoning",
        "id": "rs",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "hm"}],
    }


def test_a_search_is_a_call_with_its_result_and_knows_the_thought_that_led_to_it():
    search = {"id": "ws", "status": "completed", "action": {"type": "search", "query": "q"}}

    deltas = read(
        ended("reasoning", id="rs", summary=[], encrypted_content="x"),
        begun("web_search_call", id="ws", status="in_progress"),
        event("web_search_call.searching", item_id="ws"),
        ended("web_search_call", **search),
        over(),
    )[2:]

    noted = {"item": {"type": "web_search_call", **search}, "led_by": "rs"}
    started, call, result, end = deltas
    assert started == ToolInputStarted("ws", "web_search", provider_executed=True)
    assert json.loads(call.args) == search["action"]
    assert (call.id, call.name, call.provider_executed) == ("ws", "web_search", True)
    assert json.loads(call.metadata) == {"openai_responses": noted}
    assert result == ProviderToolResult("ws", "web_search", '{"status":"completed"}')
    assert end == END


def test_a_failed_search_is_an_error():
    _, result, _ = read(ended("web_search_call", id="ws", status="failed"), over())

    assert result.is_error


def test_each_cited_page_is_one_source():
    cited = {"type": "url_citation", "url": "u", "title": "T", "start_index": 0, "end_index": 2}

    deltas = read(
        text("hi"),
        event("output_text.annotation.added", item_id="m", annotation=cited),
        message(SAID | {"annotations": [cited]}),
        over(),
    )

    assert deltas == [
        TextDelta("m.0", "hi"),
        SourceFound("source_1", "u", "T"),
        TextEnded("m.0"),
        END,
    ]


def test_what_did_not_stream_is_taken_from_the_end_of_its_item():
    assert read(message(SAID), over()) == [TextDelta("m.0", "hi"), TextEnded("m.0"), END]


def test_a_text_remembers_its_phase():
    _, end, _ = read(message(SAID, phase="commentary"), over())

    assert json.loads(end.metadata) == {"openai_responses": {"phase": "commentary"}}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            [over("incomplete", incomplete_details={"reason": "max_output_tokens"})],
            AnswerFinished(FinishReason.LENGTH, response_id="r1"),
        ),
        (
            [over("incomplete", incomplete_details={"reason": "content_filter"})],
            AnswerFinished(
                FinishReason.CONTENT_FILTER, response_id="r1", refusal=ProviderRefusal()
            ),
        ),
        (
            [over("incomplete")],
            AnswerFinished(FinishReason.OTHER, response_id="r1", refusal=ProviderRefusal()),
        ),
        (
            [
                event("refusal.delta", item_id="m", content_index=0, delta="I will "),
                event("refusal.delta", item_id="m", content_index=0, delta="not"),
                message({"type": "refusal", "refusal": "I will not"}),
                over(),
            ],
            AnswerFinished(
                FinishReason.CONTENT_FILTER,
                response_id="r1",
                refusal=ProviderRefusal(None, "I will not"),
            ),
        ),
        (
            [
                over(
                    usage={
                        "input_tokens": 10,
                        "output_tokens": 3,
                        "total_tokens": 13,
                        "input_tokens_details": {"cached_tokens": 4},
                        "output_tokens_details": {"reasoning_tokens": 2},
                    }
                )
            ],
            AnswerFinished(FinishReason.STOP, TokenUsage(6, 3, 13, 2, None, 4), "r1"),
        ),
    ],
)
def test_an_answer_says_why_it_ended(data, expected):
    assert read(*data) == [expected]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            over("failed", error={"code": "server_error", "message": "try later"}),
            "server error: try later",
        ),
        (over("failed"), "server error: the response failed"),
        (
            b'{"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null}',
            "rate_limit_exceeded: slow down",
        ),
        (
            b'{"type":"error","error":{"type":"insufficient_quota","message":"no more"}}',
            "insufficient_quota: no more",
        ),
    ],
)
def test_an_error_in_the_middle_of_a_stream_fails_the_answer(data, text):
    with pytest.raises(ReportedFailure) as caught:
        read(message(SAID), data)

    assert str(caught.value) == text


def test_what_is_not_known_is_counted_and_skipped():
    skipped = SkippedKinds()

    deltas = read(
        event("code_interpreter_call.interpreting", item_id="ci"),
        begun("code_interpreter_call", id="ci"),
        ended("code_interpreter_call", id="ci"),
        event("output_text.annotation.added", annotation={"type": "file_citation"}),
        event("code_interpreter_call.interpreting", item_id="ci"),
        text("hi"),
        over(),
        skipped=skipped,
    )

    assert deltas == [TextDelta("m.0", "hi"), END]
    assert skipped.statistics().skipped == {
        "response.code_interpreter_call.interpreting": 2,
        "item code_interpreter_call": 1,
        "annotation file_citation": 1,
    }


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            event("output_text.delta", item_id="m", delta=7),
            "openai responses: TextDelta: Expected `str`, got `int` - at `$.delta`",
        ),
        (
            ended("function_call", id="f"),
            "openai responses: FunctionCallItem: Object missing required field `call_id`",
        ),
        (b'{"type":', "openai responses: Typed: Input data was truncated"),
    ],
)
def test_a_broken_event_fails_the_answer_and_says_where(data, text):
    with pytest.raises(BrokenStream) as caught:
        read(data)

    assert str(caught.value) == text


def test_a_stream_that_ends_early_has_no_end_of_its_own():
    assert read(text("hi")) == [TextDelta("m.0", "hi")]


def test_nothing_is_heard_after_the_end():
    assert read(over(), text("late"), over()) == [END]


def test_the_kind_may_stand_before_the_event():
    named = b'event: response.output_text.delta\ndata: {"item_id":"m","delta":"hi"}\n\n'

    assert ResponsesDecoder().feed(named) == [TextDelta("m.0", "hi")]
