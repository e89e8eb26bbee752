"""The event stream of AWS, and Anthropic's events in it. Bytes in, events out. Pure.

A message is: total length, length of the headers, CRC of these two; headers; payload; CRC of
everything before. Numbers are big-endian, sums are CRC-32. Both sums of each message are checked.
"""

import base64
import binascii
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import msgspec

from adapters.models.providers.faults import BrokenStream, ReportedFailure
from adapters.models.providers.sse import valid_text

MESSAGE_BYTES_MAX = 24 * 1024 * 1024  # AWS's own limit is 16 MiB of payload; more breaks the stream

_PRELUDE = struct.Struct(">III")
_SUM = struct.Struct(">I")
_OVERHEAD = _PRELUDE.size + _SUM.size
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # type of a header's value → its bytes
_BYTES, _TEXT = 6, 7
_STATUS = {
    "internalServerException": 500,
    "modelStreamErrorException": 424,
    "modelTimeoutException": 408,
    "serviceUnavailableException": 503,
    "throttlingException": 429,
    "validationException": 400,
}


class _Chunk(msgspec.Struct):
    bytes: str


class _Exception(msgspec.Struct):
    message: str = ""


_CHUNKS = msgspec.json.Decoder(_Chunk)
_EXCEPTIONS = msgspec.json.Decoder(_Exception)


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """One message of an event stream."""

    headers: dict[str, str]  # those that are text
    payload: bytes


class MessageParser:
    """A parser that is fed the bytes of a stream in any pieces."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[StreamMessage]:
        self._rest += data
        messages: list[StreamMessage] = []
        at = 0
        while (size := self._whole(at)) is not None:
            messages.append(_message(bytes(self._rest[at : at + size])))
            at += size
        del self._rest[:at]
        return messages

    def _whole(self, at: int) -> int | None:
        """Return the size of the message that begins here, or None if it is not complete."""
        if len(self._rest) - at < _OVERHEAD:
            return None
        total, headers, checked = _PRELUDE.unpack_from(self._rest, at)
        if zlib.crc32(self._rest[at : at + 8]) != checked:
            raise BrokenStream("event stream: the sum of a prelude is wrong")
        if not _OVERHEAD + headers <= total <= MESSAGE_BYTES_MAX:
            raise BrokenStream("event stream: a message is too long, or too short for its headers")
        return total if len(self._rest) - at >= total else None


def _message(data: bytes) -> StreamMessage:
    (checked,) = _SUM.unpack_from(data, len(data) - _SUM.size)
    if zlib.crc32(data[: -_SUM.size]) != checked:
        raise BrokenStream("event stream: the sum of a message is wrong")
    _, size, _ = _PRELUDE.unpack_from(data)
    end = _PRELUDE.size + size
    return StreamMessage(_headers(data[_PRELUDE.size : end]), data[end : -_SUM.size])


def _headers(data: bytes) -> dict[str, str]:
    headers: dict[str, str] = {}
    at = 0
    try:
        while at < len(data):
            name_end = at + 1 + data[at]
            name, kind, at = data[at + 1 : name_end].decode(), data[name_end], name_end + 1
            if kind in (_BYTES, _TEXT):
                size = int.from_bytes(data[at : at + 2])
                value, at = data[at + 2 : at + 2 + size], at + 2 + size
                if kind == _TEXT:
                    headers[name] = value.decode()
            else:
                at += _FIXED[kind]
    except (IndexError, KeyError, UnicodeDecodeError):
        at = -1
    if at != len(data):
        raise BrokenStream("event stream: the headers of a message are not readable")
    return headers


class EventReader:
    """A reader of the stream's bytes as events: the type of each, and its payload."""

    def __init__(self) -> None:
        self._parser = MessageParser()

    def feed(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the events that these bytes complete. Raises `ReportedFailure`."""
        for message in self._parser.feed(data):
            if message.headers.get(":message-type") != "event":
                raise ReportedFailure(_reported(message))
            yield message.headers.get(":event-type", ""), message.payload


class EventSplitter:
    """A splitter of the stream's bytes into the JSON of Anthropic's events."""

    def __init__(self) -> None:
        self._reader = EventReader()

    def __call__(self, data: bytes) -> Iterable[bytes]:
        for kind, payload in self._reader.feed(data):
            if kind == "chunk":
                yield _unpacked(payload)


def _unpacked(payload: bytes) -> bytes:
    try:
        return valid_text(base64.b64decode(_CHUNKS.decode(payload).bytes, validate=True))
    except (msgspec.MsgspecError, binascii.Error) as error:
        raise BrokenStream(f"bedrock: chunk: {error}") from error


def _reported(message: StreamMessage) -> str:
    """Return the text of an error, with the status by which its kind is classified."""
    headers = message.headers
    kind = headers.get(":exception-type") or headers.get(":error-code") or "unknown"
    try:
        text = _EXCEPTIONS.decode(message.payload).message
    except msgspec.MsgspecError:
        text = headers.get(":error-message", "")
    status = f"status {_STATUS[kind]}: " if kind in _STATUS else ""
    return f"{status}{kind}: {text}"
