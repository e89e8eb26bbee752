"""The floor: trio and h11 as a bare client of the provider, with nothing between.

The same chats at the same pace, but of paced answers only one each; deltas are read and told apart,
and nothing more. What a daemon takes is told as a multiple of what this takes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

import h11
import msgspec
import trio

from adapters.cli.bench.plan import Load
from adapters.cli.bench.processes.conversation import Turn, WatchedTalk
from runtime.clock import machine

READ_BYTES = 64 * 1024
LINE = b"data: "
TURNS_MAX = 4  # of a connection, where answers have no pace: one alone would mostly be its opening


class _Delta(msgspec.Struct):
    content: str = ""


class _Choice(msgspec.Struct):
    delta: _Delta


class _Chunk(msgspec.Struct):
    choices: list[_Choice]


_chunk = msgspec.json.Decoder(_Chunk).decode


@dataclass(slots=True)
class BareTurn:
    """One answer, as a bare client has it."""

    began: float
    asked: float = 0.0
    output: float = 0.0
    ended: float = 0.0
    deltas: int = 0
    delays: list[float] = field(default_factory=list)


async def ask_all(url: str, load: Load, note: Callable[[BareTurn], None]) -> None:
    """Ask for one answer for each chat, begun as the first turns of the load are."""
    wait = 1 / load.rate if load.rate else load.spread / load.chats

    turns = 1 if load.delta_ms else min(load.turns, TURNS_MAX)

    async def one(number: int) -> None:
        await trio.sleep(wait * number)
        host, port = address.hostname, address.port
        assert host is not None
        assert port is not None
        async with await trio.open_tcp_stream(host, port) as stream:
            for _ in range(turns):
                note(await _ask(stream, address, load))

    address = urlsplit(url)
    async with trio.open_nursery() as nursery:
        for number in range(load.chats):
            nursery.start_soon(one, number)


async def _ask(stream: trio.SocketStream, address: SplitResult, load: Load) -> BareTurn:
    """Ask for one answer, on a connection that is open."""
    found = BareTurn(machine())
    said = {"role": "user", "content": load.prompt}
    body = msgspec.json.encode({"model": "bench", "stream": True, "messages": [said]})
    connection = h11.Connection(h11.CLIENT)
    head = h11.Request(
        method="POST",
        target=f"{address.path}/chat/completions",
        headers=[("Host", address.netloc), ("Content-Length", str(len(body)))],
    )
    sent = [connection.send(each) for each in (head, h11.Data(body), h11.EndOfMessage())]
    await stream.send_all(b"".join(filter(None, sent)))
    await _read_answer(stream, connection, found)
    return found


async def _read_answer(
    stream: trio.SocketStream, connection: h11.Connection, found: BareTurn
) -> None:
    rest, moment = b"", found.began
    turn = Turn(found.began)
    talk = WatchedTalk(turn)
    while True:
        match connection.next_event():
            case h11.NEED_DATA:
                data = await stream.receive_some(READ_BYTES)
                moment = machine()
                connection.receive_data(bytes(data))
            case h11.Data() as piece:
                *lines, rest = (rest + bytes(piece.data)).split(b"\n")
                for line in lines:
                    if line.startswith(LINE + b"{"):
                        for choice in _chunk(line[len(LINE) :]).choices:
                            if choice.delta.content:
                                talk.hear_text(choice.delta.content, moment)
            case h11.EndOfMessage() | h11.ConnectionClosed():
                found.asked, found.output = turn.asked or moment, turn.output or moment
                found.ended, found.deltas, found.delays = moment, turn.deltas, turn.delays
                return
            case _:
                pass
