"""Two processes on one machine: attempts run there, at a real address; here they are followed.

    async with a_pair() as pair:
        attempt = pair.relays.follow(key, pair.worker)

Between them stands a network that can be cut, and that counts.
"""

import random
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import trio

from actors.law.ids import WorkerId
from actors.streams.previews import Previews
from actors.streams.relay.relays import Relays, open_relays
from adapters.http.door import route_not_found
from adapters.http.host.server import HttpServer
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.relay.dialler import Dialler
from adapters.relay.listener import RelayGate, RelayHost
from adapters.relay.protocol import RelayTickets
from tests.actors.streams.relay.cable import HERE, as_said
from tests.patience import PATIENCE_SECONDS

KEY = b"k" * 32
GONE = (trio.BrokenResourceError, trio.ClosedResourceError)


@dataclass
class Network:
    """Passes everything on, until it is cut."""

    port: int
    connections: int = 0
    is_out: bool = False
    bytes_max: int | None = None  # of what one connection brings; then it is cut
    _open: list = field(default_factory=list)

    async def serve(self, task_status):
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        task_status.started(f"http://127.0.0.1:{listener.socket.getsockname()[1]}")
        await trio.serve_listeners(self._pass_on, [listener])

    async def cut(self):
        for stream in self._open:
            await trio.aclose_forcefully(stream)
        self._open.clear()

    async def _pass_on(self, here):
        self.connections += 1
        if self.is_out:
            return
        async with await trio.open_tcp_stream("127.0.0.1", self.port) as there:
            self._open += [here, there]
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._copy, here, there, None, nursery.cancel_scope)
                nursery.start_soon(self._copy, there, here, self.bytes_max, nursery.cancel_scope)

    async def _copy(self, source, target, bytes_max, scope):
        try:
            async for data in source:
                if bytes_max is not None:
                    data, bytes_max = data[:bytes_max], bytes_max - len(data)
                if data:
                    await target.send_all(data)
                if bytes_max is not None and bytes_max <= 0:
                    break
        except GONE:
            pass
        scope.cancel()


@dataclass
class Pair:
    there: Previews
    host: RelayHost
    relays: Relays
    network: Network
    url: str
    worker: WorkerId
    server: HttpServer

    async def until(self, condition):
        with trio.fail_after(PATIENCE_SECONDS):
            while not condition():
                await trio.sleep(0.005)


async def nothing(request):
    raise route_not_found()


@asynccontextmanager
async def a_pair(*, key_here=KEY, key_there=KEY, url=None):
    there, worker = Previews(as_said), WorkerId(uuid4())
    host = RelayHost(there, RelayTickets(key_there), lambda: worker)
    server = HttpServer(RelayGate(nothing, host).answer)
    [listener] = listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener, trio.open_nursery() as nursery:
        nursery.start_soon(server.serve, listeners)
        network = Network(listeners[0].socket.getsockname()[1])
        found = url or await nursery.start(network.serve)

        async def find(_):
            return found

        peers = Dialler(
            find, RelayTickets(key_here), me=lambda: HERE, dial=direct_dial(tls_context())
        )
        async with open_relays(peers, me=lambda: HERE, chance=random.Random(7).random) as relays:
            yield Pair(there, host, relays, network, found, worker, server)
        await server.drain(listeners)
        nursery.cancel_scope.cancel()
