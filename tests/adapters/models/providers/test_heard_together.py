"""Answers that are read together with others, over real sockets: as by a task of their own."""

import pytest
import trio

from actors.law.parts.deltas import AnswerFailed, AnswerFinished, TextDelta
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from adapters.models.providers import streaming
from adapters.models.providers.anthropic.provider import AnthropicProvider
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.models.providers.http import HttpClient
from adapters.models.providers.shared_reads import open_shared_reads
from runtime.lag import LoopLag
from tests.fakes.network import chunk, head

PROMPT = Prompt("claude", (UserInput((TextPart("hi"),)),))
OPENED = head(Transfer_Encoding="chunked")
STARTED = (
    b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n'
)
STOP = b'data: {"type":"message_stop"}\n\n'
LAST = b"0\r\n\r\n"


def said(text):
    change = b'{"type":"text_delta","text":"%b"}' % text
    return b'data: {"type":"content_block_delta","index":0,"delta":%b}\n\n' % change


class Server:
    """Sends the next piece when what it sent before has been heard."""

    def __init__(self, nursery, pieces, *, resets=False):
        self.pieces = pieces
        self.resets = resets
        self.connections = 0
        self.may_send = trio.Semaphore(0)
        self._nursery = nursery

    async def open(self):
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self._nursery.start_soon(trio.serve_listeners, self._serve, [listener])
        return f"http://127.0.0.1:{listener.socket.getsockname()[1]}"

    async def _serve(self, stream):
        self.connections += 1
        while request := await stream.receive_some(65536):
            assert request.startswith(b"POST")
            for number, piece in enumerate(self.pieces):
                if number:
                    await self.may_send.acquire()
                await stream.send_all(piece)
            if self.resets:
                await self.may_send.acquire()
                return


async def heard(client, url, server, *, together):
    """All deltas of one answer."""
    deltas = []

    def take(batch):
        deltas.extend(batch)
        server.may_send.release()
        return any(isinstance(delta, TextDelta) for delta in deltas)

    async with AnthropicProvider(client, "key", base_url=url).stream(PROMPT) as batches:
        with trio.fail_after(60):
            if together:
                await batches.hear(take)
            else:
                async for batch in batches:
                    take(batch)
    return deltas


async def both_ways(pieces, **how):
    """What one answer is by a task of its own, and read together with others."""
    found = []
    for together in (False, True):
        async with trio.open_nursery() as nursery, open_shared_reads(LoopLag()) as reads:
            server = Server(nursery, pieces, **how)
            client = HttpClient(direct_dial(tls_context()), reads)
            url = await server.open()
            found.append(await heard(client, url, server, together=together))
            if together:
                assert reads.statistics().pieces_count > 0
            await client.aclose()
            nursery.cancel_scope.cancel()
    return found


FIRST = OPENED + chunk(STARTED + said(b"one"))


@pytest.mark.parametrize(
    "pieces",
    [
        [FIRST, chunk(said(b"two")), chunk(said(b"three")), chunk(STOP) + LAST],
        [FIRST, chunk(said(b"two") + said(b"three")) + chunk(STOP) + LAST],
        [FIRST, chunk(said(b"two")), chunk(STOP), LAST],
    ],
    ids=["one by one", "together", "the end of the body later"],
)
async def test_an_answer_is_the_same(pieces):
    alone, together = await both_ways(pieces)

    assert together == alone
    assert isinstance(together[-1], AnswerFinished)


@pytest.mark.parametrize(
    ("pieces", "resets"),
    [
        ([FIRST, chunk(said(b"two"))], True),
        ([FIRST, chunk(b'data: {"type":"content_block_delta","index":"x"}\n\n')], False),
        ([FIRST, b"no size\r\n"], False),
        ([FIRST, chunk(said(b"two")) + LAST], False),
        ([FIRST, chunk(b'data: {"type":"error","error":{"message":"m"}}\n\n')], False),
    ],
    ids=["cut off", "broken event", "broken chunk", "no end of its own", "an error reported"],
)
async def test_a_failure_is_the_same(pieces, resets):
    alone, together = await both_ways(pieces, resets=resets)

    assert together == alone
    assert isinstance(together[-1], AnswerFailed)


async def test_an_answer_that_is_too_long_is_cut_off(monkeypatch):
    monkeypatch.setattr(streaming, "ANSWER_BYTES_MAX", 1_000)

    _, together = await both_ways([FIRST, chunk(said(b"x" * 2_000))])

    assert "http: the answer is too long" == together[-1].failure.detail


async def test_the_connection_serves_again(nursery):
    async with open_shared_reads(LoopLag()) as reads:
        server = Server(nursery, [FIRST, chunk(said(b"two")) + chunk(STOP) + LAST])
        client, url = HttpClient(direct_dial(tls_context()), reads), await server.open()

        for _ in range(3):
            await heard(client, url, server, together=True)
            server.may_send = trio.Semaphore(0)

        assert server.connections == 1
        await client.aclose()
    nursery.cancel_scope.cancel()


async def test_what_a_listener_raises_comes_out_of_the_answer(nursery):
    async with open_shared_reads(LoopLag()) as reads:
        server = Server(nursery, [FIRST, chunk(said(b"two"))])
        client, url = HttpClient(direct_dial(tls_context()), reads), await server.open()
        count = 0

        def take(batch):
            nonlocal count
            server.may_send.release()
            count += 1
            assert count < 2, "it is the second batch"
            return True

        provider = AnthropicProvider(client, "key", base_url=url)
        with trio.fail_after(60), pytest.raises(AssertionError, match=r"^it is the second batch"):
            async with provider.stream(PROMPT) as batches:
                await batches.hear(take)

        assert reads.statistics().streams == 0
        await client.aclose()
    nursery.cancel_scope.cancel()
