"""One suite for all who speak Anthropic's protocol: recorded bytes → the same parts.

Every recorded conversation runs through the real provider on a memory network: the request that
leaves has the meaning of the recorded one (the second of a conversation is made from the answer to
the first), and the answer is the same however the bytes are cut.
"""

import json
import random
from dataclasses import replace
from urllib.parse import unquote, urlsplit

import pytest

from actors.law.parts.assemble import Assembly
from actors.law.parts.message import (
    ReasoningPart,
    SourcePart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from adapters.models.providers.anthropic.events import MessageDecoder, sse_split
from adapters.models.providers.anthropic.provider import AnthropicProvider, answer_tool
from adapters.models.providers.bedrock.aws import AwsKeys
from adapters.models.providers.bedrock.events import EventSplitter
from adapters.models.providers.bedrock.provider import BedrockProvider
from adapters.models.providers.http import HttpClient
from tests.adapters.models.providers.google import test_recordings as google
from tests.adapters.models.providers.openai_chat import recorded as chat
from tests.adapters.models.providers.openai_responses import test_recordings as responses
from tests.adapters.models.providers.replay import NOW
from tests.fakes.anthropic_prompts import continued, normal, prompt_of
from tests.fakes.network import Network, streamed, whole
from tests.fakes.recordings import cuts, recordings

CUTS = 3
ANTHROPIC = (
    "TestAnthropicCommon",
    "TestAnthropicCommonWithCacheControl",
    "TestAnthropicComputerUse",
    "TestAnthropicObjectGeneration",
    "TestAnthropicThinking",
    "TestAnthropicThinkingWithCacheControl",
    "TestAnthropicWebSearch",
    "TestImageUploadAgent",
    "TestImageUploadAgentStreaming",
)


BEDROCK = ("TestBedrockBasicAuth", "TestBedrockCommon")


def anthropic(client, exchange):
    return AnthropicProvider(client, "key")


def bedrock(client, exchange):
    return BedrockProvider(client, AwsKeys("AKID", "secret"), region="us-east-1")


def conversations(*tests, host):
    found = recordings(*tests)
    return [each for each in found if all(host in exchange.url for exchange in each.exchanges)]


async def heard(provider, prompt):
    """The answer to one streamed call, and all of its deltas."""
    deltas, assembly = [], Assembly()
    async with provider.stream(prompt) as batches:
        async for batch in batches:
            assert batch
            deltas.extend(batch)
    for delta in deltas:
        assembly.add(delta, NOW)
    return assembly.answer(), deltas


def merged(deltas):
    """Deltas without the borders between pieces of one text."""
    said = {}
    for delta in deltas:
        name = (type(delta).__name__, getattr(delta, "block", None), getattr(delta, "id", None))
        piece = getattr(delta, "text", getattr(delta, "args_delta", None))
        said.setdefault(name, []).append(delta if piece is None else piece)
    return {
        name: "".join(found) if isinstance(found[0], str) else found for name, found in said.items()
    }


def first_prompt(recording):
    """What the first request of a conversation asks; Bedrock names the model in the path."""
    exchange = recording.exchanges[0]
    prompt = prompt_of(exchange.request, cached="CacheControl" in recording.name)
    _, _, named = exchange.url.partition("/model/")
    return replace(prompt, model=unquote(named.partition("/")[0])) if named else prompt


async def replay_streams(recording, make, nursery, chance):
    """Every exchange of a conversation, whole and in pieces, with what came of it."""
    prompt = first_prompt(recording)
    answer, came = None, []
    for exchange in recording.exchanges:
        if answer is not None:
            prompt = continued(prompt, said_again(answer, recording.name), exchange.request)
        response = streamed(exchange.body, content_type=exchange.headers["content-type"])
        network = Network(
            nursery, [[response], *([*cuts(response, chance, 40)] for _ in range(CUTS))]
        )
        client = HttpClient(network.dial)
        answer, deltas = await heard(make(client, exchange), prompt)
        for _ in range(CUTS):
            again, cut = await heard(make(client, exchange), prompt)
            assert again == answer
            assert merged(cut) == merged(deltas)
        assert client.statistics().dialled == 1
        came.append((exchange, answer, network.requests[0]))
    return came


def said_again(answer, name):
    """The recorded caller of the computer tool said only its calls again."""
    if "ComputerUse" not in name:
        return answer
    return replace(answer, parts=tuple(p for p in answer.parts if isinstance(p, ToolCallPart)))


def check_meaning(sent, exchange, name):
    assert sent.target == urlsplit(exchange.url).path
    assert normal(json.loads(sent.body)) == normal(exchange.request), name


def events(body):
    if not body.startswith(b"event: "):
        return [json.loads(text) for text in EventSplitter()(body)]
    lines = [line.partition(":")[2] for line in body.decode().splitlines() if line[:5] == "data:"]
    return [json.loads(line) for line in lines]


def blocks(recorded):
    """The content that these events say, block by block."""
    found = {}
    for event in recorded:
        if event["type"] == "content_block_start":
            found[event["index"]] = dict(event["content_block"], pieces="")
        elif event["type"] == "content_block_delta":
            block, delta = found[event["index"]], event["delta"]
            piece = ("text", "thinking", "partial_json")
            block["pieces"] += next((delta[name] for name in piece if name in delta), "")
            block["signature"] = delta.get("signature", block.get("signature"))
    return list(found.values())


def recorded_usage(*counts):
    seen = {name: value for each in counts for name, value in each.items()}
    return TokenUsage(
        seen["input_tokens"],
        seen["output_tokens"],
        seen["input_tokens"] + seen["output_tokens"],
        None,
        seen.get("cache_creation_input_tokens"),
        seen.get("cache_read_input_tokens"),
    )


def check_stream(answer, recorded, *, asked):
    """The parts say what the events say, block by block."""
    said = [part for part in answer.parts if not isinstance(part, SourcePart)]
    told = [block for block in blocks(recorded) if block["type"] != "text" or block["pieces"]]
    for part, block in zip(said, told, strict=True):
        match part:
            case TextPart(text):
                assert text == block["pieces"]
                assert asked or block["type"] == "text"
            case ReasoningPart(text, _, _, metadata):
                assert text == block["pieces"]
                assert json.loads(metadata) == {"anthropic": {"signature": block["signature"]}}
            case ToolCallPart():
                assert (part.id, part.name) == (block["id"], block["name"])
                assert json.loads(part.args) == json.loads(block["pieces"] or "{}")
                assert part.provider_executed == (block["type"] == "server_tool_use")
            case ToolResultPart():
                assert part.id == block["tool_use_id"]
                assert [each["url"] for each in json.loads(part.result)] == [
                    each["url"] for each in block["content"]
                ]
    start = next(event for event in recorded if event["type"] == "message_start")["message"]
    end = next(event for event in recorded if event["type"] == "message_delta")
    assert answer.usage == recorded_usage(start["usage"], end["usage"])
    assert answer.response_id == start["id"]


VENDORS = [
    pytest.param(ANTHROPIC, "api.anthropic.com", anthropic, id="anthropic"),
    pytest.param(BEDROCK, "bedrock-runtime", bedrock, id="bedrock"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("tests", "host", "make"), VENDORS)
async def test_streams_are_asked_for_and_read_as_recorded(
    tests, host, make, autojump_clock, nursery
):
    ran, chance = 0, random.Random(7)

    for recording in conversations(*tests, host=host):
        if not recording.streamed:
            continue
        came = await replay_streams(recording, make, nursery, chance)
        for exchange, answer, sent in came:
            check_meaning(sent, exchange, recording.name)
            check_stream(answer, events(exchange.body), asked="Object" in recording.name)
            ran += 1

    print(f"{make.__name__}: {ran} streams, each whole and cut in {CUTS} ways")


@pytest.mark.slow
@pytest.mark.parametrize(("tests", "host", "make"), VENDORS)
async def test_whole_answers_are_asked_for_and_read_as_recorded(
    tests, host, make, autojump_clock, nursery
):
    ran = 0

    for recording in conversations(*tests, host=host):
        if recording.streamed:
            continue
        prompt, answer = first_prompt(recording), None
        for exchange in recording.exchanges:
            if answer is not None:
                prompt = continued(prompt, said_again(answer, recording.name), exchange.request)
            network = Network(nursery, [[whole(exchange.body)]])
            answer = await make(HttpClient(network.dial), exchange).generate(prompt)
            check_meaning(network.requests[0], exchange, recording.name)
            message = json.loads(exchange.body)
            assert answer.usage == recorded_usage(message["usage"])
            texts = [block["text"] for block in message["content"] if block["type"] == "text"]
            if "Object" not in recording.name:
                assert texts == [part.text for part in answer.parts if isinstance(part, TextPart)]
            ran += 1

    print(f"{make.__name__}: {ran} whole answers")


ANOTHER_CLOUD = ("TestGoogleCommon", "TestGoogleVertexObjectGeneration")


@pytest.mark.slow
def test_the_same_protocol_on_another_cloud_is_read_as_recorded():
    """Claude at Vertex is no provider of ours; what it says is read all the same."""
    streams = wholes = 0

    for recording in conversations(*ANOTHER_CLOUD, host="aiplatform"):
        if "awPredict" not in recording.exchanges[0].url:  # Gemini
            continue
        tool = answer_tool(first_prompt(recording))
        for exchange in recording.exchanges:
            decoder, assembly = MessageDecoder(sse_split(), answer_tool=tool), Assembly()
            read = decoder.feed if exchange.streamed else decoder.whole
            for delta in read(exchange.body):
                assembly.add(delta, NOW)
            if exchange.streamed:
                check_stream(assembly.answer(), events(exchange.body), asked=tool is not None)
                streams += 1
            else:
                message = json.loads(exchange.body)
                assert assembly.answer().usage == recorded_usage(message["usage"])
                wholes += 1

    print(f"anthropic's models at google: {streams} streams, {wholes} whole answers")


@pytest.mark.slow
def test_no_recording_is_left_out():
    own = [
        recording
        for tests, host in [
            (ANTHROPIC, "api.anthropic.com"),
            (BEDROCK, "bedrock-runtime"),
            (ANOTHER_CLOUD, "aiplatform"),
        ]
        for recording in conversations(*tests, host=host)
    ]
    others = [
        recording
        for suite in (chat, google, responses)
        for streamed in (True, False)
        for recording in suite.conversations(streamed=streamed)
    ]

    read = {recording.name for recording in (*own, *others)}

    assert {recording.name for recording in recordings()} == read
    streams = sum(each.streamed for recording in recordings() for each in recording.exchanges)
    print(f"{len(read)} conversations, {streams} streams")
