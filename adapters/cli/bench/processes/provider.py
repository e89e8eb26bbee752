"""The fast fake provider: it costs little, and says when each delta was sent.

The rehearsal model answers as four vendors do, with faults, tools and usage, and takes 280 us for a
request and 20 for a paced delta; this one takes 60 and 7, so that one core carries it beside the
driver. It can do one thing: the same deltas at an even pace, each with the moment it was sent at.

It prints its port and ends when its standard input does.
"""

import os
import socket
import sys
from collections import deque
from dataclasses import dataclass

import trio

from adapters.cli.bench.processes.conversation import END, MARK, stamp
from adapters.cli.bench.processes.ending import until_input_ends
from adapters.settings import names
from runtime.clock import machine

BACKLOG = 4096
READ_BYTES = 256 * 1024
HEAD_BYTES_MAX = 64 * 1024
BODY_BYTES_MAX = 64 * 1024 * 1024  # of a request, which has all of a chat's history
TICK_SECONDS = 0.001  # deltas that are due within it are sent together
FILLER = "the house is in and the prompt desk is live, stand by lights one to four; "
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
OVER = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
WHOLE = (
    b'{"choices":[{"index":0,"message":{"role":"assistant","content":"Bench"},'
    b'"finish_reason":"stop"}]}'
)


@dataclass(slots=True, eq=False)
class PacedAnswer:
    """An answer under way."""

    descriptor: int
    asked: float
    due: float
    said: int = 0
    unsent: bytes = b""  # which the client has not taken yet
    is_gone: bool = False


class FastProvider:
    """A model that says the same at an even pace."""

    def __init__(self, deltas: int, delta_chars: int, delta_seconds: float) -> None:
        filler = (FILLER.replace(END, ",") * (delta_chars // len(FILLER) + 1))[:delta_chars]
        self._filler = filler
        self._characters, self._deltas, self._seconds = delta_chars, deltas, delta_seconds
        self._answers: deque[PacedAnswer] = deque()  # by when they are due: all have one pace
        self._more = trio.Event()

    async def converse(self, stream: trio.SocketStream) -> None:
        """Answer the requests of one connection."""
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        rest = bytearray()
        answer: PacedAnswer | None = None
        try:
            while (body := await _request(stream, rest)) is not None:
                asked = machine()
                if b'"stream":true' not in body and b'"stream": true' not in body:
                    await stream.send_all(_whole())
                elif self._seconds == 0:
                    await stream.send_all(self._at_once(asked))
                else:
                    answer = PacedAnswer(stream.socket.fileno(), asked, asked, unsent=HEAD)
                    if self._send(answer):
                        self._follow(answer)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return
        finally:
            if answer is not None:
                answer.is_gone = True
            await trio.aclose_forcefully(stream)

    async def pace(self) -> None:
        """Send what is due, of all answers."""
        while True:
            if not self._answers:
                self._more = trio.Event()
                await self._more.wait()
            horizon = machine() + TICK_SECONDS / 2
            while self._answers and self._answers[0].due <= horizon:
                answer = self._answers.popleft()
                if not answer.is_gone and self._send(answer):
                    self._follow(answer)
            if self._answers:
                await trio.sleep(max(0.0, self._answers[0].due - machine()))

    def _follow(self, answer: PacedAnswer) -> None:
        """Send the next delta when it is due, which is later than any other's so far."""
        answer.due += self._seconds
        self._answers.append(answer)
        self._more.set()

    def _send(self, answer: PacedAnswer) -> bool:
        """Send a delta, or the end; return whether there is more. What is not taken comes later."""
        data = answer.unsent
        if answer.said <= self._deltas:
            data += self._delta(answer) if answer.said < self._deltas else _end()
            answer.said += 1
        try:
            sent = os.write(answer.descriptor, data)
        except BlockingIOError:
            sent = 0
        except OSError:  # the client has hung up
            return False
        answer.unsent = data[sent:]
        return bool(answer.unsent) or answer.said <= self._deltas

    def _delta(self, answer: PacedAnswer) -> bytes:
        mark = f"{MARK}{stamp(answer.asked)}" if answer.said == 0 else ""
        return _chunk((mark + stamp(machine()) + self._filler)[: self._size(mark)])

    def _size(self, mark: str) -> int:
        return max(self._characters, len(mark) + 10)

    def _at_once(self, asked: float) -> bytes:
        mark = f"{MARK}{stamp(asked)}"
        first = _chunk((mark + stamp(asked) + self._filler)[: self._size(mark)])
        other = _chunk((stamp(asked) + self._filler)[: self._size("")])
        return HEAD + first + other * (self._deltas - 1) + _end()


async def _request(stream: trio.SocketStream, rest: bytearray) -> bytes | None:
    """Read the body of the next request; None: there is none."""
    while (end := rest.find(b"\r\n\r\n")) < 0:
        if len(rest) > HEAD_BYTES_MAX or not (data := await stream.receive_some(READ_BYTES)):
            return None
        rest += data
    fields = bytes(rest[:end]).lower().partition(b"content-length:")[2]
    size = int(fields.partition(b"\r\n")[0] or 0)
    if size > BODY_BYTES_MAX:
        return None
    del rest[: end + 4]
    while len(rest) < size:
        if not (data := await stream.receive_some(READ_BYTES)):
            return None
        rest += data
    body = bytes(rest[:size])
    del rest[:size]
    return body


def _chunk(text: str) -> bytes:
    event = b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % text.encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def _end() -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(OVER), OVER)


def _whole() -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(WHOLE) + WHOLE


async def serve(host: str, port: int, deltas: int, delta_chars: int, delta_seconds: float) -> None:
    """Serve until standard input ends."""
    provider = FastProvider(deltas, delta_chars, delta_seconds)
    listeners = await trio.open_tcp_listeners(port, host=host, backlog=BACKLOG)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(until_input_ends, nursery.cancel_scope)
        nursery.start_soon(provider.pace)
        nursery.start_soon(trio.serve_listeners, provider.converse, listeners)
        sys.stdout.write(f"{listeners[0].socket.getsockname()[1]}\n")
        sys.stdout.flush()


def main(host: str, port: str, deltas: str, delta_chars: str, delta_ms: str) -> None:
    """Run as a process of its own."""
    names.run(serve, host, int(port), int(deltas), int(delta_chars), float(delta_ms) / 1000)
