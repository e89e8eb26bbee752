"""A model that delegates: a parent's spawns an agent, waits for it and repeats what it reported.

async with a_model(port) as model:      speaks OpenAI's chat completions
    model.hold("child")                 its next answers wait until `let_go`
    await model.asked("child")          until it has been asked that
    model.let_go()

What it is asked is `child` (the agent), or for a parent `spawn`, `wait` or `answer`. As a process
of its own, `python -m tests.e2e.delegating SECONDS`, it lets an agent think for so long.
"""

import json
import sys
import uuid
from collections import Counter
from contextlib import asynccontextmanager

import trio

from tests.e2e.processes import EVENTUALLY_SECONDS

REPORT = "the report"
PROMPT = "do your part"  # of the agent
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
TITLE = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"T"},'
TITLE += b'"finish_reason":"stop"}]}'


class Model:
    def __init__(self, child_seconds=0.0):
        self.count = Counter()
        self._child_seconds = child_seconds
        self._held = ""
        self._go = trio.Event()
        self._came = trio.Event()

    def hold(self, what):
        self._held, self._go = what, trio.Event()

    def let_go(self):
        self._held = ""
        self._go.set()

    async def asked(self, what):
        with trio.fail_after(EVENTUALLY_SECONDS):
            while not self.count[what]:
                self._came = trio.Event()
                await self._came.wait()

    async def converse(self, stream):
        try:
            async with stream:
                while (body := await _request(stream)) is not None:
                    await stream.send_all(await self._answer(body))
        except trio.BrokenResourceError:
            pass  # whoever asked has been killed, or does not want to know any more

    async def _answer(self, body):
        if not body.get("stream"):
            return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(TITLE) + TITLE
        said = body["messages"]
        last = max(at for at, message in enumerate(said) if message["role"] == "user")
        results = [_text(one) for one in said[last + 1 :] if one["role"] == "tool"]
        what, answer = _line(_text(said[last]), results)
        self.count[what] += 1
        self._came.set()
        if what == self._held:
            await self._go.wait()
        if what == "child":
            await trio.sleep(self._child_seconds)
        return HEAD + answer


def _line(prompt, results):
    if prompt == PROMPT:
        return "child", _spoken(REPORT)
    if not results:
        return "spawn", _called("spawn_agent", type="general", prompt=PROMPT)
    told = json.loads(results[-1])
    if "chat_id" in told and ("report" not in told or told.get("timed_out")):
        return "wait", _called("wait_agent", chat_id=told["chat_id"])
    return "answer", _spoken(f"heard: {told.get('report', told)}")


def _text(message):
    content = message["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _called(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    id = f"call_{name}_{uuid.uuid4().hex[:8]}"
    call = {"index": 0, "id": id, "type": "function", "function": function}
    return _ending({"tool_calls": [call]}, "tool_calls")


def _spoken(text):
    return _ending({"content": text}, "stop")


def _ending(delta, reason):
    said = _chunk(json.dumps({"choices": [{"index": 0, "delta": delta}]}))
    last = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return said + _chunk(json.dumps(last)) + _chunk("[DONE]") + b"0\r\n\r\n"


def _chunk(event):
    line = f"data: {event}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(line), line)


async def _request(stream):
    """The body of the next request; None: there is none."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = await stream.receive_some(65_536)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    size = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < size:
        more = await stream.receive_some(65_536)
        if not more:
            return None
        body += more
    return json.loads(body)


@asynccontextmanager
async def a_model(port):
    model = Model()
    listeners = await trio.open_tcp_listeners(port, host="127.0.0.1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, model.converse, listeners)
        yield model
        nursery.cancel_scope.cancel()


async def serve(child_seconds):
    """Answer on a free port until the process is ended; say which one it is."""
    model = Model(child_seconds)
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    print(f"listening at http://127.0.0.1:{port}", flush=True)
    await trio.serve_listeners(model.converse, [listener])


if __name__ == "__main__":
    trio.run(serve, float(sys.argv[1]))
