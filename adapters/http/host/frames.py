"""Frames that all sockets share: made once, sent to however many. Whole, never masked. Pure."""

import struct

_TEXT, _BINARY, _LAST = 0x1, 0x2, 0x80
_SHORT_MAX, _MEDIUM_MAX = 125, 0xFFFF


def framed(payload: bytes) -> bytes:
    """A whole text message. The same bytes are good for every socket, so make them once."""
    return _head(_TEXT, len(payload)) + payload


def framed_bytes(payload: bytes) -> bytes:
    """Likewise a message that is no text."""
    return _head(_BINARY, len(payload)) + payload


def _head(kind: int, length: int) -> bytes:
    if length <= _SHORT_MAX:
        return bytes((_LAST | kind, length))
    if length <= _MEDIUM_MAX:
        return struct.pack("!BBH", _LAST | kind, 126, length)
    return struct.pack("!BBQ", _LAST | kind, 127, length)
