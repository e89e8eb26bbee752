"""The model of `bench.paced`, in a process of its own: many answers at the pace of real models.

One task says what is due, to all connections. Each delta carries when its answer was asked for and
when the delta was sent, by the machine's monotonic clock.
"""

import socket
import sys
import time
from contextlib import suppress
from functools import partial
from heapq import heappop, heappush

import trio

DELTAS, DELTA_SECONDS = 100, 0.02
READ_BYTES = 65_536
TICK_SECONDS = 0.001

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST = b'{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'


class PacedModel:
    """Answers whatever it is asked with DELTAS deltas, one after DELTA_SECONDS each."""

    def __init__(self) -> None:
        # When the next delta is due, a number that settles equal times, what was said, of whom.
        self._due: list[tuple[float, int, int, float, socket.socket]] = []
        self._count = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):  # reset, in the middle of an answer
            await self.converse(stream)

    async def converse(self, stream: trio.SocketStream) -> None:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw: socket.socket = stream.socket._sock  # type: ignore[attr-defined]
        rest = b""
        while True:
            while b"\r\n\r\n" not in rest:
                data = await stream.receive_some(READ_BYTES)
                if not data:
                    return
                rest += data
            asked = time.monotonic()
            head, _, rest = rest.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(rest) < size:
                rest += await stream.receive_some(READ_BYTES)
            body, rest = rest[:size], rest[size:]
            if b'"stream":true' not in body.replace(b" ", b""):
                await stream.send_all(whole())
            else:
                await stream.send_all(HEAD)
                self._count += 1
                heappush(self._due, (asked, self._count, 0, asked, raw))

    async def pace(self) -> None:
        while True:
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                due, number, said, asked, raw = heappop(self._due)
                over = said == DELTAS
                try:
                    raw.send(end() if over else piece(asked))
                except OSError:  # interrupted
                    continue
                if not over:
                    later = (due + DELTA_SECONDS, number, said + 1, asked, raw)
                    heappush(self._due, later)
            await trio.sleep(TICK_SECONDS)


def piece(asked: float) -> bytes:
    text = f"{asked:.6f} {time.monotonic():.6f};"
    return chunk(b'{"choices":[{"index":0,"delta":{"content":"%b"}}]}' % text.encode())


def chunk(event: bytes) -> bytes:
    return b"%x\r\ndata: %b\n\n\r\n" % (len(event) + 8, event)


def end() -> bytes:
    return chunk(LAST) + chunk(b"[DONE]") + b"0\r\n\r\n"


def whole() -> bytes:
    body = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Title"},'
    body += b'"finish_reason":"stop"}]}'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


async def serve() -> None:
    model = PacedModel()
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(model.pace)
        nursery.start_soon(partial(trio.serve_listeners, model.serve, [listener]))
        print(listener.socket.getsockname()[1], flush=True)
        nursery.start_soon(until_told, nursery.cancel_scope)


async def until_told(scope: trio.CancelScope) -> None:
    """End with the process that has started this one."""
    await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
    scope.cancel()


if __name__ == "__main__":
    trio.run(serve)
