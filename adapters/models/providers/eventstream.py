"""The event stream of AWS: bytes in, messages out, each checked against both of its sums. No I/O.

A message is: total length, length of the headers, CRC of these two; headers; payload; CRC of
everything before. Numbers are big-endian, sums are CRC-32.
"""

import struct
import zlib
from dataclasses import dataclass

from adapters.models.providers.broken import BrokenStream

MESSAGE_BYTES_MAX = 24 * 1024 * 1024  # AWS's own limit is 16 MiB of payload; more breaks the stream

_PRELUDE = struct.Struct(">III")
_SUM = struct.Struct(">I")
_OVERHEAD = _PRELUDE.size + _SUM.size
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # type of a header's value → its bytes
_BYTES, _TEXT = 6, 7


@dataclass(frozen=True, slots=True)
class Message:
    headers: dict[str, str]  # those that are text
    payload: bytes


class MessageParser:
    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[Message]:
        self._rest += data
        messages: list[Message] = []
        at = 0
        while (size := self._whole(at)) is not None:
            messages.append(_message(bytes(self._rest[at : at + size])))
            at += size
        del self._rest[:at]
        return messages

    def _whole(self, at: int) -> int | None:
        """The size of the message that begins here, if all of it is there."""
        if len(self._rest) - at < _OVERHEAD:
            return None
        total, headers, checked = _PRELUDE.unpack_from(self._rest, at)
        if zlib.crc32(self._rest[at : at + 8]) != checked:
            raise BrokenStream("event stream: the sum of a prelude is wrong")
        if not _OVERHEAD + headers <= total <= MESSAGE_BYTES_MAX:
            raise BrokenStream("event stream: a message is too long, or too short for its headers")
        return total if len(self._rest) - at >= total else None


def _message(data: bytes) -> Message:
    (checked,) = _SUM.unpack_from(data, len(data) - _SUM.size)
    if zlib.crc32(data[: -_SUM.size]) != checked:
        raise BrokenStream("event stream: the sum of a message is wrong")
    _, size, _ = _PRELUDE.unpack_from(data)
    end = _PRELUDE.size + size
    return Message(_headers(data[_PRELUDE.size : end]), data[end : -_SUM.size])


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
