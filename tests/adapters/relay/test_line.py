"""One line over streams in memory: a peer that speaks, but takes nothing."""

import trio
import trio.testing
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, Ping

from adapters.relay.dialler import SEND_SECONDS, DialledConnection


async def test_a_line_whose_pong_is_not_taken_is_over(autojump_clock):
    ours, theirs = trio.testing.lockstep_stream_pair()
    line, there = DialledConnection(ours), WSConnection(ConnectionType.SERVER)

    async def let_in_then_ask():
        there.receive_data(bytes(await theirs.receive_some()))
        list(there.events())
        proof = there.send(AcceptConnection()) + there.send(BytesMessage(b"proof"))
        await theirs.send_all(proof)
        await theirs.send_all(there.send(Ping()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(let_in_then_ask)
        assert b"proof" == await line.enter("there", "/relay", "ticket")

        began = trio.current_time()
        heard = await line.receive()

    assert heard is None
    assert SEND_SECONDS == trio.current_time() - began
