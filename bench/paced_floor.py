"""The floor of `bench.paced`, in a process of its own: trio and h11 as a bare client of the model.

It asks as many chats the same number of turns, at the same times, and throws everything away. It
prints the CPU time of a turn, and how much later than the model sent them it has the first words.
"""

import json
import sys
import time
from functools import partial

import h11
import trio

from bench.paced_model import READ_BYTES

BODY = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}'


async def live(port: int, wait_seconds: float, turns: int, pause: float, late: list[float]) -> None:
    await trio.sleep(wait_seconds)
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    wire = h11.Connection(h11.CLIENT)
    async with stream:
        for _ in range(turns):
            asked = time.monotonic()
            await ask(stream, wire, partial(note, asked, late))
            wire.start_next_cycle()
            await trio.sleep(pause)


async def ask(stream: trio.SocketStream, wire: h11.Connection, first: "partial[None]") -> None:
    headers = [("host", "127.0.0.1"), ("content-length", str(len(BODY)))]
    head = wire.send(h11.Request(method="POST", target="/v1/chat/completions", headers=headers))
    assert head is not None
    await stream.send_all(head + BODY)
    wire.send(h11.Data(data=BODY))
    wire.send(h11.EndOfMessage())
    is_first = True
    while not isinstance(event := wire.next_event(), h11.EndOfMessage):
        if event is h11.NEED_DATA:
            wire.receive_data(await stream.receive_some(READ_BYTES))
        elif isinstance(event, h11.Data) and is_first:
            first(bytes(event.data))
            is_first = False


def note(asked: float, late: list[float], said: bytes) -> None:
    [was_asked, sent] = map(float, said.split(b'"content":"')[1].split(b";")[0].split())
    late.append((was_asked - asked + time.monotonic() - sent) * 1e3)


async def main(port: int, chats: int, turns: int, spread: float, pause: float) -> None:
    late: list[float] = []
    began = time.process_time()
    async with trio.open_nursery() as nursery:
        for number in range(chats):
            nursery.start_soon(live, port, spread * number / chats, turns, pause, late)
    cpu_ms = (time.process_time() - began) / chats / turns * 1e3
    print(json.dumps({"turn_cpu_ms": cpu_ms, "late_ms": late}), flush=True)


if __name__ == "__main__":
    port_, chats_, turns_, spread_, pause_ = sys.argv[1:]
    trio.run(main, int(port_), int(chats_), int(turns_), float(spread_), float(pause_))
