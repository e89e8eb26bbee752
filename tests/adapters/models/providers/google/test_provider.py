"""Gemini over the real HTTP client: where requests go, and how calls fail."""

import json

import pytest

from actors.law.parts.deltas import AnswerFailed, AnswerFinished, FailureKind, FinishReason
from actors.law.parts.message import JsonText, TextPart, ToolCallPart
from actors.law.parts.prompt import AssistantOutput, Prompt, ToolDefinition, UserInput, WebSearch
from adapters.models.providers.google.provider import GeminiProvider
from adapters.models.providers.http import HttpClient
from tests.adapters.models.providers.replay import events
from tests.fakes.network import Hangup, Network, head, streamed, whole

HELLO = UserInput((TextPart("hello"),))
PROMPT = Prompt("gemini-2.5-flash", (HELLO,))
HI = b'{"candidates":[{"content":{"parts":[{"text":"hi"}],"role":"model"}}],"responseId":"r1"}'
END = b'{"candidates":[{"finishReason":"STOP"}],"responseId":"r1"}'
VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google"


async def heard(provider, prompt=PROMPT):
    async with provider.stream(prompt) as batches:
        return [delta async for batch in batches for delta in batch]


@pytest.mark.parametrize(
    ("given", "model", "path", "shown"),
    [
        ({}, "gemini-x", "/v1beta/models/gemini-x", {"x-goog-api-key": "key"}),
        ({}, "tunedModels/a b", "/v1beta/tunedModels/a%20b", {"x-goog-api-key": "key"}),
        (
            {"base_url": VERTEX},
            "gemini-x",
            "/v1/projects/p/locations/l/publishers/google/models/gemini-x",
            {"authorization": "Bearer key"},
        ),
        (
            {"base_url": "http://proxy.test/gemini/"},
            "gemini-x",
            "/gemini/models/gemini-x",
            {"x-goog-api-key": "key"},
        ),
    ],
)
async def test_requests_go_to_the_model_with_the_key(
    given, model, path, shown, autojump_clock, nursery
):
    body = json.dumps(json.loads(HI) | {"candidates": [{"finishReason": "STOP"}]}).encode()
    network = Network(nursery, [[streamed(events(HI, END))], [whole(body)]])
    provider = GeminiProvider(HttpClient(network.dial), "key", **given)
    prompt = Prompt(model, (HELLO,))

    deltas = await heard(provider, prompt)
    answer = await provider.generate(prompt)

    assert [request.target for request in network.requests] == [
        f"{path}:streamGenerateContent?alt=sse",
        f"{path}:generateContent",
    ]
    headers = network.requests[0].headers
    assert {n: headers[n] for n in ("x-goog-api-key", "authorization") if n in headers} == shown
    assert deltas[-1] == AnswerFinished(FinishReason.STOP, response_id="r1")
    assert answer.parts == ()


async def test_vertex_is_told_no_ids(autojump_clock, nursery):
    network = Network(nursery, [[streamed(events(END))]])
    said = AssistantOutput((ToolCallPart("c1", "add"),))

    await heard(
        GeminiProvider(HttpClient(network.dial), "key", base_url=VERTEX),
        Prompt("gemini-2.5-flash", (HELLO, said)),
    )

    assert b"c1" not in network.requests[0].body


@pytest.mark.parametrize(
    "host",
    [
        "aiplatform.googleapis.com",
        "us-east5-aiplatform.googleapis.com",
        "aiplatform.eu.rep.googleapis.com",
    ],
)
async def test_vertex_searches_beside_functions_without_being_asked_to_tell_of_it(
    host, autojump_clock, nursery
):
    """A field that Vertex does not know makes it refuse the whole request."""
    network = Network(nursery, [[streamed(events(END))]])
    part = {"toolCall": {"toolType": "GOOGLE_SEARCH_WEB", "id": "s1", "args": {"queries": ["x"]}}}
    noted = JsonText(json.dumps({"google": {"part": part}}))
    searched = ToolCallPart(
        "s1", "web_search", JsonText("{}"), provider_executed=True, provider_metadata=noted
    )
    prompt = Prompt(
        "gemini-3-pro-preview",
        (HELLO, AssistantOutput((TextPart("hi"), searched)), HELLO),
        tools=(ToolDefinition("add", "Adds", JsonText('{"type":"object","properties":{}}')),),
        provider_tools=(WebSearch(),),
    )
    url = f"https://{host}/v1/projects/p/locations/l/publishers/google"

    await heard(GeminiProvider(HttpClient(network.dial), "key", base_url=url), prompt)

    body = json.loads(network.requests[0].body)
    assert [sorted(tool) for tool in body["tools"]] == [["functionDeclarations"], ["googleSearch"]]
    assert "toolConfig" not in body
    assert body["contents"][1]["parts"] == [{"text": "hi"}]


async def test_a_stream_that_ends_early_is_tried_again(autojump_clock, nursery):
    network = Network(nursery, [[head() + events(HI), Hangup]])

    failed = (await heard(GeminiProvider(HttpClient(network.dial), "key")))[-1]

    assert isinstance(failed, AnswerFailed)
    assert (failed.failure.kind, failed.failure.retryable) == (FailureKind.TIMEOUT, True)
    assert failed.failure.message == "Google stream closed before the response completed."


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"code": 503, "status": "UNAVAILABLE", "message": "no"}, FailureKind.TIMEOUT, True),
        ({"code": 500, "status": "INTERNAL", "message": "no"}, FailureKind.GENERIC, True),
        (
            {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "n"},
            FailureKind.RATE_LIMIT,
            True,
        ),
        ({"code": 401, "status": "UNAUTHENTICATED", "message": "no"}, FailureKind.AUTH, False),
    ],
)
async def test_an_error_in_mid_stream_is_what_it_says(
    error, kind, retryable, autojump_clock, nursery
):
    event = json.dumps({"error": error}).encode()
    network = Network(nursery, [[streamed(events(HI, event))]])

    failure = (await heard(GeminiProvider(HttpClient(network.dial), "key")))[-1].failure

    assert (failure.kind, failure.retryable) == (kind, retryable)


async def test_a_model_that_got_lost_is_tried_again(autojump_clock, nursery):
    event = b'{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}'
    network = Network(nursery, [[streamed(events(event))]])

    failure = (await heard(GeminiProvider(HttpClient(network.dial), "key")))[-1].failure

    assert (failure.kind, failure.retryable) == (FailureKind.GENERIC, True)


async def test_what_is_not_known_is_counted(autojump_clock, nursery):
    odd = b'{"candidates":[{"content":{"parts":[{"odd":1}]}}]}'
    network = Network(nursery, [[streamed(events(odd, END))]])
    provider = GeminiProvider(HttpClient(network.dial), "key")

    await heard(provider)

    assert provider.statistics().skipped == {"part odd": 1}
