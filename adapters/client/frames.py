"""A WebSocket as its bytes: what a server says in it, and what it has to hear back. Pure.

For streams of servers that speak no server-sent events.
"""

from collections import deque
from collections.abc import Mapping

from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Event, Ping, TextMessage
from wsproto.utilities import RemoteProtocolError, generate_nonce

from adapters.client.faults import Ended

READ_BYTES = 64 * 1024
MESSAGE_CHARACTERS_MAX = 16 * 1024 * 1024  # four times what servers send; then it is given up


def headers() -> Mapping[str, str]:
    """By which a request asks for one."""
    return {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": generate_nonce().decode(),
        "sec-websocket-version": "13",
    }


class Frames:
    """The client's side of one connection."""

    def __init__(self) -> None:
        self._connection = Connection(ConnectionType.CLIENT)
        self._text = ""  # of a message whose end has not come
        self._said: deque[str] = deque()
        self._end: Ended | None = None

    def next(self) -> str | None:
        """The next message; a ping is an empty one: a heartbeat. None: more bytes are needed. Ended
        is raised when there will be none."""
        if self._said:
            return self._said.popleft()
        if self._end is not None:
            raise self._end
        return None

    def heard(self, data: bytes) -> bytes:
        """What has to be sent back."""
        back = b""
        try:
            self._connection.receive_data(data or None)
            for event in self._connection.events():
                back += self._heard(event)
        except RemoteProtocolError as error:
            self._end = Ended(str(error))
        return back

    def _heard(self, event: Event) -> bytes:
        match event:
            case Ping():
                self._said.append("")
                return self._connection.send(event.response())
            case TextMessage():
                self._text += event.data
                if event.message_finished:
                    self._said.append(self._text)
                    self._text = ""
                elif len(self._text) > MESSAGE_CHARACTERS_MAX:
                    self._end = Ended(f"a message of more than {MESSAGE_CHARACTERS_MAX} characters")
            case CloseConnection():
                self._end = Ended()
        return b""
