"""A receiver of webhooks and of pushed messages: what came, and what it answers.

async with a_receiver() as receiver:
    receiver.url, receiver.came; receiver.answers = [503, 200]     the last of them for ever
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trio

from adapters.http.endpoints import HttpResponse
from adapters.http.host.server import HttpServer
from tests.patience import PATIENCE_SECONDS


@dataclass(frozen=True)
class Posted:
    method: str
    path: str
    headers: dict
    body: bytes


@dataclass
class Receiver:
    url: str = ""
    answers: list = field(default_factory=lambda: [204])
    headers: tuple = ()  # of every answer
    came: list = field(default_factory=list)
    holds: trio.Event | None = None  # until it is set nothing is answered

    async def answer(self, request):
        body = await request.read_body(1_000_000)
        self.came.append(Posted(request.method, request.path, dict(request.headers), body))
        if self.holds is not None:
            await self.holds.wait()
        status = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return HttpResponse(status, b"", headers=self.headers)

    async def has(self, count):
        with trio.fail_after(PATIENCE_SECONDS):
            while len(self.came) < count:
                await trio.sleep(0.005)
        return self.came


@asynccontextmanager
async def a_receiver():
    receiver = Receiver()
    server = HttpServer(receiver.answer)
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    receiver.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
    async with trio.open_nursery() as nursery:
        nursery.start_soon(server.serve, [listener])
        try:
            yield receiver
        finally:
            with trio.move_on_after(1, shield=True):
                await server.drain([listener])
            nursery.cancel_scope.cancel()
