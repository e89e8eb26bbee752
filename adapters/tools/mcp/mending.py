"""Halves of characters in JSON on its way: escapes of surrogates that lack their partner. Servers
that cut a text in the middle of a character write them, and parsers refuse the whole answer for
one. Pure.
"""

import re

_HIGH = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES = re.compile(rb"\\\\|" + _HIGH + _LOW + rb"|(?P<lone>" + _HIGH + rb"|" + _LOW + rb")")
# What the next bytes may make another thing of.
_OPEN = re.compile(rb"(?:" + _HIGH + rb")?(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z")
_OPEN_BYTES = 11
_UNKNOWN = rb"\ufffd"


def mended(data: bytes) -> bytes:
    """As long as it was. Nearly all data has none of it."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPES.sub(lambda found: _UNKNOWN if found["lone"] else found[0], data)


class Mending:
    """The same of a stream, however it is cut."""

    def __init__(self) -> None:
        self._open = b""

    def feed(self, data: bytes) -> bytes:
        data = self._open + data
        whole = _whole(data)
        self._open = data[whole:]
        return mended(data[:whole])

    def rest(self) -> bytes:
        data, self._open = self._open, b""
        return mended(data)


def _whole(data: bytes) -> int:
    """How far it is known what it is. A backslash before it may be the half of an escaped one."""
    found = _OPEN.search(data, max(0, len(data) - _OPEN_BYTES))
    assert found is not None, "nothing at all fits, too"
    start = found.start()
    while start < len(data) and start and data[start - 1 : start] == b"\\":
        start -= 1
    return start
