"""The dialler of the relay: a connection to a process by its name, which has to give a proof.

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
from adapters.models.providers.faults import ProviderUnreachable, UntrustedPeer
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from adapters.relay.listener import PATH
from adapters.relay.protocol import (
    ANSWERS_BYTES_MAX,
    HEADER,
    GarbledMessage,
    RelayTickets,
    decode_answers,
    encode_requests,
)
from runtime.clock import wall

CONNECT_SECONDS = 5.0  # to be admitted; then it is tried again, later
SEND_SECONDS = 20.0  # for the other side to take a message; then it is gone
SILENCE_SECONDS = 2 * PING_SECONDS + 10.0  # the other side pings a connection that is silent
READ_BYTES = 256 * 1024

GONE = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)
BROKEN = (RemoteProtocolError, LocalProtocolError)
IMPOSTOR = "the process there gave no proof: another one listens, or its secret_key is not ours"
MUTE = "the connection was closed without an answer: no process of ours is there, or it is stopping"
REFUSALS = {
    404: "the other process refused the connection (404): it is another one, its secret_key is not"
    " ours, or the clocks differ by more than a minute",
    503: "the other process has no room (503): too many follow it, or it is starting or stopping",
}


class DialledConnection:
    """A connection to another process, once it has been admitted.

    Fulfils `actors.streams.relay.exchange.PeerConnection`.
    """

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._protocol = WSConnection(ConnectionType.CLIENT)
        self._turn = trio.Lock()
        self._begun = bytearray()  # a message that goes on
        self._messages: list[bytes] = []
        self._is_over = False

    async def enter(self, host: str, path: str, ticket: str) -> bytes | int:
        """Return the first message of the other side, or the status with which it refuses us."""
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

    async def send(self, requests: Sequence[RelayRequest]) -> bool:
        return await self._send_event(BytesMessage(encode_requests(requests)))

    async def receive(self) -> Sequence[RelayAnswer] | None:
        try:
            messages = await self._next()
            if messages is None:
                return None
            return [answer for message in messages for answer in decode_answers(message)]
        except (*GONE, *BROKEN, GarbledMessage):
            return None

    async def _next(self) -> Sequence[bytes] | None:
        """Wait for messages, and return those that have come. None: there will be none."""
        goes_on = await self._handle_events()
        while not self._messages:
            if not goes_on or not await self._read():
                return None
            goes_on = await self._handle_events()
        messages, self._messages = self._messages, []
        return messages

    async def _read(self) -> bool:
        """Read what has come. Return False if nothing more comes."""
        data = b""
        with trio.move_on_after(SILENCE_SECONDS):
            data = bytes(await self._stream.receive_some(READ_BYTES))
        if data:
            self._protocol.receive_data(data)
        return bool(data)

    async def _handle_events(self) -> bool:
        """Handle what has been read. Return whether the connection goes on."""
        for event in self._protocol.events():
            match event:
                case BytesMessage():
                    self._begun += event.data
                    if len(self._begun) > ANSWERS_BYTES_MAX:
                        self._is_over = True
                    elif event.message_finished:
                        self._messages.append(bytes(self._begun))
                        self._begun.clear()
                case Ping():
                    if not await self._send_event(event.response()):
                        self._is_over = True  # half a frame is none, and what follows is garbled
                case CloseConnection():
                    self._is_over = True
                    await self._send_event(event.response())
                case _:
                    self._is_over = True
        return not self._is_over

    async def _send_event(self, event: Event) -> bool:
        whole = False
        try:
            with trio.move_on_after(SEND_SECONDS):
                async with self._turn:
                    await self._stream.send_all(self._protocol.send(event))
                whole = True
        except (*GONE, *BROKEN):
            pass  # the task that reads hears of it as well
        return whole


class ProcessAddresses:
    """The addresses of processes, as they write them with every heartbeat."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def find(self, worker: WorkerId) -> str | NotConnected:
        asked = {"worker": worker, "lease_seconds": self._lease_seconds}
        try:
            async with self._pool.connection() as connection:
                found = await connection.execute(SQL["worker_url"], asked)
        except DatabaseFault as fault:
            return NotConnected(f"the database cannot be asked for its address ({fault})")
        if not found:
            return NotConnected("the process has stopped, or gives no sign of life", is_fault=False)
        [(url,)] = found
        return url or NotConnected("the process has no address for others: set relay_listen there")


class Dialler:
    """Connects to other processes. Fulfils `actors.streams.relay.exchange.PeerConnector`."""

    def __init__(
        self,
        find: Callable[[WorkerId], Awaitable[str | NotConnected]],
        tickets: RelayTickets,
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
            yield await self._connect(worker, url, opened)
        finally:
            for stream in opened:
                with trio.move_on_after(CLOSE_SECONDS_MAX, shield=True):
                    await trio.aclose_forcefully(stream)

    async def _connect(
        self, worker: WorkerId, url: str, opened: list[trio.abc.Stream]
    ) -> PeerConnection | NotConnected:
        """Connect to a URL. The caller closes what is `opened` on the way, however this ends."""
        try:
            with trio.move_on_after(CONNECT_SECONDS):
                origin, path = split_url(url)
                opened.append(await open_connection(self._dial, origin))
                return await self._enter(DialledConnection(opened[0]), worker, origin, path + PATH)
        except (ProviderUnreachable, UntrustedPeer, ValueError) as error:
            return NotConnected(str(error))
        except (*GONE, *BROKEN) as error:
            return NotConnected(f"{url}: the connection broke ({error})")
        return NotConnected(f"{url}: no connection within {CONNECT_SECONDS:g} s")

    async def _enter(
        self, connection: DialledConnection, worker: WorkerId, origin: Origin, path: str
    ) -> PeerConnection | NotConnected:
        me = self._me()
        if me is None:
            return NotConnected("this process holds no lease itself")
        ticket = self._tickets.write(me, worker, at=wall().timestamp())
        said = await connection.enter(origin.host_header, path, ticket)
        if isinstance(said, bytes) and compare_digest(said, self._tickets.proof(ticket)):
            return connection
        return NotConnected(f"{origin}: {_refusal(said)}")


def _refusal(said: bytes | int) -> str:
    """Return why there is no connection, by what came instead of the proof."""
    if isinstance(said, bytes):
        return IMPOSTOR if said else MUTE
    return REFUSALS.get(said, f"the answer was {said}: no process of ours listens there")
