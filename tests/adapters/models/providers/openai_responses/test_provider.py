"""The Responses API over the real HTTP client: where requests go, and how calls fail."""

import json

import pytest

from actors.law.parts.deltas import AnswerFailed, AnswerFinished, FailureKind, FinishReason
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from actors.law.parts.vendors import AZURE
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_responses.provider import ResponsesProvider
from tests.adapters.models.providers.replay import answer_of, events, replayed
from tests.fakes.network import Hangup, Network, head, streamed, whole

PROMPT = Prompt("gpt-5", (UserInput((TextPart("hello"),)),))
HI = b'{"type":"response.output_text.delta","item_id":"m","content_index":0,"delta":"hi"}'
WHOLE = {
    "id": "r1",
    "status": "completed",
    "output": [{"type": "message", "id": "m", "content": [{"type": "output_text", "text": "hi"}]}],
}
END = json.dumps({"type": "response.completed", "response": WHOLE | {"output": []}}).encode()


async def heard(provider):
    async with provider.stream(PROMPT) as batches:
        return [delta async for batch in batches for delta in batch]


@pytest.mark.parametrize(
    ("given", "host", "target", "shown"),
    [
        ({}, "api.openai.com", "/v1/responses", {"authorization": "Bearer key"}),
        (
            {"vendor": AZURE, "base_url": "https://r.openai.azure.com/"},
            "r.openai.azure.com",
            "/openai/v1/responses",
            {"api-key": "key"},
        ),
        (
            {
                "vendor": AZURE,
                "base_url": "https://r.openai.azure.com/openai/v1?api-version=preview",
            },
            "r.openai.azure.com",
            "/openai/v1/responses?api-version=preview",
            {"api-key": "key"},
        ),
    ],
)
async def test_requests_go_to_the_base_url_with_the_key(
    given, host, target, shown, autojump_clock, nursery
):
    network = Network(nursery, [[streamed(events(HI, END))]])

    deltas = await heard(ResponsesProvider(HttpClient(network.dial), "key", **given))

    (request,) = network.requests
    assert [origin.host for origin in network.origins] == [host]
    assert request.target == target
    named = ("authorization", "api-key")
    assert {n: request.headers[n] for n in named if n in request.headers} == shown
    assert deltas[-1] == AnswerFinished(FinishReason.STOP, response_id="r1")


async def test_an_answer_may_come_whole(autojump_clock, nursery):
    network = Network(nursery, [[whole(json.dumps(WHOLE).encode())]])

    answer = await ResponsesProvider(HttpClient(network.dial), "key").generate(PROMPT)

    assert answer.parts == (TextPart("hi"),)
    assert answer.response_id == "r1"


async def test_a_stream_that_ends_early_is_tried_again(autojump_clock, nursery):
    network = Network(nursery, [[head() + events(HI), Hangup]])

    failed = (await heard(ResponsesProvider(HttpClient(network.dial), "key")))[-1]

    assert isinstance(failed, AnswerFailed)
    assert (failed.failure.kind, failed.failure.retryable) == (FailureKind.TIMEOUT, True)
    assert failed.failure.message == "OpenAI stream closed before the response completed."


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("server_error", FailureKind.GENERIC, True),
        ("rate_limit_exceeded", FailureKind.RATE_LIMIT, True),
        ("insufficient_quota", FailureKind.USAGE_LIMIT, False),
        ("context_length_exceeded", FailureKind.CONFIG, False),
    ],
)
async def test_a_failed_response_is_classified(code, kind, retryable, autojump_clock, nursery):
    failed = {"id": "r1", "status": "failed", "error": {"code": code, "message": "no"}}
    event = json.dumps({"type": "response.failed", "response": failed}).encode()
    network = Network(nursery, [[streamed(events(HI, event))]])

    failure = (await heard(ResponsesProvider(HttpClient(network.dial), "key")))[-1].failure

    assert (failure.kind, failure.retryable) == (kind, retryable)


async def test_a_search_without_its_reasoning_is_told_without_ids(autojump_clock, nursery):
    message = (
        "Item 'ws_1' of type 'web_search_call' was provided without its required 'reasoning'"
        " item: 'rs_1'."
    )
    body = json.dumps({"error": {"message": message, "type": "invalid_request_error"}}).encode()
    network = Network(nursery, [[whole(body, 400)]])

    failure = await ResponsesProvider(HttpClient(network.dial), "key").generate(PROMPT)

    assert (failure.kind, failure.retryable) == (FailureKind.GENERIC, False)
    assert "rs_1" not in f"{failure.message} {failure.detail}"


async def test_what_is_not_known_is_counted(autojump_clock, nursery):
    network = Network(nursery, [[streamed(events(b'{"type":"odd"}', END))]])
    provider = ResponsesProvider(HttpClient(network.dial), "key")

    await heard(provider)

    assert provider.statistics().skipped == {"odd": 1}


REASONED = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "content": [{"type": "reasoning_text", "text": "hm"}],
}
SAID = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": "hi"}]}
THINKING = {"id": "r", "object": "response", "status": "completed", "output": [REASONED, SAID]}


@pytest.mark.parametrize(
    ("base_url", "goes_back"),
    [("https://api.deepseek.com/v1", True), ("https://api.openai.com/v1", False)],
)
@pytest.mark.parametrize("is_streamed", [True, False])
async def test_reasoning_in_plain_text_is_sent_back_where_it_came_from(
    base_url, goes_back, is_streamed, autojump_clock, nursery
):
    ended = [{"type": "response.output_item.done", "item": item} for item in (REASONED, SAID)]
    ended.append({"type": "response.completed", "response": {"id": "r", "status": "completed"}})
    stream = events(*(json.dumps(each).encode() for each in ended))
    first = streamed(stream) if is_streamed else whole(json.dumps(THINKING).encode())
    network = Network(nursery, [[first], [whole(json.dumps(THINKING).encode())]])
    provider = ResponsesProvider(HttpClient(network.dial), "key", base_url=base_url)

    if is_streamed:
        answer = answer_of(await heard(provider))
    else:
        answer = await provider.generate(PROMPT)
    await provider.generate(Prompt("deepseek-chat", (*PROMPT.messages, replayed(answer))))

    sent = json.loads(network.requests[1].body)["input"]
    assert (REASONED in sent) is goes_back
    assert sent[-1]["content"] == [{"type": "output_text", "text": "hi"}]
