"""What Gemini says beside the recorded: searches, files, withheld, cut short, broken."""

import json

import pytest

from actors.law.parts.deltas import (
    AnswerFinished,
    FileMade,
    FinishReason,
    ProviderRefusal,
    ProviderToolResult,
    ReasoningDelta,
    ReasoningEnded,
    SourceFound,
    TextDelta,
    TextEnded,
    ToolCall,
)
from actors.law.parts.message import TokenUsage
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds
from adapters.models.providers.google.response import GeminiDecoder
from tests.adapters.models.providers.replay import deltas_of, events


def chunk(*parts, finish=None, candidate=None, **more):
    given = {"content": {"role": "model", "parts": list(parts)}, "index": 0} | (candidate or {})
    if finish:
        given["finishReason"] = finish
    return json.dumps({"candidates": [given], "responseId": "r1", **more}).encode()


def read(*data, **options):
    return deltas_of(GeminiDecoder("n", **options), [events(*data)])


def signed(signature):
    return json.dumps({"google": {"thought_signature": signature}}, separators=(",", ":"))


def call(name, id=None, **args):
    return {"functionCall": {"name": name, "args": args} | ({"id": id} if id else {})}


END = AnswerFinished(FinishReason.STOP, response_id="r1")


def test_calls_come_whole_and_get_ids_where_they_have_none():
    deltas = read(
        chunk(call("add", x=1) | {"thoughtSignature": "s"}, call("sub")),
        chunk(call("add", "own"), finish="STOP"),
    )

    assert deltas == [
        ToolCall("call_n_0", "add", '{"x": 1}', metadata=signed("s")),
        ToolCall("call_n_1", "sub", "{}"),
        ToolCall("own", "add", "{}"),
        AnswerFinished(FinishReason.TOOL_CALLS, response_id="r1"),
    ]


def test_a_call_may_have_no_arguments():
    assert read(chunk({"functionCall": {"name": "now"}}, finish="STOP"))[0] == ToolCall(
        "call_n_0", "now", "{}"
    )


def test_thoughts_end_where_the_text_begins():
    deltas = read(
        chunk({"text": "h", "thought": True}, {"text": "m", "thought": True}),
        chunk({"text": "yes"}),
        chunk(finish="STOP"),
    )

    assert deltas == [
        ReasoningDelta("reasoning_0", "h"),
        ReasoningDelta("reasoning_0", "m"),
        ReasoningEnded("reasoning_0"),
        TextDelta("text_1", "yes"),
        TextEnded("text_1"),
        END,
    ]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        pytest.param(
            [chunk({"text": "a"}), chunk({"text": "", "thoughtSignature": "s"}, finish="STOP")],
            [TextDelta("text_0", "a"), TextEnded("text_0", signed("s")), END],
            id="behind the text it belongs to",
        ),
        pytest.param(
            [chunk({"text": "a", "thoughtSignature": "s"}, {"text": "b"}, finish="STOP")],
            [
                TextDelta("text_0", "a"),
                TextEnded("text_0", signed("s")),
                TextDelta("text_1", "b"),
                TextEnded("text_1"),
                END,
            ],
            id="with one of two texts",
        ),
        pytest.param(
            [chunk({"text": "", "thoughtSignature": "s"}, finish="STOP")],
            [TextDelta("text_0", ""), TextEnded("text_0", signed("s")), END],
            id="with no text at all",
        ),
        pytest.param(
            [chunk({"text": "a", "thought": True, "thoughtSignature": "s"}, finish="STOP")],
            [ReasoningDelta("reasoning_0", "a"), ReasoningEnded("reasoning_0", signed("s")), END],
            id="with a thought",
        ),
    ],
)
def test_a_signature_stays_with_its_part(chunks, expected):
    assert read(*chunks) == expected


def test_each_page_that_grounds_an_answer_is_one_source():
    web = [{"web": {"uri": "u", "title": "T"}}, {"web": {"uri": "v"}}, {"maps": {"uri": "w"}}]
    found = {"groundingMetadata": {"groundingChunks": web, "webSearchQueries": ["q"]}}

    deltas = read(chunk({"text": "a"}, candidate=found), chunk(candidate=found, finish="STOP"))

    assert deltas == [
        TextDelta("text_0", "a"),
        SourceFound("source_1", "u", "T"),
        SourceFound("source_2", "v"),
        TextEnded("text_0"),
        END,
    ]


def test_a_search_among_functions_is_a_call_with_its_result():
    asked = {
        "toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "args": {"queries": ["q"]}, "id": "t"},
        "thoughtSignature": "s",
    }
    told = {"toolResponse": {"toolType": "GOOGLE_SEARCH_WEB", "response": {"n": 1}, "id": "t"}}

    called, result, _ = read(chunk(asked, told, finish="STOP"))

    assert (called.id, called.name, called.args) == ("t", "web_search", '{"queries": ["q"]}')
    assert called.provider_executed
    assert json.loads(called.metadata) == {"google": {"part": asked}}
    assert result == ProviderToolResult("t", "web_search", '{"n": 1}', metadata=result.metadata)
    assert json.loads(result.metadata) == {"google": {"part": told}}


def test_a_page_among_functions_is_a_call_with_its_result():
    asked = {"toolCall": {"toolType": "URL_CONTEXT", "args": {"urls": ["u"]}, "id": "t"}}
    told = {"toolResponse": {"toolType": "URL_CONTEXT", "response": {"n": 1}, "id": "t"}}

    called, result, _ = read(chunk(asked, told, finish="STOP"))

    assert (called.name, called.provider_executed) == ("web_fetch", True)
    assert json.loads(called.metadata) == {"google": {"part": asked}}
    assert (result.name, result.result) == ("web_fetch", '{"n": 1}')
    assert json.loads(result.metadata) == {"google": {"part": told}}


def test_pages_that_were_read_are_sources_and_those_that_were_not_are_none():
    pages = [
        {"retrievedUrl": "https://a.test", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
        {"retrievedUrl": "https://b.test", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_ERROR"},
        {"retrievedUrl": "https://a.test", "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS"},
    ]
    said = chunk(
        {"text": "so"}, finish="STOP", candidate={"urlContextMetadata": {"urlMetadata": pages}}
    )

    found = [delta for delta in read(said) if isinstance(delta, SourceFound)]

    assert found == [SourceFound("source_1", "https://a.test", "")]


def test_a_picture_that_the_model_made_is_a_file():
    picture = {"inlineData": {"mimeType": "image/png", "data": "aW1n"}}

    assert read(chunk(picture, finish="STOP")) == [FileMade("image/png", "aW1n"), END]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (chunk(finish="MAX_TOKENS"), AnswerFinished(FinishReason.LENGTH, response_id="r1")),
        (
            chunk(finish="OTHER"),
            AnswerFinished(FinishReason.OTHER, response_id="r1", refusal=ProviderRefusal("OTHER")),
        ),
        (
            chunk(finish="SAFETY", candidate={"content": None, "finishMessage": "no"}),
            AnswerFinished(
                FinishReason.CONTENT_FILTER,
                response_id="r1",
                refusal=ProviderRefusal("SAFETY", "no"),
            ),
        ),
        (
            b'{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"responseId":"r1"}',
            AnswerFinished(
                FinishReason.CONTENT_FILTER,
                response_id="r1",
                refusal=ProviderRefusal("PROHIBITED_CONTENT"),
            ),
        ),
        (
            chunk(
                finish="STOP",
                usageMetadata={
                    "promptTokenCount": 10,
                    "cachedContentTokenCount": 4,
                    "toolUsePromptTokenCount": 2,
                    "candidatesTokenCount": 3,
                    "thoughtsTokenCount": 5,
                    "totalTokenCount": 20,
                },
            ),
            AnswerFinished(FinishReason.STOP, TokenUsage(8, 8, 20, 5, None, 4), "r1"),
        ),
    ],
)
def test_an_answer_says_why_it_ended(data, expected):
    assert read(data) == [expected]


def test_counts_that_say_nothing_take_nothing_away():
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3}

    end = read(
        chunk({"text": "a"}, usageMetadata=counts),
        chunk(finish="STOP", usageMetadata={"trafficType": "ON_DEMAND"}),
    )[-1]

    assert end.usage == TokenUsage(1, 2, 3)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            b'{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}',
            "UNAVAILABLE status 503: overloaded",
        ),
        (
            chunk(finish="MALFORMED_FUNCTION_CALL", candidate={"finishMessage": "print(add(1))"}),
            "server error: MALFORMED_FUNCTION_CALL: print(add(1))",
        ),
    ],
)
def test_an_error_in_the_middle_of_a_stream_fails_the_answer(data, text):
    with pytest.raises(ReportedFailure) as caught:
        read(chunk({"text": "a"}), data)

    assert str(caught.value) == text


def test_what_is_not_known_is_counted_and_skipped():
    skipped = SkippedKinds()

    deltas = read(
        chunk({"executableCode": {"code": "1"}}, {"text": "a"}),
        chunk(finish="STOP"),
        skipped=skipped,
    )

    assert deltas == [TextDelta("text_0", "a"), TextEnded("text_0"), END]
    assert skipped.statistics().skipped == {"part executableCode": 1}


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (
            b'{"candidates":[{"content":{"parts":{}}}]}',
            "google: Expected `array | null`, got `object` - at `$.candidates[0].content.parts`",
        ),
        (chunk({"text": 7}), "google: Expected `str`, got `int` - at `$.text`"),
        (b'{"candidates":', "google: Input data was truncated"),
    ],
)
def test_a_broken_chunk_fails_the_answer_and_says_where(data, text):
    with pytest.raises(BrokenStream) as caught:
        read(data)

    assert str(caught.value) == text


def test_a_stream_that_ends_early_has_no_end_of_its_own():
    assert read(chunk({"text": "a"})) == [TextDelta("text_0", "a")]


def test_further_candidates_are_not_ours():
    other = chunk({"text": "b"}, candidate={"index": 1}, finish="STOP")

    assert read(chunk({"text": "a"}), other, chunk(finish="MAX_TOKENS")) == [
        TextDelta("text_0", "a"),
        TextEnded("text_0"),
        AnswerFinished(FinishReason.LENGTH, response_id="r1"),
    ]


def test_a_whole_answer_without_a_finish_reason_is_broken():
    with pytest.raises(BrokenStream, match=r"^google: a whole answer without a finish reason$"):
        GeminiDecoder("n").whole(chunk({"text": "a"}))
