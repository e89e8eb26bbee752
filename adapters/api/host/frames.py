"""Frames that all sockets share: made once, sent to however many. Text only, never masked. Pure."""

import struct

_TEXT, _LAST = 0x1, 0x80
_SHORT_MAX, _MEDIUM_MAX = 125, 0xFFFF


def framed(payload: bytes) -> bytes:
    """A whole text message. The same bytes are good for every socket, so make them once."""
    length = len(payload)
    if length <= _SHORT_MAX:
        return bytes((_LAST | _TEXT, length)) + payload
    if length <= _MEDIUM_MAX:
        return struct.pack("!BBH", _LAST | _TEXT, 126, length) + payload
    return struct.pack("!BBQ", _LAST | _TEXT, 127, length) + payload
