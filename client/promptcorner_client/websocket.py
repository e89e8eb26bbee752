"""A WebSocket as its bytes: the messages of a server, and what it has to be answered. Pure.

For streams of servers that have no server-sent events.
"""

from collections import deque
from collections.abc import Mapping

from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Event, Ping, TextMessage
from wsproto.utilities import RemoteProtocolError, generate_nonce

from promptcorner_client.errors import StreamEnded

READ_BYTES = 64 * 1024
MESSAGE_CHARACTERS_MAX = 16 * 1024 * 1024  # four times what servers send; then the stream is ended


def headers() -> Mapping[str, str]:
    """Return the headers of a request for a WebSocket."""
    return {
        "connection": "Upgrade",
        "upgrade": "websocket",
        "sec-websocket-key": generate_nonce().decode(),
        "sec-websocket-version": "13",
    }


class WebSocketReader:
    """The client's side of one connection."""

    def __init__(self) -> None:
        self._connection = Connection(ConnectionType.CLIENT)
        self._text = ""  # of a message whose end has not come
        self._messages: deque[str] = deque()
        self._end: StreamEnded | None = None

    def next_message(self) -> str | None:
        """Return the next message, "" for a ping, or None if more bytes are needed.

        Raises StreamEnded when there will be no more.
        """
        if self._messages:
            return self._messages.popleft()
        if self._end is not None:
            raise self._end
        return None

    def feed(self, data: bytes) -> bytes:
        """Take the bytes that have come, none for the end, and return those to send back."""
        reply = b""
        try:
            self._connection.receive_data(data or None)
            for event in self._connection.events():
                reply += self._reply_to(event)
        except RemoteProtocolError as error:
            self._end = StreamEnded(str(error))
        return reply

    def _reply_to(self, event: Event) -> bytes:
        match event:
            case Ping():
                self._messages.append("")
                return self._connection.send(event.response())
            case TextMessage():
                self._text += event.data
                if event.message_finished:
                    self._messages.append(self._text)
                    self._text = ""
                elif len(self._text) > MESSAGE_CHARACTERS_MAX:
                    limit = MESSAGE_CHARACTERS_MAX
                    self._end = StreamEnded(f"a message of more than {limit} characters")
            case CloseConnection():
                self._end = StreamEnded()
        return b""
