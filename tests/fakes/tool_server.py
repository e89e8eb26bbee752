"""Servers of tools that speak MCP: the official SDK's, as a process; and a scripted one, in memory
of this process, that does what it is told on the wire, whether or not that is MCP.

    python -m tests.fakes.tool_server stdio
    python -m tests.fakes.tool_server streamable-http 8000

async with a_server({"tools/list": hang}) as server:
    server.url, server.asked
"""

import json
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import h11
import trio

READ = 65_536


def tool(name, description="", schema=None, **more):
    return {
        "name": name,
        "description": description,
        "inputSchema": schema or {"type": "object", "properties": {}},
        **more,
    }


def listing(*tools):
    return {"tools": list(tools)}


def said(*content, **more):
    return {"content": list(content), **more}


def text(words):
    return {"type": "text", "text": words}


@dataclass
class Raw:
    """An answer that is no JSON-RPC: a status, headers, a body."""

    body: bytes = b""
    status: int = 200
    headers: dict = field(default_factory=lambda: {"content-type": "application/json"})


async def hang(asked):
    await trio.sleep_forever()


@dataclass
class ToolServer:
    """What it answers, by method of MCP, or of HTTP: a result, a Raw, or an async function of what
    was asked, with its headers."""

    answers: dict
    url: str = ""
    asked: list = field(default_factory=list)  # (method, params, headers)
    hung_up: trio.Event = field(default_factory=trio.Event)

    def methods(self):
        return [method for method, _, _ in self.asked]

    def headers(self, method):
        return next(headers for name, _, headers in self.asked if name == method)

    async def serve(self, stream):
        connection = h11.Connection(h11.SERVER)
        async with stream:
            try:
                while await self._answer(stream, connection):
                    connection.start_next_cycle()
            except (h11.RemoteProtocolError, trio.BrokenResourceError, h11.LocalProtocolError):
                self.hung_up.set()

    async def _answer(self, stream, connection):
        head, body = await request(stream, connection)
        if head is None:
            return False
        headers = {name.decode(): value.decode() for name, value in head.headers}
        if head.method != b"POST":
            answer = self.answers.get(head.method.decode(), Raw(status=405))
            await respond(stream, connection, await answer({}) if callable(answer) else answer)
            return connection.our_state is h11.DONE
        message = json.loads(body)
        self.asked.append((message["method"], message.get("params"), headers))
        await respond(stream, connection, await self._raw({**message, "headers": headers}))
        return connection.our_state is h11.DONE

    async def _raw(self, message):
        if "id" not in message:
            return Raw(status=202)
        answer = self.answers.get(message["method"], USUAL.get(message["method"]))
        if callable(answer):
            answer = await answer(message)
        if isinstance(answer, Raw):
            return answer
        envelope = {"jsonrpc": "2.0", "id": message["id"]}
        if answer is None:
            error = {"code": -32601, "message": "no such method"}
            return Raw(json.dumps({**envelope, "error": error}).encode())
        return Raw(json.dumps({**envelope, "result": answer}).encode())


USUAL = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    },
    "tools/list": listing(tool("echo", "Says it again.")),
    "tools/call": said(text("done")),
}


async def request(stream, connection):
    head, body = None, b""
    while True:
        event = connection.next_event()
        match event:
            case h11.NEED_DATA:
                connection.receive_data(await stream.receive_some(READ))
            case h11.Request():
                head = event
            case h11.Data():
                body += bytes(event.data)
            case h11.EndOfMessage():
                return head, body
            case h11.ConnectionClosed():
                return None, b""


async def respond(stream, connection, raw):
    headers = {"content-length": str(len(raw.body)), **raw.headers}
    response = h11.Response(status_code=raw.status, headers=list(headers.items()))
    await stream.send_all(connection.send(response))
    if raw.body:
        await stream.send_all(connection.send(h11.Data(raw.body)))
    await stream.send_all(connection.send(h11.EndOfMessage()))


@asynccontextmanager
async def a_server(answers=None):
    server = ToolServer(answers or {})
    async with trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        server.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/mcp"
        nursery.start_soon(trio.serve_listeners, server.serve, [listener])
        yield server
        nursery.cancel_scope.cancel()


def official(port):
    from mcp.server import MCPServer

    server = MCPServer("official", log_level="CRITICAL")

    @server.tool(description="Adds two numbers.")
    def add(a: int, b: int) -> int:
        return a + b

    @server.tool(description="Fails.")
    def fail() -> str:
        raise ValueError("it broke")

    return server


def main():
    transport, *port = sys.argv[1:]
    server = official(port)
    if transport == "stdio":
        server.run("stdio")
    else:
        server.run(transport, port=int(port[0]))


if __name__ == "__main__":
    main()
