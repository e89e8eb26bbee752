"""The other side: a connection to a process by its name, which proves to be it.

The WebSocket is wsproto's, on a stream of ours. Nothing here waits for ever: a peer that is silent
for longer than its pings allow, or that takes nothing, is gone.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from hmac import compare_digest

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import (
    AcceptConnection,
    BytesMessage,
    CloseConnection,
    Event,
    Ping,
    RejectConnection,
    Request,
)
from wsproto.utilities import LocalProtocolError, RemoteProtocolError

from actors.law.ids import WorkerId
from actors.streams.relay.exchange import NotConnected, PeerConnection, RelayAnswer, RelayRequest
from adapters.http.host.bounds import PING_SECONDS
from adapters.models.providers.dial import (
    CLOSE_SECONDS_MAX,
    Dial,
    Origin,
    open_connection,
    split_url,
)
from adapters.models.providers.faults import ProviderUnreachable, Untrusted
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from adapters.relay.door import PATH
from adapters.relay.tickets import HEADER, Tickets
from adapters.relay.wire import NEWS_BYTES_MAX, Garbled, news_of, wishes_encoded
from runtime.clock import wall

CONNECT_SECONDS = 5.0  # to be let in; then it is tried again, later
SEND_SECONDS = 20.0  # for the other side to take a message; then it is gone
SILENCE_SECONDS = 2 * PING_SECONDS + 10.0  # it pings whoever says nothing
READ_BYTES = 256 * 1024

GONE = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
BROKEN = (RemoteProtocolError, LocalProtocolError)
IMPOSTOR = "it has not proved to be it: another process listens there, its secret_key is not ours"
MUTE = "it hung up without a word: no process of ours listens there, or it is stopping"
REFUSALS = {
    404: "it let us not in (404): another process listens there, its secret_key is not ours,"
    " or the clocks differ by more than a minute",
    503: "it has no room (503): too many processes follow it, or it is starting or stopping",
}


class SocketLine:
    """Fulfils `actors.streams.relay.exchange.Line`, once it has been let in."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._turn = trio.Lock()
        self._begun = bytearray()  # a message that goes on
        self._messages: list[bytes] = []
        self._is_over = False

    async def enter(self, host: str, path: str, ticket: str) -> bytes | int:
        """What the other side says first; or the status with which it turns us away."""
        asked = Request(host=host, target=path, extra_headers=[(HEADER.encode(), ticket.encode())])
        await self._stream.send_all(self._protocol.send(asked))
        while await self._read():
            for event in self._protocol.events():
                match event:
                    case RejectConnection(status_code=status):
                        return status
                    case AcceptConnection():
                        said = await self._next()
                        return said[0] if said else b""
        return b""

    async def send(self, wishes: Sequence[RelayRequest]) -> bool:
        return await self._say(BytesMessage(wishes_encoded(wishes)))

    async def receive(self) -> Sequence[RelayAnswer] | None:
        try:
            messages = await self._next()
            if messages is None:
                return None
            return [news for message in messages for news in news_of(message)]
        except (*GONE, *BROKEN, Garbled):
            return None

    async def _next(self) -> Sequence[bytes] | None:
        """The messages that have come; None: there will be none."""
        goes_on = await self._heed()
        while not self._messages:
            if not goes_on or not await self._read():
                return None
            goes_on = await self._heed()
        messages, self._messages = self._messages, []
        return messages

    async def _read(self) -> bool:
        """False: nothing more comes."""
        data = b""
        with trio.move_on_after(SILENCE_SECONDS):
            data = bytes(await self._stream.receive_some(READ_BYTES))
        if data:
            self._protocol.receive_data(data)
        return bool(data)

    async def _heed(self) -> bool:
        """What has been read; whether it goes on."""
        for event in self._protocol.events():
            match event:
                case BytesMessage():
                    self._begun += event.data
                    if len(self._begun) > NEWS_BYTES_MAX:
                        self._is_over = True
                    elif event.message_finished:
                        self._messages.append(bytes(self._begun))
                        self._begun.clear()
                case Ping():
                    if not await self._say(event.response()):
                        self._is_over = True  # half a frame is none, and what follows is garbled
                case CloseConnection():
                    self._is_over = True
                    await self._say(event.response())
                case _:
                    self._is_over = True
        return not self._is_over

    async def _say(self, event: Event) -> bool:
        whole = False
        try:
            with trio.move_on_after(SEND_SECONDS):
                async with self._turn:
                    await self._stream.send_all(self._protocol.send(event))
                whole = True
        except (*GONE, *BROKEN):
            pass  # whoever reads hears of it as well
        return whole


class Addresses:
    """Where processes are, by what they say of themselves with every beat."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def find(self, worker: WorkerId) -> str | NotConnected:
        asked = {"worker": worker, "lease_seconds": self._lease_seconds}
        try:
            async with self._pool.connection() as connection:
                found = await connection.execute(SQL["worker_url"], asked)
        except DatabaseFault as fault:
            return NotConnected(f"the database does not say where it is ({fault})")
        if not found:
            return NotConnected("it has stopped, or has given no sign of life", is_fault=False)
        [(url,)] = found
        return url or NotConnected("it has no address for others: set relay_listen there")


class Dialler:
    """Fulfils `actors.streams.relay.exchange.Peers`."""

    def __init__(
        self,
        find: Callable[[WorkerId], Awaitable[str | NotConnected]],
        tickets: Tickets,
        *,
        me: Callable[[], WorkerId | None],
        dial: Dial,
    ) -> None:
        self._find = find
        self._tickets = tickets
        self._me = me
        self._dial = dial

    @asynccontextmanager
    async def connected(self, worker: WorkerId) -> AsyncIterator[PeerConnection | NotConnected]:
        url = await self._find(worker)
        if isinstance(url, NotConnected):
            yield url
            return
        opened: list[trio.abc.Stream] = []
        try:
            yield await self._linked(worker, url, opened)
        finally:
            for stream in opened:
                with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
                    await trio.aclose_forcefully(stream)

    async def _linked(
        self, worker: WorkerId, url: str, opened: list[trio.abc.Stream]
    ) -> PeerConnection | NotConnected:
        """What is `opened` on the way is closed by whoever asked, however this ends."""
        try:
            with trio.move_on_after(CONNECT_SECONDS):
                origin, path = split_url(url)
                opened.append(await open_connection(self._dial, origin))
                return await self._entered(SocketLine(opened[0]), worker, origin, path + PATH)
        except (ProviderUnreachable, Untrusted, ValueError) as error:
            return NotConnected(str(error))
        except (*GONE, *BROKEN) as error:
            return NotConnected(f"{url}: the connection broke ({error})")
        return NotConnected(f"{url}: not within {CONNECT_SECONDS:g} s")

    async def _entered(
        self, line: SocketLine, worker: WorkerId, origin: Origin, path: str
    ) -> PeerConnection | NotConnected:
        me = self._me()
        if me is None:
            return NotConnected("we have no lease ourselves")
        ticket = self._tickets.written(me, worker, at=wall().timestamp())
        said = await line.enter(origin.host_header, path, ticket)
        if isinstance(said, bytes) and compare_digest(said, self._tickets.proof(ticket)):
            return line
        return NotConnected(f"{origin}: {_refusal(said)}")


def _refusal(said: bytes | int) -> str:
    """Why we are not connected, by what came instead of the proof."""
    if isinstance(said, bytes):
        return IMPOSTOR if said else MUTE
    return REFUSALS.get(said, f"it answered {said}: no process of ours listens there")
