"""What Anthropic sends, event by event."""

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
    UsageReported,
)
from actors.law.parts.message import TokenUsage
from adapters.models.providers.anthropic.events import (
    EXCERPT_CHARACTERS_MAX,
    MessageDecoder,
    sse_split,
)
from adapters.models.providers.faults import KINDS_MAX, BrokenStream, ReportedFailure, SkippedKinds


def begun(**usage):
    return {"type": "message_start", "message": {"id": "msg_1", "usage": usage}}


def start(index, **block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def change(index, **delta):
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index):
    return {"type": "content_block_stop", "index": index}


def ending(reason, details=None, **usage):
    delta = {"stop_reason": reason, "stop_details": details}
    return {"type": "message_delta", "delta": delta, "usage": usage}


OVER = {"type": "message_stop"}


def heard(*events, **more):
    decoder = MessageDecoder(sse_split(), **more)
    stream = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
    return decoder.feed(stream.encode())


def test_a_text_is_its_pieces_and_an_end():
    deltas = heard(start(0, type="text", text="a"), change(0, type="text_delta", text="b"), stop(0))

    assert deltas == [TextDelta("0", "a"), TextDelta("0", "b"), TextEnded("0")]


def test_citations_are_noted_at_the_end_of_their_text():
    cited = {"type": "web_search_result_location", "url": "https://a.test", "cited_text": "x"}

    deltas = heard(
        start(0, type="text", text="a", citations=[]),
        change(0, type="citations_delta", citation=cited),
        stop(0),
    )

    assert json.loads(deltas[-1].metadata) == {"anthropic": {"citations": [cited]}}


def test_thoughts_end_with_their_signature():
    deltas = heard(
        start(0, type="thinking", thinking="", signature=""),
        change(0, type="thinking_delta", thinking="hm"),
        change(0, type="signature_delta", signature="s"),
        stop(0),
    )

    notes = '{"anthropic":{"signature":"s"}}'
    assert deltas == [
        ReasoningDelta("0", "hm"),
        ReasoningDelta("0", "", notes),
        ReasoningEnded("0"),
    ]


def test_redacted_thoughts_are_kept_without_text():
    deltas = heard(start(0, type="redacted_thinking", data="x"), stop(0))

    notes = '{"anthropic":{"redacted_data":"x"}}'
    assert deltas == [ReasoningDelta("0", "", notes), ReasoningEnded("0")]


def test_arguments_stream_and_then_stand_in_the_call():
    deltas = heard(
        start(1, type="tool_use", id="t", name="f", input={}),
        change(1, type="input_json_delta", partial_json=""),
        change(1, type="input_json_delta", partial_json='{"a":'),
        change(1, type="input_json_delta", partial_json="1}"),
        stop(1),
    )

    assert deltas == [
        ToolInputStarted("t", "f"),
        ToolInputDelta("t", "f", '{"a":'),
        ToolInputDelta("t", "f", "1}"),
        ToolCall("t", "f", '{"a":1}'),
    ]


def test_a_call_without_streamed_arguments_has_those_it_began_with():
    (_, call) = heard(start(0, type="tool_use", id="t", name="f", input={"a": 1}), stop(0))

    assert call == ToolCall("t", "f", '{"a": 1}')


def test_the_input_of_the_answer_tool_is_text():
    deltas = heard(
        start(0, type="tool_use", id="t", name="Person", input={}),
        change(0, type="input_json_delta", partial_json='{"a":1}'),
        stop(0),
        answer_tool="Person",
    )

    assert deltas == [TextDelta("0", '{"a":1}'), TextEnded("0")]


def test_a_search_gives_a_result_and_its_sources():
    found = [
        {"type": "web_search_result", "url": "https://a.test", "title": "A", "page_age": None}
        | {"encrypted_content": "x"}
    ]

    deltas = heard(
        start(0, type="server_tool_use", id="s", name="web_search", input={}),
        change(0, type="input_json_delta", partial_json='{"query":"q"}'),
        stop(0),
        start(1, type="web_search_tool_result", tool_use_id="s", content=found),
        stop(1),
    )

    *called, result, source = deltas
    assert called == [
        ToolInputStarted("s", "web_search", True),
        ToolInputDelta("s", "web_search", '{"query":"q"}', True),
        ToolCall("s", "web_search", '{"query":"q"}', True),
    ]
    assert isinstance(result, ProviderToolResult)
    assert json.loads(result.result) == [{"url": "https://a.test", "title": "A", "page_age": None}]
    assert json.loads(result.metadata) == {"anthropic": {"web_search": found}}
    assert source == SourceFound("s-0", "https://a.test", "A")


def test_a_search_that_failed_is_an_error():
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}

    (result,) = heard(start(0, type="web_search_tool_result", tool_use_id="s", content=failed))

    assert (result.is_error, result.result) == (True, '{"error":"max_uses_exceeded"}')


def page(source, **more):
    document = {"type": "document", "source": source, "title": "Rivers"}
    return {"type": "web_fetch_result", "url": "https://a.test", "content": document} | more


def test_a_page_that_was_read_is_a_result_and_a_source():
    words = {"type": "text", "media_type": "text/plain", "data": "x" * 3_000}
    read = page(words, retrieved_at="2026-01-01T00:00:00Z", citations={"enabled": False})

    deltas = heard(
        start(0, type="server_tool_use", id="s", name="web_fetch", input={}),
        change(0, type="input_json_delta", partial_json='{"url":"https://a.test"}'),
        stop(0),
        start(1, type="web_fetch_tool_result", tool_use_id="s", content=read),
        stop(1),
    )

    *called, result, source = deltas
    assert called[-1] == ToolCall("s", "web_fetch", '{"url":"https://a.test"}', True)
    assert json.loads(result.result) == {
        "url": "https://a.test",
        "title": "Rivers",
        "retrieved_at": "2026-01-01T00:00:00Z",
        "excerpt": "x" * EXCERPT_CHARACTERS_MAX,
    }
    assert json.loads(result.metadata) == {"anthropic": {"web_fetch": read}}
    assert source == SourceFound("s-0", "https://a.test", "Rivers")


def test_a_paper_that_was_read_has_no_excerpt():
    paper = page({"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="})

    result, _ = heard(start(0, type="web_fetch_tool_result", tool_use_id="s", content=paper))

    assert json.loads(result.result) == {"url": "https://a.test", "title": "Rivers"}


@pytest.mark.parametrize("kind", ["web_fetch_tool_result_error", "web_fetch_tool_error"])
def test_a_page_that_could_not_be_read_is_an_error_and_goes_back_as_one(kind):
    failed = {"type": kind, "error_code": "url_not_accessible"}

    (result,) = heard(start(0, type="web_fetch_tool_result", tool_use_id="s", content=failed))

    assert (result.is_error, result.result) == (True, '{"error":"url_not_accessible"}')
    assert json.loads(result.metadata) == {"anthropic": {"web_fetch": failed}}


@pytest.mark.parametrize("content", [{}, {"type": "web_fetch_result"}, []])
def test_a_page_that_is_neither_breaks_the_stream(content):
    with pytest.raises(BrokenStream, match=r"^anthropic: web_fetch_tool_result: "):
        heard(start(0, type="web_fetch_tool_result", tool_use_id="s", content=content))


def test_usage_grows_and_the_end_tells_all_of_it():
    deltas = heard(
        begun(input_tokens=10, output_tokens=1, cache_read_input_tokens=5),
        ending("end_turn", output_tokens=7, cache_creation_input_tokens=3),
        OVER,
    )

    usage = TokenUsage(10, 7, 17, None, 3, 5)
    assert deltas == [
        UsageReported(TokenUsage(10, 1, 11, None, None, 5)),
        UsageReported(usage),
        AnswerFinished(FinishReason.STOP, usage, "msg_1"),
    ]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", FinishReason.STOP),
        ("stop_sequence", FinishReason.STOP),
        ("pause_turn", FinishReason.PAUSED),
        ("max_tokens", FinishReason.LENGTH),
        ("model_context_window_exceeded", FinishReason.LENGTH),
        ("tool_use", FinishReason.TOOL_CALLS),
        ("refusal", FinishReason.CONTENT_FILTER),
        ("brand_new", FinishReason.OTHER),
        (None, FinishReason.OTHER),
    ],
)
def test_every_stop_reason_has_its_meaning(reason, expected):
    assert heard(ending(reason), OVER)[-1].reason is expected


def test_a_refusal_tells_its_category_and_explanation():
    details = {"type": "refusal", "category": "cyber", "explanation": "because"}

    end = heard(ending("refusal", details), OVER)[-1]

    assert end.refusal == ProviderRefusal("cyber", "because")


def test_nothing_is_heard_after_the_end():
    assert len(heard(OVER, start(0, type="text", text="late"))) == 1


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "brand_new", "x": 1}, "brand_new"),
        (start(0, type="mcp_tool_use", id="m"), "mcp_tool_use"),
        (change(0, type="sparkle_delta", text="x"), "sparkle_delta"),
    ],
)
def test_an_unknown_kind_is_counted_and_skipped(event, kind):
    skipped = SkippedKinds()

    assert heard(event, skipped=skipped) == []
    assert skipped.statistics().skipped == {kind: 1}


def test_what_belongs_to_a_skipped_block_is_skipped_with_it():
    changes = (change(0, type="text_delta", text="x"), stop(0))

    assert heard(start(0, type="brand_new"), *changes) == []


def test_kinds_are_counted_up_to_a_limit():
    skipped = SkippedKinds()

    heard(*({"type": f"new_{n}"} for n in range(KINDS_MAX + 5)), skipped=skipped)

    assert len(skipped.statistics().skipped) == KINDS_MAX


@pytest.mark.parametrize(
    ("event", "place"),
    [
        (change(0, type="text_delta", text=5), "$.delta.text"),
        (change("0", type="text_delta", text="x"), "$.index"),
        (start(0, type="tool_use", name="f"), "`id` - at `$.content_block`"),
        ({"type": "message_start"}, "`message`"),
    ],
)
def test_a_known_kind_that_is_broken_says_where(event, place):
    with pytest.raises(BrokenStream, match=r"^anthropic: event: ") as caught:
        heard(event)
    assert place in str(caught.value)


@pytest.mark.parametrize("text", [b"data: {\n\n", b"data: []\n\n", b"data: 1\n\n", b"data: \n\n"])
def test_what_is_no_event_breaks_the_stream(text):
    with pytest.raises(BrokenStream):
        MessageDecoder(sse_split()).feed(text)


def test_an_error_event_is_reported_with_its_kind():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}

    with pytest.raises(ReportedFailure, match=r"^overloaded_error: Overloaded$"):
        heard(error)


def test_a_whole_message_is_read_as_if_it_had_been_streamed():
    message = {
        "id": "msg_2",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "brand_new"},
            {"type": "text", "text": "hi"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }

    deltas = MessageDecoder(sse_split()).whole(json.dumps(message).encode())

    assert deltas == [
        ReasoningDelta("0", "hm", '{"anthropic":{"signature":"s"}}'),
        ReasoningEnded("0"),
        TextDelta("2", "hi"),
        TextEnded("2"),
        ToolInputStarted("t", "f"),
        ToolCall("t", "f", '{"a": 1}'),
        AnswerFinished(FinishReason.TOOL_CALLS, TokenUsage(1, 2, 3), "msg_2"),
    ]


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b'{"id":1}', b'{"id":"m","content":[{"type":"text","text":1}]}']
)
def test_a_whole_message_that_is_broken_says_so(body):
    with pytest.raises(BrokenStream, match=r"^anthropic: (message|content): "):
        MessageDecoder(sse_split()).whole(body)
