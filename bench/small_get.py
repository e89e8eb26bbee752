"""What does a small GET cost at the door, beside what the host costs without one?

On paper: h11 parses the head and writes the answer (60 to 70 us of the 100 that a request costs on
trio), the rest of the host is a few limits to waits. The door adds a walk through a tree, a look at
a token that is known by its hash (SHA-256 of 33 bytes: 1 us), one count, a call, one entry that
nobody listens for: 20 us. So the door with its lock should cost less than half of the host again.
The bare loop is h11 on a socket with no limits at all: what nobody who uses h11 can do without.

All three answer the same bytes; the client is raw bytes in a process of its own.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import cast
from uuid import uuid4

import h11
import trio

from actors.law.ids import UserId
from adapters.access.admission import Admission
from adapters.chats.routes.not_implemented import NotImplementedRoutes
from adapters.http.door import Door
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response
from adapters.http.host.server import HttpServer
from adapters.http.requests import HttpRequest
from adapters.people.auth.callers import Callers
from adapters.people.auth.signing import Signing
from adapters.people.store.tokens import GoodToken, TokenKind, Tokens, hash_of
from adapters.people.store.users import User, UserStatus
from adapters.postgres.driver.pool import Pool
from bench.report import Target

QUESTION = "what does a small GET cost?"
TARGETS = (Target("door_ratio", "a GET at the door with a token / at the host, CPU", at_most=1.5),)
CONNECTIONS = 8
REQUESTS = 500  # on each connection, one after the other
ROUNDS = 7  # every way is measured so often, in turn; the best of each counts
READ_BYTES = 16 * 1024
TOKEN = "0123456789-abcdefghijklmnopqrstuv"
BODY = json_response(200, {"id": str(uuid4()), "username": "ann", "roles": ["member"]})
GET = (
    f"GET /api/v2/users/me HTTP/1.1\r\nHost: 127.0.0.1\r\nCoder-Session-Token: {TOKEN}\r\n"
    "User-Agent: coder-cli/2 (linux/amd64)\r\nAccept: application/json\r\n\r\n"
).encode()

Converse = Callable[[trio.SocketStream], Awaitable[object]]


class OneToken(Tokens):
    """A store in which there is one; it is asked now and then, for what is good is kept."""

    def __init__(self) -> None:
        at = datetime.now(UTC)
        active = UserStatus.ACTIVE
        ann = User(
            UserId(uuid4()), "ann", "", "", "", frozenset(), active, at, at, None, is_deleted=False
        )
        self._one = GoodToken("1234567890", TokenKind.PERSONAL, frozenset({"all"}), None, ann)

    async def of_hash(self, hash: bytes) -> GoodToken | None:
        return self._one if hash == hash_of(TOKEN) else None


async def bare(stream: trio.SocketStream) -> None:
    """h11 and nothing else."""
    protocol = h11.Connection(h11.SERVER)
    while True:
        while (event := protocol.next_event()) is h11.NEED_DATA:
            protocol.receive_data(bytes(await stream.receive_some(READ_BYTES)))
        if isinstance(event, h11.ConnectionClosed):
            return
        while not isinstance(protocol.next_event(), h11.EndOfMessage):
            pass
        assert isinstance(BODY.body, bytes)
        headers = [("content-type", BODY.media_type), ("content-length", str(len(BODY.body)))]
        head = protocol.send(h11.Response(status_code=200, headers=headers))
        body = protocol.send(h11.Data(data=BODY.body))
        end = protocol.send(h11.EndOfMessage())
        await stream.send_all((head or b"") + (body or b"") + (end or b""))
        protocol.start_next_cycle()


async def answer(request: HttpRequest) -> HttpResponse:
    return BODY


async def me(call: Call) -> HttpResponse:
    assert call.user.username == "ann"
    return BODY


def door() -> Door:
    row = Endpoint(
        method="GET",
        path="/api/v2/users/{user}",
        handle=me,
        summary="",
        tag="",
        scope="users",
        rate_per_minute=1_000_000,
    )
    signing = Signing(b"csrf", b"ticket")
    callers = Callers(OneToken(), signing, used=lambda token: None)
    others = NotImplementedRoutes(Admission(cast("Pool", None)))  # which are not asked for
    return Door([row, *others.endpoints()], callers)


def ways() -> Mapping[str, Converse]:
    return {
        "bare": bare,
        "host": HttpServer(answer).converse,
        "door": HttpServer(door().answer).converse,
    }


async def _cpu_us(converse: Converse) -> float:
    """Return the CPU time of one request in this process; the clients are in another one."""
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port: int = listener.socket.getsockname()[1]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, converse, [listener])
        with _clients(port) as client:
            assert client.stdout is not None
            await trio.to_thread.run_sync(client.stdout.readline)  # it has connected and warmed up
            began = time.process_time()
            await trio.to_thread.run_sync(client.stdout.readline)
            used = time.process_time() - began
        nursery.cancel_scope.cancel()
    return used / (CONNECTIONS * REQUESTS) * 1e6


def _clients(port: int) -> subprocess.Popen[bytes]:
    asking = f"from bench.small_get import ask; ask({port}, {GET!r})"
    return subprocess.Popen([sys.executable, "-c", asking], stdout=subprocess.PIPE)


def ask(port: int, get: bytes) -> None:
    """The client: bytes out, bytes in, as fast as they come; a line before and behind it."""
    streams = [socket.create_connection(("127.0.0.1", port)) for _ in range(CONNECTIONS)]
    for round_, count in enumerate((20, REQUESTS)):
        for _ in range(count):
            for stream in streams:
                stream.sendall(get)
            for stream in streams:
                _take_answer(stream)
        print(round_, flush=True)


def _take_answer(stream: socket.socket) -> None:
    heard = b""
    while not heard.endswith(b"}\n"):
        heard += stream.recv(READ_BYTES)
    assert heard.startswith(b"HTTP/1.1 200"), heard


async def _measured() -> dict[str, float]:
    costs: dict[str, list[float]] = {}
    for _ in range(ROUNDS):
        for name, converse in ways().items():
            costs.setdefault(name, []).append(await _cpu_us(converse))
    figures = {f"{name}_us": min(found) for name, found in costs.items()}
    figures["door_ratio"] = figures["door_us"] / figures["host_us"]
    figures["host_to_bare_ratio"] = figures["host_us"] / figures["bare_us"]
    return figures


def measure() -> dict[str, float]:
    return trio.run(_measured)
