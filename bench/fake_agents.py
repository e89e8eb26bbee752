"""A model for benchmarks of agents: one side of it spawns and waits, the other works until told.

A chat in which a user has said `family 3` is a parent: its model spawns three agents, waits for all
of them in one call, and then answers with the moment at which it was asked that. The agents' model
says nothing until it is told on its standard input:

    count       how many agents wait to be let go
    go 5 0.02   let five of them answer, one every twenty milliseconds

Moments are those of the machine's monotonic clock, which other processes read too.
"""

import json
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import trio

READ_BYTES = 65_536
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STOP, CALLS = "stop", "tool_calls"
TITLE = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"T"},'
TITLE += b'"finish_reason":"stop"}]}'


class FakeAgents:
    """The model: a parent's answers come at once, an agent's when it is told to let it go."""

    def __init__(self) -> None:
        self._waiting: deque[trio.Event] = deque()

    async def converse(self, stream: trio.SocketStream) -> None:
        rest = b""
        while True:
            while b"\r\n\r\n" not in rest:
                data = await stream.receive_some(READ_BYTES)
                if not data:
                    return
                rest += data
            head, _, rest = rest.partition(b"\r\n\r\n")
            size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            while len(rest) < size:
                rest += await stream.receive_some(READ_BYTES)
            asked = time.monotonic()
            body, rest = json.loads(rest[:size]), rest[size:]
            await self._answer(stream, body, asked)

    async def _answer(self, stream: trio.SocketStream, body: Mapping[str, Any], at: float) -> None:
        if not body.get("stream"):
            length = f"content-length: {len(TITLE)}\r\n\r\n".encode()
            await stream.send_all(b"HTTP/1.1 200 OK\r\n" + length + TITLE)
            return
        said = body["messages"]
        last = max(at for at, message in enumerate(said) if message["role"] == "user")
        prompt, since = _text(said[last]), said[last + 1 :]
        if prompt == "child":
            await stream.send_all(HEAD)
            go = trio.Event()
            self._waiting.append(go)
            await go.wait()
            await stream.send_all(_spoken("report"))
            return
        await stream.send_all(HEAD + _line(prompt, since, at))

    async def run_commands(self) -> None:
        commands = trio.lowlevel.FdStream(sys.stdin.fileno())
        async for line in commands:
            match line.decode().split():
                case ["count"]:
                    print(len(self._waiting), flush=True)
                case ["go", count, gap]:
                    await self._let_go(int(count), float(gap))
                    print("gone", flush=True)

    async def _let_go(self, count: int, gap_seconds: float) -> None:
        for _ in range(count):
            self._waiting.popleft().set()
            if gap_seconds:
                await trio.sleep(gap_seconds)


def _line(prompt: str, since: Sequence[Mapping[str, Any]], asked: float) -> bytes:
    """Return the parent's next answer: spawn the agents, then wait for them, then end."""
    results = [json.loads(_text(message)) for message in since if message["role"] == "tool"]
    agents = [result["chat_id"] for result in results if "chat_id" in result]
    if not results:
        count = int(prompt.split()[1])
        return _called([("spawn_agent", {"type": "general", "prompt": "child"})] * count)
    if len(results) == len(agents):
        return _called([("wait_agent", {"chat_ids": agents})])
    return _spoken(f"{asked:.6f}")


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _called(calls: Sequence[tuple[str, Mapping[str, Any]]]) -> bytes:
    said = [
        {
            "index": at,
            "id": f"call{at}{name}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for at, (name, arguments) in enumerate(calls)
    ]
    return _ending({"tool_calls": said}, CALLS)


def _spoken(text: str) -> bytes:
    return _ending({"content": text}, STOP)


def _ending(delta: Mapping[str, Any], reason: str) -> bytes:
    said = _chunk(json.dumps({"choices": [{"index": 0, "delta": delta}]}))
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return said + _chunk(json.dumps(last)) + _chunk("[DONE]") + b"0\r\n\r\n"


def _chunk(event: str) -> bytes:
    line = f"data: {event}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(line), line)


async def serve() -> None:
    model = FakeAgents()
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1", backlog=4096)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(trio.serve_listeners, model.converse, [listener]))
        print(listener.socket.getsockname()[1], flush=True)
        await model.run_commands()
        nursery.cancel_scope.cancel()


class AgentsControl:
    """The commands to the process of the fake agents."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self.port = int(self._told())
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def waiting(self) -> int:
        return int(self._told("count"))

    async def let_go(self, count: int, *, gap_seconds: float = 0.0) -> None:
        """Let so many agents answer; return when they have been told."""
        await trio.to_thread.run_sync(self._told, f"go {count} {gap_seconds}")

    def _told(self, command: str = "") -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if command:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def fake_agents() -> Iterator[AgentsControl]:
    words = [sys.executable, "-m", "bench.fake_agents"]
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(words, text=True, **pipes) as process:
        yield AgentsControl(process)
        process.terminate()


if __name__ == "__main__":
    trio.run(serve)
