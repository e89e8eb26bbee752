"""Converse over the network: addresses, signatures, errors, and models that do not stream."""

import json

import pytest

from actors.law.parts.deltas import AnswerFailed, FailureKind
from actors.law.parts.message import JsonText, TextPart
from actors.law.parts.prompt import AnswerSchema, Prompt, ToolDefinition, UserInput
from adapters.models.providers.bedrock.aws import AwsKeys
from adapters.models.providers.bedrock_converse.provider import ConverseProvider
from adapters.models.providers.http import HttpClient
from tests.adapters.models.providers.bedrock.frames import frame
from tests.adapters.models.providers.bedrock_converse import samples
from tests.adapters.models.providers.replay import answer_of
from tests.fakes.network import Network, streamed, whole

LOOK = ToolDefinition("look", "", JsonText('{"type":"object","properties":{}}'))
PROMPT = Prompt("us.meta.llama4-x-v1:0", (UserInput((TextPart("hi"),)),), tools=(LOOK,))
SAID = samples.stream(*samples.words(0, "Hel", "lo"))
NO_STREAM = {"message": "This model doesn't support tool use in streaming mode."}


def answered(body):
    return streamed(body, content_type="application/vnd.amazon.eventstream")


def as_json(document, status=200):
    return whole(json.dumps(document).encode(), status)


def a_provider(network):
    client = HttpClient(network.dial)
    return ConverseProvider(client, AwsKeys("AKID", "SECRET"), region="us-east-1")


async def heard(provider, prompt=PROMPT):
    async with provider.stream(prompt) as batches:
        return [delta async for batch in batches for delta in batch]


def paths(network):
    return [request.target.rpartition("/")[2] for request in network.requests]


async def test_a_model_is_asked_by_its_own_name_with_a_signature(autojump_clock, nursery):
    network = Network(nursery, [[answered(SAID)]])

    deltas = await heard(a_provider(network))

    [request] = network.requests
    assert answer_of(deltas).parts == (TextPart("Hello"),)
    assert network.origins[0].host == "bedrock-runtime.us-east-1.amazonaws.com"
    assert request.target == "/model/us.meta.llama4-x-v1%3A0/converse-stream"
    assert request.headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKID/")


async def test_a_whole_answer_is_json(autojump_clock, nursery):
    block = {"toolUse": {"toolUseId": "t", "name": "Title", "input": {"title": "x"}}}
    network = Network(nursery, [[as_json(samples.whole(block, reason="tool_use"))]])
    schema = AnswerSchema("Title", "", JsonText("{}"))
    prompt = Prompt("amazon.nova-lite-v1:0", PROMPT.messages, answer_schema=schema)

    answer = await a_provider(network).generate(prompt)

    assert [json.loads(part.text) for part in answer.parts] == [{"title": "x"}]
    assert paths(network) == ["converse"]


async def test_a_model_that_does_not_stream_is_asked_for_all_of_it(autojump_clock, nursery):
    said = as_json(samples.whole({"text": "Hello"}))
    network = Network(nursery, [[as_json(NO_STREAM, 400)], [said], [said]])
    provider = a_provider(network)

    first, second = await heard(provider), await heard(provider)

    for deltas in (first, second):
        assert answer_of(deltas).parts == (TextPart("Hello"),)
    assert paths(network) == ["converse-stream", "converse", "converse"]


async def test_a_model_that_streams_without_tools_still_does(autojump_clock, nursery):
    said = as_json(samples.whole({"text": "Hello"}))
    network = Network(nursery, [[as_json(NO_STREAM, 400)], [said], [answered(SAID)]])
    provider = a_provider(network)

    await heard(provider)
    await heard(provider, Prompt(PROMPT.model, PROMPT.messages))

    assert paths(network) == ["converse-stream", "converse", "converse-stream"]


async def test_a_whole_answer_that_is_refused_is_a_failure(autojump_clock, nursery):
    refused = as_json({"message": "This model doesn't support tool use."}, 400)
    network = Network(nursery, [[as_json(NO_STREAM, 400)], [refused]])

    [failed] = await heard(a_provider(network))

    assert isinstance(failed, AnswerFailed)
    assert failed.failure.detail == "This model doesn't support tool use."


@pytest.mark.parametrize(
    ("exception", "kind", "retryable"),
    [
        ("throttlingException", FailureKind.RATE_LIMIT, True),
        ("serviceUnavailableException", FailureKind.TIMEOUT, True),
        ("internalServerException", FailureKind.GENERIC, True),
        ("validationException", FailureKind.GENERIC, False),
    ],
)
async def test_an_exception_in_the_stream_is_classified(
    exception, kind, retryable, autojump_clock, nursery
):
    broken = frame(b'{"message":"why"}', exception_type=exception, message_type="exception")
    network = Network(nursery, [[answered(broken)]])

    (*_, failed) = await heard(a_provider(network))

    assert (failed.failure.kind, failed.failure.retryable) == (kind, retryable)
    assert failed.failure.provider == "bedrock"


async def test_a_stream_that_breaks_off_is_tried_again(autojump_clock, nursery):
    network = Network(nursery, [[answered(b"".join(samples.words(0, "Hel")))]])

    (*_, failed) = await heard(a_provider(network))

    assert (failed.failure.kind, failed.failure.retryable) == (FailureKind.TIMEOUT, True)
