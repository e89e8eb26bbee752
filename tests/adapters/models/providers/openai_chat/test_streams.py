"""What servers say over Chat Completions beside the recorded: parallel, odd, cut short, broken."""

import json

import pytest

from actors.law.parts.deltas import (
    AnswerFinished,
    FinishReason,
    ProviderRefusal,
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
from adapters.models.providers.openai_chat.response import ChatDecoder
from tests.adapters.models.providers.replay import answer_of, deltas_of, events

DONE = b"[DONE]"


def chunk(delta=None, finish=None, **more):
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return json.dumps({"id": "c1", "choices": [choice], **more}).encode()


def piece(index=None, id=None, name=None, arguments=None, **more):
    function = {"name": name, "arguments": arguments}
    call = {"index": index, "id": id, "function": function, **more}
    return {name: value for name, value in call.items() if value is not None}


def calling(*pieces):
    return chunk({"tool_calls": list(pieces)})


def read(*data, **options):
    return deltas_of(ChatDecoder("n", **options), [events(*data)])


def calls(deltas):
    return [(delta.id, delta.name, delta.args) for delta in deltas if isinstance(delta, ToolCall)]


def test_parallel_calls_may_stream_interleaved_and_end_in_the_order_of_their_beginning():
    deltas = read(
        calling(piece(0, "a", "add", ""), piece(1, "b", "multiply", "")),
        calling(piece(1, arguments='{"x":')),
        calling(piece(0, arguments='{"y":1}')),
        calling(piece(1, arguments="2}")),
        chunk(finish="tool_calls"),
        DONE,
    )

    assert deltas == [
        ToolInputStarted("a", "add"),
        ToolInputStarted("b", "multiply"),
        ToolInputDelta("b", "multiply", '{"x":'),
        ToolInputDelta("a", "add", '{"y":1}'),
        ToolInputDelta("b", "multiply", "2}"),
        ToolCall("a", "add", '{"y":1}'),
        ToolCall("b", "multiply", '{"x":2}'),
        AnswerFinished(FinishReason.TOOL_CALLS, response_id="c1"),
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        pytest.param(
            [piece(0, None, "add", "{}"), piece(1, "", "sub", "{}")],
            [("call_n_0", "add", "{}"), ("call_n_1", "sub", "{}")],
            id="ids are missing or empty",
        ),
        pytest.param(
            [piece(None, None, "add", "{}"), piece(None, None, "add", "{}")],
            [("call_n_0", "add", "{}"), ("call_n_1", "add", "{}")],
            id="ids and numbers are missing",
        ),
        pytest.param(
            [piece(0, "a", "add", "{}"), piece(0, "b", "add", "{}")],
            [("a", "add", "{}"), ("b", "add", "{}")],
            id="every call comes whole under number 0",
        ),
        pytest.param(
            [piece(None, "a", "add", "{"), piece(None, "a", "add", "}")],
            [("a", "add", "{}")],
            id="id and name are repeated with every piece",
        ),
        pytest.param(
            [piece(0, "a", "add", "{"), piece(0, "x", None, "}")],
            [("a", "add", "{}")],
            id="every piece has an id of its own, but only the first a name",
        ),
        pytest.param(
            [piece(0, "a", "", "{"), piece(0, "a", "add", "}")],
            [("a", "add", "{}")],
            id="the name comes late",
        ),
        pytest.param([piece(0, "a", "add")], [("a", "add", "{}")], id="there are no arguments"),
        pytest.param([piece(0, "a", None, "{}")], [], id="a call without a name is none"),
    ],
)
def test_calls_are_told_apart_whatever_a_server_leaves_out(pieces, expected):
    deltas = read(*map(calling, pieces), chunk(finish="tool_calls"), DONE)

    assert calls(deltas) == expected


def test_an_answer_that_calls_tools_and_says_stop_calls_tools():
    deltas = read(calling(piece(0, "a", "add", "{}")), chunk(finish="stop"), DONE)

    assert deltas[-1].reason is FinishReason.TOOL_CALLS


def test_thoughts_end_where_the_text_begins():
    deltas = read(
        chunk({"reasoning_content": "hm"}), chunk({"content": "a"}), chunk(finish="stop"), DONE
    )

    assert deltas == [
        ReasoningDelta("reasoning_0", "hm"),
        ReasoningEnded("reasoning_0"),
        TextDelta("text_1", "a"),
        TextEnded("text_1"),
        AnswerFinished(FinishReason.STOP, response_id="c1"),
    ]


def test_pieces_of_reasoning_details_are_joined_and_kept_with_their_signature():
    text = {"type": "reasoning.text", "index": 0, "format": "f"}
    sealed = {"type": "reasoning.encrypted", "index": 2, "data": "xyz", "id": "r"}

    *_, ended, _, _, _ = read(
        chunk({"reasoning": "a", "reasoning_details": [text | {"text": "a", "signature": ""}]}),
        chunk({"reasoning": "b", "reasoning_details": [text | {"text": "b"}]}),
        chunk({"reasoning_details": [text | {"signature": "s"}]}),
        chunk({"reasoning_details": [text | {"text": "", "signature": ""}]}),
        chunk({"reasoning_details": [text | {"text": "other", "index": 1}, sealed]}),
        chunk({"content": "c"}),
        chunk(finish="stop"),
        DONE,
    )

    whole = text | {"text": "ab", "signature": "s"}
    other = text | {"text": "other", "index": 1}
    assert json.loads(ended.metadata) == {
        "openai_chat": {"reasoning_details": [whole, other, sealed]}
    }


def test_thoughts_of_gemini_are_moved_out_of_the_text():
    thought = {"google": {"thought": True}}

    deltas = read(
        chunk({"content": "<thought>hm", "extra_content": thought}),
        chunk({"content": " hm", "extra_content": thought}),
        chunk({"content": "</thought>yes"}),
        chunk(finish="stop"),
        DONE,
    )

    assert deltas[:5] == [
        ReasoningDelta("reasoning_0", "hm"),
        ReasoningDelta("reasoning_0", " hm"),
        ReasoningEnded("reasoning_0"),
        TextDelta("text_1", "yes"),
        TextEnded("text_1"),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<thought>hm</thought>yes", [("ReasoningPart", "hm"), ("TextPart", "yes")]),
        ("yes", [("TextPart", "yes")]),
    ],
)
def test_a_whole_answer_of_gemini_that_has_thoughts_is_not_all_thoughts(content, expected):
    message = {"content": content, "extra_content": {"google": {"thought": True}}}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()

    answer = answer_of(ChatDecoder("n").whole(body))

    assert expected == [(type(part).__name__, part.text) for part in answer.parts]


def test_thoughts_of_gemini_may_end_in_the_middle_of_a_chunk():
    thought = {"google": {"thought": True}}

    deltas = read(
        chunk({"content": "<thought>hm</thought>yes", "extra_content": thought}),
        chunk({"content": " it is"}),
        chunk(finish="stop"),
        DONE,
    )

    assert [(type(part).__name__, part.text) for part in answer_of(deltas).parts] == [
        ("ReasoningPart", "hm"),
        ("TextPart", "yes it is"),
    ]


def test_a_signature_of_gemini_stays_with_its_call():
    signed = {"google": {"thought_signature": "sig"}}

    deltas = read(
        calling(piece(0, "a", "add", "{}", extra_content=signed)), chunk(finish="stop"), DONE
    )

    (call,) = [delta for delta in deltas if isinstance(delta, ToolCall)]
    assert json.loads(call.metadata) == {"openai_chat": {"extra_content": signed}}


def test_each_cited_page_is_one_source():
    def cited(url):
        return {"type": "url_citation", "url_citation": {"url": url, "title": "T"}}

    skipped = SkippedKinds()

    deltas = read(
        chunk({"content": "a", "annotations": [cited("u"), cited("v")]}),
        chunk({"annotations": [cited("u"), {"type": "file_citation"}]}),
        chunk(finish="stop"),
        DONE,
        skipped=skipped,
    )

    sources = [delta for delta in deltas if isinstance(delta, SourceFound)]
    assert sources == [SourceFound("source_1", "u", "T"), SourceFound("source_2", "v", "T")]
    assert skipped.statistics().skipped == {"annotation file_citation": 1}


def test_arguments_of_the_answer_tool_are_the_answer():
    deltas = read(
        calling(piece(0, "a", "Person", '{"a":')),
        calling(piece(0, arguments="1}")),
        chunk(finish="tool_calls"),
        DONE,
        answer_tool="Person",
    )

    assert deltas == [
        TextDelta("text_0", '{"a":'),
        TextDelta("text_0", "1}"),
        TextEnded("text_0"),
        AnswerFinished(FinishReason.STOP, response_id="c1"),
    ]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk(finish="length")], AnswerFinished(FinishReason.LENGTH, response_id="c1")),
        (
            [chunk(finish="eos")],
            AnswerFinished(FinishReason.OTHER, response_id="c1", refusal=ProviderRefusal("eos")),
        ),
        (
            [chunk({"refusal": "I will "}), chunk({"refusal": "not"}), chunk(finish="stop")],
            AnswerFinished(
                FinishReason.CONTENT_FILTER,
                response_id="c1",
                refusal=ProviderRefusal(None, "I will not"),
            ),
        ),
        (
            [
                b'{"id":"c1","choices":[{"delta":{},"finish_reason":"content_filter",'
                b'"content_filter_results":{"hate":{"filtered":false},"violence":'
                b'{"filtered":true,"severity":"high"}}}]}'
            ],
            AnswerFinished(
                FinishReason.CONTENT_FILTER,
                response_id="c1",
                refusal=ProviderRefusal("violence", None),
            ),
        ),
    ],
)
def test_an_answer_says_why_it_ended(chunks, expected):
    assert read(*chunks, DONE)[-1] == expected


def test_counts_may_come_before_with_or_after_the_finish_reason():
    counts = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    usage = TokenUsage(5, 2, 7)
    after = b'{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}'

    ends = [
        read(chunk({"content": "a"}, usage=counts), chunk(finish="stop"), DONE)[-1],
        read(chunk(finish="stop", usage=counts), DONE)[-1],
        read(chunk(finish="stop"), after, DONE)[-1],
        read(chunk(finish="stop"), after)[-1],
    ]

    assert [end.usage for end in ends] == [usage] * 4


def test_a_connection_that_ends_after_the_finish_reason_ends_the_answer():
    assert read(chunk({"content": "a"}), chunk(finish="stop"))[-1] == AnswerFinished(
        FinishReason.STOP, response_id="c1"
    )


def test_a_connection_that_ends_before_the_finish_reason_has_no_end_of_its_own():
    assert read(chunk({"content": "a"}), calling(piece(0, "a", "add", "{}"))) == [
        TextDelta("text_0", "a"),
        TextEnded("text_0"),
        ToolInputStarted("a", "add"),
        ToolInputDelta("a", "add", "{}"),
    ]


def test_nothing_is_heard_after_the_end():
    assert read(chunk(finish="stop"), DONE, chunk({"content": "late"}), DONE) == [
        AnswerFinished(FinishReason.STOP, response_id="c1")
    ]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            b'{"id":"c1","provider":"P","error":{"code":502,"message":"upstream went away"},'
            b'"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}',
            "status 502: upstream went away",
        ),
        (
            b'{"error":{"message":"slow down","type":"rate_limit_error","code":null}}',
            "rate_limit_error: slow down",
        ),
        (b'{"error":"model crashed"}', "model crashed"),
        (
            b'{"object":"error","message":"out of memory","type":"InternalServerError","code":500}',
            "InternalServerError status 500: out of memory",
        ),
        (chunk(finish="error"), "server error: the model stopped with an error"),
    ],
)
def test_an_error_in_the_middle_of_a_stream_fails_the_answer(data, text):
    with pytest.raises(ReportedFailure) as caught:
        read(chunk({"content": "a"}), data)

    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            b'{"choices":[{"delta":{"content":7}}]}',
            "chat completions: Expected `str | array | null`, got `int`"
            " - at `$.choices[0].delta.content`",
        ),
        (b'{"choices":', "chat completions: Input data was truncated"),
    ],
)
def test_a_broken_chunk_fails_the_answer_and_says_where(data, text):
    with pytest.raises(BrokenStream) as caught:
        read(data)

    assert str(caught.value) == text


def test_further_choices_are_not_ours():
    other = b'{"id":"c1","choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"stop"}]}'

    assert read(chunk({"content": "a"}), other, chunk(finish="stop"), DONE)[:2] == [
        TextDelta("text_0", "a"),
        TextEnded("text_0"),
    ]
