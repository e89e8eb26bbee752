"""The longest message of a line is taken, and one byte more ends it: on both sides."""

from contextlib import AsyncExitStack
from uuid import uuid4

import pytest
import trio
import trio.testing
from trio_websocket import ConnectionClosed
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage

from actors.law.ids import WorkerId
from actors.streams.relay.exchange import Follow, FollowEnded, PieceCount
from adapters.relay import dialler as dialling
from adapters.relay import listener as door
from adapters.relay.dialler import DialledConnection
from adapters.relay.protocol import (
    HEADER,
    RelayTickets,
    decode_answers,
    encode_answers,
    encode_requests,
)
from runtime.clock import wall
from tests.actors.streams.relay.cable import HERE, a_key
from tests.adapters.relay.ground import KEY, a_pair
from tests.adapters.relay.test_crossing import a_socket, refused


@pytest.mark.parametrize("pieces", [1, 2], ids=["whole", "in two frames"])
@pytest.mark.parametrize(("over", "is_taken"), [(0, True), (1, False)])
async def test_news_may_be_so_long(autojump_clock, monkeypatch, over, is_taken, pieces):
    news = encode_answers([FollowEnded(number) for number in range(50)])
    monkeypatch.setattr(dialling, "ANSWERS_BYTES_MAX", len(news) - over)
    ours, theirs = trio.testing.memory_stream_pair()
    line, there = DialledConnection(ours), WSConnection(ConnectionType.SERVER)

    async def let_in_then_tell():
        there.receive_data(bytes(await theirs.receive_some()))
        list(there.events())
        await theirs.send_all(there.send(AcceptConnection()) + there.send(BytesMessage(b"proof")))
        half = len(news) // pieces
        frames = [news[:half], news[half:]] if pieces == 2 else [news]
        for number, frame in enumerate(frames, 1):
            message = BytesMessage(frame, message_finished=number == len(frames))
            await theirs.send_all(there.send(message))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(let_in_then_tell)
        assert b"proof" == await line.enter("there", "/relay", "ticket")
        heard = await line.receive()

    assert (50 if is_taken else None) == (None if heard is None else len(heard))


@pytest.mark.slow
@pytest.mark.parametrize("over", [0, 1])
async def test_wishes_may_be_so_long(monkeypatch, over):
    wishes = encode_requests([Follow(1, a_key(), 0)])
    monkeypatch.setattr(door, "REQUESTS_BYTES_MAX", len(wishes) - over)
    async with a_pair() as pair:
        ticket = RelayTickets(KEY).write(HERE, pair.worker, at=wall().timestamp())
        async with a_socket(pair, ticket) as socket:
            await socket.get_message()
            await socket.send_message(wishes)

            with trio.fail_after(30):
                if over:
                    with pytest.raises(ConnectionClosed) as closed:
                        await socket.get_message()
                    assert 1008 == closed.value.reason.code
                else:
                    assert [PieceCount(1, 0)] == list(decode_answers(await socket.get_message()))


@pytest.mark.slow
async def test_so_many_processes_are_let_in(monkeypatch):
    monkeypatch.setattr(door, "PEERS_MAX", 2)
    async with a_pair() as pair, AsyncExitStack() as peers:

        async def come(me):
            ticket = RelayTickets(KEY).write(me, pair.worker, at=wall().timestamp())
            socket = await peers.enter_async_context(a_socket(pair, ticket))
            await socket.get_message()

        first, second, third = [WorkerId(uuid4()) for _ in range(3)]
        await come(first)
        await come(second)
        ticket = RelayTickets(KEY).write(third, pair.worker, at=wall().timestamp())
        assert 503 == (await refused(pair, **{HEADER: ticket}))[0]
        await come(second)  # again: it takes its own place
        assert 2 == pair.host.statistics().peers
