"""What is the same for all providers: bounds, the end of the body, what is never raised."""

import json

import pytest
import trio

from actors.law.parts.deltas import AnswerFailed, AnswerFinished, FailureKind, ProviderFailure
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from adapters.models.providers import streaming
from adapters.models.providers.anthropic.provider import AnthropicProvider
from adapters.models.providers.http import HttpClient
from tests.fakes.network import Network, chunk, head, streamed

PROMPT = Prompt("claude", (UserInput((TextPart("hi"),)),))
STOP = b'data: {"type":"message_stop"}\n\n'
OPENED = head(Transfer_Encoding="chunked")


async def deltas(provider):
    async with provider.stream(PROMPT) as batches:
        return [delta async for batch in batches for delta in batch]


async def test_an_answer_that_is_too_long_is_cut_off(autojump_clock, nursery, monkeypatch):
    monkeypatch.setattr(streaming, "ANSWER_BYTES_MAX", 1000)
    message = json.dumps({"id": "m", "content": [], "x": "x" * 2000}).encode()
    cut = [head(Content_Length=len(message)), message[:1500], 1.0, message[1500:]]
    network = Network(nursery, [[streamed(b": x\n" * 1000)], cut])
    provider = AnthropicProvider(HttpClient(network.dial), "key")

    (delta,) = await deltas(provider)
    answer = await provider.generate(PROMPT)

    assert isinstance(delta, AnswerFailed)
    assert isinstance(answer, ProviderFailure)
    assert {delta.failure.detail, answer.detail} == {"http: the answer is too long"}


async def test_the_body_is_read_to_its_end_so_that_its_connection_serves_again(
    autojump_clock, nursery
):
    script = [OPENED + chunk(STOP), 0.05, b"0\r\n\r\n"]
    network = Network(nursery, [script, script])
    provider = AnthropicProvider(HttpClient(network.dial), "key")

    await deltas(provider)
    await deltas(provider)

    assert network.dialled == 1


async def test_a_body_that_does_not_end_is_not_waited_for(autojump_clock, nursery):
    network = Network(nursery, [[OPENED + chunk(STOP), 60.0, b"0\r\n\r\n"]])

    found = await deltas(AnthropicProvider(HttpClient(network.dial), "key"))

    assert isinstance(found[-1], AnswerFinished)
    assert trio.current_time() < 1


async def test_a_refusal_that_never_ends_is_read_up_to_a_limit(autojump_clock, nursery):
    begun = [head(400, "text/plain", Transfer_Encoding="chunked")]
    network = Network(nursery, [[*begun, *([chunk(b"x" * 60_000)] * 5), 1000.0]])

    (delta,) = await deltas(AnthropicProvider(HttpClient(network.dial), "key"))

    assert (delta.failure.kind, delta.failure.status_code) == (FailureKind.GENERIC, 400)
    assert delta.failure.detail == "status 400"


async def test_a_stream_that_is_never_read_asks_nothing(autojump_clock, nursery):
    network = Network(nursery)

    async with AnthropicProvider(HttpClient(network.dial), "key").stream(PROMPT):
        pass

    assert network.dialled == 0


@pytest.mark.parametrize("read", [0, 1])
async def test_leaving_gives_the_connection_back_or_hangs_up(read, autojump_clock, nursery):
    network = Network(nursery, [[OPENED + chunk(STOP) + b"0\r\n\r\n"]])
    client = HttpClient(network.dial)

    async with AnthropicProvider(client, "key").stream(PROMPT) as batches:
        for _ in range(read):
            await anext(batches)

    assert client.statistics().idle == read


async def test_what_no_decoder_can_read_is_a_failure_like_any_other(autojump_clock, nursery):
    deep = b"[" * 300_000 + b"]" * 300_000
    data = b'data: {"type":"brand_new","x":' + deep + b"}\n\n"
    network = Network(nursery, [[streamed(data)]])

    (delta,) = await deltas(AnthropicProvider(HttpClient(network.dial), "key"))

    assert (delta.failure.kind, delta.failure.retryable) == (FailureKind.GENERIC, False)


@pytest.mark.parametrize("half", [b"\xf0\x9f", rb"\ud83d"], ids=["bytes", "escaped"])
async def test_a_character_that_was_cut_in_two_does_not_cost_the_answer(
    half, autojump_clock, nursery
):
    begun = b'data: {"type":"content_block_start","index":%d,"content_block":%s}\n\n'
    body = begun % (0, b'{"type":"text","text":"so %s"}' % half)
    body += begun % (1, b'{"type":"tool_use","id":"t","name":"f","input":{"a":"%s"}}' % half)
    body += b'data: {"type":"content_block_stop","index":1}\n\n' + STOP
    network = Network(nursery, [[streamed(body)]])

    text, _, call, end = await deltas(AnthropicProvider(HttpClient(network.dial), "key"))

    assert "so \ufffd" == text.text
    assert {"a": "\ufffd"} == json.loads(call.args)
    assert isinstance(end, AnswerFinished)


@pytest.mark.parametrize("key", ["a\nb", "schl\u00fcssel\u20ac"])
async def test_a_key_that_cannot_be_sent_is_not_shown(key, autojump_clock, nursery):
    (delta,) = await deltas(AnthropicProvider(HttpClient(Network(nursery).dial), key))

    assert "look at the API key" in delta.failure.detail
    assert not delta.failure.retryable
    assert key not in repr(delta)
