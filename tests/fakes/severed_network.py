"""The way between a client and PostgreSQL, as a program that can fail at any byte.

    async with severed_network(conninfo) as network:
        connection = await Connection.open(network.conninfo)
        network.cut_after(to_client=20)

It is a proxy on a unix socket of its own. Bytes are counted from the moment a fault is planned;
`cut` hangs up on both sides (after a `farewell` to the client, as a server that is told to stop
says one), `hold` lets nothing through and tells nobody (a half-open peer, a
server that stalls). Connections for cancel requests pass through it like all others.

What clients say is counted by kind: `said["S"]` is how often one has waited for the server (Sync,
the end of a pipeline), `said["E"]` how many statements it has had executed.
"""

import os
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

SOCKET = ".s.PGSQL.5432"
CANCEL_REQUEST = (80_877_102).to_bytes(4, "big")  # in the place of a version
CANCEL = "cancel"


class Cutter:
    """Bytes of one client → the kinds of its messages, a letter each. The first one has none; if it
    asks for what runs to be cancelled, it is told as such."""

    def __init__(self) -> None:
        self._rest = b""
        self._letter_bytes = 0

    def feed(self, data: bytes) -> Iterator[str]:
        self._rest += data
        while len(self._rest) >= self._letter_bytes + 4:
            length = int.from_bytes(self._rest[self._letter_bytes :][:4], "big")
            if len(self._rest) < self._letter_bytes + length:
                return
            if self._letter_bytes == 0 and self._rest[4:8] == CANCEL_REQUEST:
                yield CANCEL
            else:
                yield self._rest[: self._letter_bytes].decode()
            self._rest = self._rest[self._letter_bytes + length :]
            self._letter_bytes = 1


class Network:
    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self.to_server = 0  # bytes that passed, since the last plan
        self.to_client = 0
        self.answer = b""  # the bytes of `to_client`
        self.said: Counter[str] = Counter()  # likewise
        self.cancels = 0  # connections that were opened to cancel what runs on another, ever
        self._allowed = {"to_server": float("inf"), "to_client": float("inf")}
        self._then_hold = False
        self._tell_server = True
        self._farewell = b""
        self._open = trio.Event()
        self._open.set()
        self.struck = trio.Event()  # a plan has come true
        self._pairs: set[tuple[trio.SocketStream, trio.SocketStream]] = set()
        self.refusing = False

    def cut(self, *, tell_server: bool = True) -> None:
        """Hang up on every connection, now. The server may be left in the dark."""
        for client, server in self._pairs:
            client.socket.close()
            if tell_server:
                server.socket.close()

    def hold(self) -> None:
        """Let nothing through, and tell nobody."""
        self._open = trio.Event()

    def release(self) -> None:
        """As if nothing had been: what was held passes on."""
        self._plan()
        self._open.set()

    def cut_after(
        self,
        *,
        to_server: float = float("inf"),
        to_client: float = float("inf"),
        tell_server: bool = True,
        farewell: bytes = b"",
    ) -> None:
        """Let so many more bytes through, either way, then cut; a farewell goes to the client if
        it is the server's bytes that are cut."""
        self._plan(to_server, to_client)
        self._tell_server = tell_server
        self._farewell = farewell

    def hold_after(
        self, *, to_server: float = float("inf"), to_client: float = float("inf")
    ) -> None:
        """Let so many more bytes through, either way, then hold."""
        self._plan(to_server, to_client)
        self._then_hold = True

    def _plan(self, to_server: float = float("inf"), to_client: float = float("inf")) -> None:
        self.to_server = self.to_client = 0
        self.answer = b""
        self.said.clear()
        self._allowed = {"to_server": to_server, "to_client": to_client}
        self._then_hold = False
        self._tell_server = True
        self._farewell = b""
        if self.struck.is_set():
            self.struck = trio.Event()

    async def _carry(self, pair: tuple[trio.SocketStream, trio.SocketStream]) -> None:
        client, server = pair
        self._pairs.add(pair)
        try:
            async with client, server, trio.open_nursery() as nursery:
                nursery.start_soon(self._pump, client, server, "to_server", nursery)
                nursery.start_soon(self._pump, server, client, "to_client", nursery)
        finally:
            self._pairs.discard(pair)

    async def _pump(
        self,
        source: trio.SocketStream,
        sink: trio.SocketStream,
        way: str,
        nursery: trio.Nursery,
    ) -> None:
        cutter = Cutter()
        try:
            while data := await source.receive_some():
                if way == "to_server":
                    kinds = list(cutter.feed(data))
                    self.said.update(kinds)
                    self.cancels += kinds.count(CANCEL)
                await self._pass(data, sink, way)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        if self._tell_server or way == "to_client":
            nursery.cancel_scope.cancel()
        else:
            await trio.sleep_forever()  # the client is gone, and the server does not learn of it

    async def _pass(self, data: bytes, sink: trio.SocketStream, way: str) -> None:
        while data:
            await self._open.wait()
            passing = data[: int(min(len(data), self._allowed[way] - getattr(self, way)))]
            if passing:
                setattr(self, way, getattr(self, way) + len(passing))
                if way == "to_client":
                    self.answer += passing
                await sink.send_all(passing)
                data = data[len(passing) :]
            else:
                if way == "to_client":
                    await sink.send_all(self._farewell)
                self._strike()

    def _strike(self) -> None:
        """A plan comes true once; who connects afterwards finds the way whole."""
        self.struck.set()
        self._allowed = {"to_server": float("inf"), "to_client": float("inf")}
        if self._then_hold:
            self.hold()
        else:
            self.cut(tell_server=self._tell_server)
            raise trio.ClosedResourceError


@asynccontextmanager
async def severed_network(conninfo: str) -> AsyncIterator[Network]:
    """A way to the server of `conninfo` that does as it is told; whole, to begin with."""
    words = conninfo_to_dict(conninfo)
    there = Path(str(words["host"])) / f".s.PGSQL.{words.get('port', 5432)}"
    with tempfile.TemporaryDirectory(prefix="severed-") as folder:
        here = Path(folder) / SOCKET
        network = Network(make_conninfo(conninfo, host=folder, port=5432))
        listening = trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM)
        await listening.bind(os.fspath(here))
        listening.listen(100)

        async def carry(client: trio.SocketStream) -> None:
            if network.refusing:
                await client.aclose()
                return
            server = await trio.open_unix_socket(there)
            await network._carry((client, server))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.serve_listeners, carry, [trio.SocketListener(listening)])
            try:
                yield network
            finally:
                nursery.cancel_scope.cancel()
