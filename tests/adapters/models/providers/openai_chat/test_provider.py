"""Chat Completions over the real HTTP client: where requests go, and how calls fail."""

import json
from uuid import UUID

import pytest

from actors.law.ids import ChatId, UserId
from actors.law.parts.deltas import (
    AnswerFailed,
    AnswerFinished,
    FailureKind,
    FinishReason,
    TextDelta,
)
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Asker, Prompt, UserInput
from actors.law.parts.vendors import AZURE, OPENAI, OPENAI_COMPAT, OPENROUTER, VERCEL
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat.provider import ChatCompletionsProvider
from tests.adapters.models.providers.replay import events
from tests.fakes.network import Hangup, Network, head, streamed, whole

PROMPT = Prompt("gpt-4o", (UserInput((TextPart("hello"),)),))
HI = b'{"id":"c1","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":null}]}'
STOP = b'{"id":"c1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
ANSWER = events(HI, STOP, b"[DONE]")


async def heard(provider, prompt=PROMPT):
    async with provider.stream(prompt) as batches:
        return [delta async for batch in batches for delta in batch]


@pytest.mark.parametrize(
    ("vendor", "base_url", "host", "target"),
    [
        (OPENAI, None, "api.openai.com", "/v1/chat/completions"),
        (OPENROUTER, None, "openrouter.ai", "/api/v1/chat/completions"),
        (OPENAI_COMPAT, "http://localhost:8080/v1/", "localhost", "/v1/chat/completions"),
        (AZURE, "https://r.openai.azure.com", "r.openai.azure.com", "/openai/v1/chat/completions"),
        (
            AZURE,
            "https://r.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
            "r.openai.azure.com",
            "/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
    ],
)
async def test_requests_go_to_the_base_url(vendor, base_url, host, target, autojump_clock, nursery):
    network = Network(nursery, [[streamed(ANSWER)]])
    provider = ChatCompletionsProvider(
        HttpClient(network.dial), "key", vendor=vendor, base_url=base_url
    )

    await heard(provider)

    assert [origin.host for origin in network.origins] == [host]
    assert [request.target for request in network.requests] == [target]


@pytest.mark.parametrize(
    ("vendor", "key", "shown"),
    [
        (OPENAI, "key", {"authorization": "Bearer key"}),
        (AZURE, "key", {"api-key": "key"}),
        (OPENAI_COMPAT, "", {}),
    ],
)
async def test_a_key_is_shown_in_the_vendors_header(vendor, key, shown, autojump_clock, nursery):
    network = Network(nursery, [[streamed(ANSWER)]])
    client = HttpClient(network.dial)

    await heard(ChatCompletionsProvider(client, key, vendor=vendor, base_url="https://a.test/v1"))

    headers = network.requests[0].headers
    assert {n: headers[n] for n in ("authorization", "api-key") if n in headers} == shown


async def test_a_request_says_who_asks(autojump_clock, nursery):
    network = Network(nursery, [[streamed(ANSWER)]])
    asker = Asker(UserId(UUID(int=1)), ChatId(UUID(int=2)))

    await heard(
        ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENAI),
        Prompt("gpt-4o", PROMPT.messages, asker=asker),
    )

    headers = network.requests[0].headers
    assert headers["x-promptcorner-chat-id"] == str(UUID(int=2))
    assert headers["accept"] == "text/event-stream"


def test_a_provider_without_an_address_of_its_own_needs_a_base_url():
    with pytest.raises(ValueError, match=r"^provider/azure: has no base URL, set one$"):
        ChatCompletionsProvider(HttpClient(None), "key", vendor=AZURE)


async def test_an_answer_streams(autojump_clock, nursery):
    network = Network(nursery, [[streamed(ANSWER, size=7)]])
    provider = ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENAI)

    deltas = await heard(provider)

    assert deltas[0] == TextDelta("text_0", "hi")
    assert deltas[-1] == AnswerFinished(FinishReason.STOP, response_id="c1")


async def test_an_answer_may_come_whole(autojump_clock, nursery):
    choice = {"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    body = {"id": "c1", "choices": [choice]}
    network = Network(nursery, [[whole(json.dumps(body).encode())]])
    provider = ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENAI)

    answer = await provider.generate(PROMPT)

    assert answer.parts == (TextPart("hi"),)
    assert "stream" not in json.loads(network.requests[0].body)


async def test_a_stream_that_ends_early_is_tried_again(autojump_clock, nursery):
    network = Network(nursery, [[head() + events(HI), Hangup]])
    provider = ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENROUTER)

    failed = (await heard(provider))[-1]

    assert isinstance(failed, AnswerFailed)
    assert (failed.failure.kind, failed.failure.retryable) == (FailureKind.TIMEOUT, True)
    assert failed.failure.message == "OpenRouter stream closed before the response completed."


async def test_an_error_in_mid_stream_is_what_it_says(autojump_clock, nursery):
    error = b'{"error":{"message":"overloaded, key sk-secret","code":529}}'
    network = Network(nursery, [[streamed(events(HI, error))]])
    provider = ChatCompletionsProvider(HttpClient(network.dial), "sk-secret", vendor=OPENAI)

    failed = (await heard(provider))[-1]

    assert (failed.failure.kind, failed.failure.retryable) == (FailureKind.OVERLOADED, True)
    assert "sk-secret" not in failed.failure.detail


async def test_a_refused_request_is_classified(autojump_clock, nursery):
    body = b'{"error":{"message":"wait","type":"requests","code":"rate_limit_exceeded"}}'
    network = Network(nursery, [[whole(body, 429, Retry_After="7")]])
    provider = ChatCompletionsProvider(
        HttpClient(network.dial), "key", vendor=OPENAI_COMPAT, base_url="http://localhost/v1"
    )

    failure = await provider.generate(PROMPT)

    assert failure.kind is FailureKind.RATE_LIMIT
    assert (failure.retry_after_seconds, failure.provider) == (7.0, "openai-compat")


async def test_what_is_not_known_is_counted(autojump_clock, nursery):
    odd = b'{"choices":[{"index":0,"delta":{"annotations":[{"type":"odd"}]}}]}'
    network = Network(nursery, [[streamed(events(odd, STOP))]])
    provider = ChatCompletionsProvider(HttpClient(network.dial), "key", vendor=OPENAI)

    await heard(provider)

    assert provider.statistics().skipped == {"annotation odd": 1}


def test_a_compatible_server_is_known_by_its_host():
    assert OPENAI_COMPAT.dialect_at("api.groq.com").thoughts is None
    assert OPENAI_COMPAT.dialect_at("localhost") is OPENAI_COMPAT.dialect
    assert VERCEL.dialect_at("api.groq.com") is VERCEL.dialect
