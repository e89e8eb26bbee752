"""Stories of one call to Anthropic, over a memory network on virtual time."""

import json
from uuid import UUID

import pytest
import trio

from actors.law.parts.deltas import (
    AnswerFailed,
    AnswerFinished,
    FailureKind,
    ProviderFailure,
    TextDelta,
    TextEnded,
    UsageReported,
)
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import AnthropicOptions, Asker, CallSettings, Prompt, UserInput
from adapters.models.providers.anthropic.provider import AnthropicProvider
from adapters.models.providers.dial import Origin
from adapters.models.providers.http import HttpClient
from tests.fakes.network import Hangup, Network, Reset, Wait, chunk, head, whole

PROMPT = Prompt("claude", (UserInput((TextPart("hi"),)),))
OPENED = head(Transfer_Encoding="chunked")
KEY = "sk-ant-REDACTED"


def event(type, **more):
    return chunk(f"event: {type}\ndata: {json.dumps({'type': type} | more)}\n\n".encode())


def said(text):
    return event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})


BEGUN = event("message_start", message={"id": "m", "usage": {"input_tokens": 1}}) + event(
    "content_block_start", index=0, content_block={"type": "text", "text": ""}
)
ENDED = event("content_block_stop", index=0) + event("message_stop")


async def heard(network, prompt=PROMPT, **more):
    """The batches of one stream, each with the second at which it came."""
    batches = []
    async with AnthropicProvider(HttpClient(network.dial), KEY, **more).stream(prompt) as stream:
        async for batch in stream:
            batches.append((round(trio.current_time()), list(batch)))
    return batches


async def failed(network, **more):
    (*_, (_, batch)) = await heard(network, **more)
    assert isinstance(batch[-1], AnswerFailed)
    return batch[-1].failure


async def test_deltas_that_arrive_together_are_handed_over_together(autojump_clock, nursery):
    script = [OPENED + BEGUN, 3.0, said("a") + said("b"), 4.0, ENDED + b"0\r\n\r\n", Wait]
    network = Network(nursery, [script])

    (first, second, third) = await heard(network)

    assert [type(delta) for delta in first[1]] == [UsageReported]
    assert second == (3, [TextDelta("0", "a"), TextDelta("0", "b")])
    assert third[0] == 7
    assert [type(delta) for delta in third[1]] == [TextEnded, AnswerFinished]


async def test_the_request_says_who_asks_and_nothing_else(autojump_clock, nursery):
    network = Network(nursery, [[OPENED, BEGUN, ENDED, b"0\r\n\r\n"]])
    owner, chat, child = UUID(int=1), UUID(int=2), UUID(int=3)
    settings = CallSettings(options=AnthropicOptions(context_1m_enabled=True))
    prompt = Prompt("c", PROMPT.messages, settings=settings, asker=Asker(owner, chat, child))

    await heard(network, prompt, base_url="https://gate.test/anthropic/v1/")

    (request,) = network.requests
    assert (request.target, network.origins) == (
        "/anthropic/v1/messages",
        [Origin("https", "gate.test", 443)],
    )
    assert json.loads(request.body)["stream"] is True
    wanted = {
        "x-api-key": KEY,
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "context-1m-2025-08-07",
        "x-promptcorner-owner-id": str(owner),
        "x-promptcorner-chat-id": str(chat),
        "x-promptcorner-subchat-id": str(child),
        "accept": "text/event-stream",
    }
    assert wanted.items() <= request.headers.items()
    assert request.headers["user-agent"].startswith("promptcorner/")


async def test_pings_are_silence(autojump_clock, nursery):
    script = [OPENED + BEGUN, 5.0, event("ping"), 5.0, said("a"), ENDED, b"0\r\n\r\n"]

    (_, second, *_) = await heard(Network(nursery, [script]))

    assert second == (10, [TextDelta("0", "a")])


@pytest.mark.parametrize("ending", [b"0\r\n\r\n", Hangup, Reset])
async def test_a_stream_that_ends_too_early_is_tried_again(ending, autojump_clock, nursery):
    failure = await failed(Network(nursery, [[OPENED + BEGUN + said("a"), ending]]))

    assert (failure.kind, failure.retryable) == (FailureKind.TIMEOUT, True)


async def test_a_missing_message_stop_has_words_of_its_own(autojump_clock, nursery):
    failure = await failed(Network(nursery, [[OPENED + BEGUN, b"0\r\n\r\n"]]))

    assert failure.message == "Anthropic stream closed before the response completed."


async def test_an_error_in_mid_stream_is_classified_like_any_other(autojump_clock, nursery):
    error = {"type": "overloaded_error", "message": "Overloaded"}
    script = [OPENED + BEGUN + said("a"), event("error", error=error)]

    failure = await failed(Network(nursery, [script]))

    assert failure == ProviderFailure(
        FailureKind.OVERLOADED,
        "Anthropic is overloaded for now.",
        True,
        "Anthropic is overloaded for now.",
        "anthropic",
        detail="overloaded_error: Overloaded",
    )


async def test_a_broken_event_fails_with_its_path(autojump_clock, nursery):
    broken = event("content_block_delta", index=0, delta={"type": "text_delta", "text": 1})

    failure = await failed(Network(nursery, [[OPENED + BEGUN + broken]]))

    assert (failure.kind, failure.retryable) == (FailureKind.GENERIC, False)
    assert "$.delta.text" in failure.detail


@pytest.mark.parametrize(
    ("status", "type", "message", "kind", "retryable"),
    [
        (429, "rate_limit_error", "slow down", "rate_limit", True),
        (529, "overloaded_error", "Overloaded", "overloaded", True),
        (500, "api_error", "Internal server error", "generic", True),
        (401, "authentication_error", "invalid x-api-key", "auth", False),
        (403, "permission_error", "not allowed", "auth", False),
        (400, "invalid_request_error", "prompt is too long", "config", False),
        (400, "billing_error", "credit balance is too low", "usage_limit", False),
        (404, "not_found_error", "model not found: x", "config", False),
        (504, "timeout_error", "took too long", "timeout", True),
        (302, "moved", "elsewhere", "generic", False),
    ],
)
async def test_a_refused_request_is_a_failure(
    status, type, message, kind, retryable, autojump_clock, nursery
):
    body = json.dumps({"type": "error", "error": {"type": type, "message": message}}).encode()
    network = Network(nursery, [[whole(body, status, Retry_After=7)]])

    failure = await failed(network)

    assert (failure.kind.value, failure.retryable) == (kind, retryable)
    assert (failure.status_code, failure.detail, failure.retry_after_seconds) == (
        status,
        message,
        7,
    )


async def test_a_bedrock_gateway_is_named_as_it_is_configured(autojump_clock, nursery):
    failure = await failed(Network(nursery, [[whole(b"", 529)]]), name="bedrock")

    assert (failure.provider, failure.message) == ("bedrock", "AWS Bedrock is overloaded for now.")


async def test_a_key_that_is_repeated_does_not_come_out(autojump_clock, nursery):
    body = json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()

    failure = await failed(Network(nursery, [[whole(body, 400)]]))

    assert failure.detail == "bad key [redacted]"


async def test_leaving_in_mid_stream_hangs_up(autojump_clock, nursery):
    network = Network(nursery, [[OPENED + BEGUN, 5.0, said("a"), 5.0, said("b")]])

    with trio.move_on_after(7):
        await heard(network)
    await trio.sleep(10)

    assert network.hung_up == 1


async def test_a_failure_to_connect_is_one_batch(autojump_clock, nursery):
    network = Network(nursery, refuse=ConnectionRefusedError(111, "Connection refused"))

    ((_, batch),) = await heard(network)

    assert [type(delta) for delta in batch] == [AnswerFailed]
    assert batch[0].failure.kind is FailureKind.TIMEOUT


async def test_a_whole_answer_comes_at_once_or_fails(autojump_clock, nursery):
    message = {"id": "m", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}
    network = Network(nursery, [[whole(json.dumps(message).encode())], [whole(b"", 529)]])
    provider = AnthropicProvider(HttpClient(network.dial), KEY)

    answer = await provider.generate(PROMPT)
    failure = await provider.generate(PROMPT)

    assert answer.parts == (TextPart("hi"),)
    assert failure.kind is FailureKind.OVERLOADED
    assert "stream" not in json.loads(network.requests[0].body)


async def test_what_is_skipped_is_counted(autojump_clock, nursery):
    network = Network(nursery, [[OPENED + BEGUN, event("brand_new"), ENDED, b"0\r\n\r\n"]])
    provider = AnthropicProvider(HttpClient(network.dial), KEY)

    async with provider.stream(PROMPT) as stream:
        _ = [batch async for batch in stream]

    assert provider.statistics().skipped == {"brand_new": 1}
