"""The network between a browser and a daemon: it can be cut, and it can fall silent."""

from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import trio


class Line:
    """A port that passes everything on to a daemon, which may come and go behind it."""

    def __init__(self, url):
        self.target = urlsplit(url)
        self.url = ""
        self._cuts = set()
        self._flows = trio.Event()
        self._flows.set()
        self._is_cut = False

    @asynccontextmanager
    async def open(self):
        async with trio.open_nursery() as nursery:
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            self.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
            nursery.start_soon(trio.serve_listeners, self._serve, [listener])
            yield self
            nursery.cancel_scope.cancel()

    def lead_to(self, url):
        """Pass on to another daemon what comes from now on."""
        self.target = urlsplit(url)

    def cut(self):
        """Hang up on everybody, and on everybody who calls until it is mended."""
        self._is_cut = True
        for scope in self._cuts:
            scope.cancel()

    def mend(self):
        self._is_cut = False

    def fall_silent(self):
        """Pass nothing on, and close nothing: a machine that has gone, a tunnel."""
        self._flows = trio.Event()

    def go_on(self):
        """Pass on what has been held back."""
        self._flows.set()

    async def _serve(self, client):
        if self._is_cut:
            return
        with trio.CancelScope() as scope:
            self._cuts.add(scope)
            try:
                await self._pass_on(client)
            except OSError:
                pass  # there is no daemon at the moment
            finally:
                self._cuts.discard(scope)

    async def _pass_on(self, client):
        address = self.target.hostname, self.target.port
        async with await trio.open_tcp_stream(*address) as daemon, trio.open_nursery() as both:
            both.start_soon(self._pump, client, daemon, both)
            both.start_soon(self._pump, daemon, client, both)

    async def _pump(self, come, to, both):
        try:
            async for data in come:
                await self._flows.wait()
                await to.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        both.cancel_scope.cancel()
