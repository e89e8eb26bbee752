"""Bedrock's transport: names of models, authorisation, its event stream, its exceptions."""

import base64
import json

import pytest

from actors.law.parts.deltas import AnswerFailed, AnswerFinished, FailureKind
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import (
    AnswerSchema,
    AnthropicOptions,
    CallSettings,
    Prompt,
    UserInput,
    WebFetch,
    WebSearch,
)
from adapters.models.providers.bedrock.aws import AwsKeys, BearerToken
from adapters.models.providers.bedrock.provider import BedrockProvider, model_id
from adapters.models.providers.http import HttpClient
from tests.adapters.models.providers.bedrock.frames import frame
from tests.fakes.network import Network, streamed, whole

PROMPT = Prompt("anthropic.claude-x-v1:0", (UserInput((TextPart("hi"),)),))
KEYS = AwsKeys("AKID", "SECRET", "TOKEN")
STREAM = "application/vnd.amazon.eventstream"


def event(**content):
    packed = base64.b64encode(json.dumps(content).encode()).decode()
    payload = json.dumps({"bytes": packed, "p": "abc"}).encode()
    return frame(payload, event_type="chunk", message_type="event")


async def heard(network, credentials=KEYS, prompt=PROMPT, **more):
    provider = BedrockProvider(
        HttpClient(network.dial), credentials, **{"region": "eu-west-1"} | more
    )
    async with provider.stream(prompt) as batches:
        return [delta async for batch in batches for delta in batch]


async def test_an_answer_ends_with_message_stop(autojump_clock, nursery):
    body = event(type="message_delta", delta={"stop_reason": "end_turn"})
    body += frame(b"{}", event_type="initial-response", message_type="event")
    body += event(type="message_stop")
    network = Network(nursery, [[streamed(body, content_type=STREAM)]])

    deltas = await heard(network)

    assert isinstance(deltas[-1], AnswerFinished)
    assert network.requests[0].target == (
        "/model/eu.anthropic.claude-x-v1%3A0/invoke-with-response-stream"
    )


async def test_keys_sign_and_a_token_goes_as_it_is(autojump_clock, nursery):
    answer = streamed(event(type="message_stop"), content_type=STREAM)
    network = Network(nursery, [[answer], [answer]])

    await heard(network)
    await heard(network, BearerToken("secret-token"))

    signed, bearer = (request.headers for request in network.requests)
    assert signed["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "/eu-west-1/bedrock/aws4_request," in signed["authorization"]
    names = "SignedHeaders=content-type;host;x-amz-date;x-amz-security-token"
    assert names in signed["authorization"]
    assert signed["x-amz-security-token"] == "TOKEN"
    assert bearer["authorization"] == "Bearer secret-token"


async def test_what_the_transport_asks_for_stands_in_the_body(autojump_clock, nursery):
    network = Network(nursery, [[streamed(event(type="message_stop"), content_type=STREAM)]])
    wanted = CallSettings(options=AnthropicOptions(context_1m_enabled=True))
    prompt = Prompt("arn:aws:bedrock:x", PROMPT.messages, settings=wanted)

    await heard(network, prompt=prompt, base_url="http://local:8080/proxy")

    (request,) = network.requests
    body = json.loads(request.body)
    assert request.target.startswith("/proxy/model/arn%3Aaws%3Abedrock%3Ax/")
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert body["anthropic_beta"] == ["context-1m-2025-08-07"]
    assert not {"model", "stream"} & body.keys()


async def test_what_aws_does_not_have_is_not_asked_for(autojump_clock, nursery):
    network = Network(nursery, [[streamed(event(type="message_stop"), content_type=STREAM)]])
    prompt = Prompt("anthropic.claude", PROMPT.messages, provider_tools=(WebSearch(), WebFetch()))

    await heard(network, prompt=prompt)

    assert "tools" not in json.loads(network.requests[0].body)


@pytest.mark.parametrize(
    ("exception", "kind", "retryable"),
    [
        ("throttlingException", FailureKind.RATE_LIMIT, True),
        ("serviceUnavailableException", FailureKind.TIMEOUT, True),
        ("internalServerException", FailureKind.GENERIC, True),
        ("modelTimeoutException", FailureKind.TIMEOUT, True),
        ("validationException", FailureKind.GENERIC, False),
        ("brandNewException", FailureKind.GENERIC, False),
    ],
)
async def test_an_exception_in_the_stream_is_classified(
    exception, kind, retryable, autojump_clock, nursery
):
    body = frame(b'{"message":"why"}', exception_type=exception, message_type="exception")
    network = Network(nursery, [[streamed(body, content_type=STREAM)]])

    (delta,) = await heard(network)

    assert isinstance(delta, AnswerFailed)
    assert (delta.failure.kind, delta.failure.retryable) == (kind, retryable)
    assert delta.failure.provider == "bedrock"


async def test_an_error_in_the_stream_tells_its_code(autojump_clock, nursery):
    body = frame(b"", error_code="InternalFailure", error_message="x", message_type="error")
    network = Network(nursery, [[streamed(body, content_type=STREAM)]])

    (delta,) = await heard(network)

    assert delta.failure.detail == "InternalFailure: x"


@pytest.mark.parametrize("payload", [b"{}", b'{"bytes":"%%"}', b"x"])
async def test_a_chunk_that_is_none_breaks_the_stream(payload, autojump_clock, nursery):
    body = frame(payload, event_type="chunk", message_type="event")
    network = Network(nursery, [[streamed(body, content_type=STREAM)]])

    (delta,) = await heard(network)

    assert (delta.failure.kind, delta.failure.retryable) == (FailureKind.GENERIC, False)


async def test_a_secret_that_is_repeated_does_not_come_out(autojump_clock, nursery):
    network = Network(nursery, [[whole(b'{"message":"SECRET and TOKEN are bad"}', 403)]])

    (delta,) = await heard(network)

    assert delta.failure.detail == "[redacted] and [redacted] are bad"


async def test_a_whole_answer_is_json(autojump_clock, nursery):
    content = [{"type": "tool_use", "id": "t", "name": "Title", "input": {"title": "x"}}]
    body = json.dumps({"id": "m", "content": content, "stop_reason": "tool_use"}).encode()
    network = Network(nursery, [[whole(body)]])
    prompt = Prompt("m", PROMPT.messages, answer_schema=AnswerSchema("Title", "", "{}"))
    provider = BedrockProvider(HttpClient(network.dial), KEYS, region="us-east-1")

    answer = await provider.generate(prompt)

    assert answer.parts == (TextPart('{"title": "x"}'),)
    assert network.requests[0].target == "/model/m/invoke"


@pytest.mark.parametrize(
    ("model", "region", "expected"),
    [
        ("anthropic.claude-x", "us-east-1", "us.anthropic.claude-x"),
        ("anthropic.claude-x", "us-gov-west-1", "us-gov.anthropic.claude-x"),
        ("anthropic.claude-x", "eu-central-1", "eu.anthropic.claude-x"),
        ("anthropic.claude-x", "ap-south-1", "apac.anthropic.claude-x"),
        ("anthropic.claude-x", "sa-east-1", "anthropic.claude-x"),
        ("global.anthropic.claude-x", "eu-central-1", "global.anthropic.claude-x"),
        ("arn:aws:bedrock:us-east-1:1:x", "us-east-1", "arn:aws:bedrock:us-east-1:1:x"),
    ],
)
def test_a_model_is_named_with_its_geography(model, region, expected):
    assert model_id(model, region) == expected
