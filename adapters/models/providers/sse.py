"""Server-sent events: bytes in, events out, all events of one read together. No I/O.

However the bytes are cut, the events are the same. Lines may end in LF, CRLF or CR; comments, ids
and retry times are skipped; an event that the stream does not finish is dropped.
"""

from actors.law.parts.json_text import well_formed
from adapters.models.providers.faults import BrokenStream

Event = tuple[bytes, bytes]  # its name ("" if it has none) and its data

# A longer line or event breaks the stream. It has to be this large: images come in base64.
EVENT_BYTES_MAX = 32 * 1024 * 1024
LINE_BYTES = 8  # that a line of data counts beside what is in it: it may be empty

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BACKSLASH = ord("\\")


class EventParser:
    """A parser of one stream, which is fed its bytes in any pieces."""

    __slots__ = ("_after_cr", "_begun", "_bytes", "_data", "_data_bytes", "_name", "_tail")

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # the line that has not ended yet
        self._data: list[bytes] = []  # the lines of the event that has not ended yet
        self._data_bytes = 0
        self._name = b""
        self._bytes = 0  # of both
        self._after_cr = False
        self._begun = False

    def feed(self, data: bytes) -> list[Event]:
        if self._after_cr or b"\r" in data:
            data = self._unified(data)
        head, newline, tail = data.rpartition(b"\n")
        if not newline:
            self._tail.append(data)
            self._bound(self._bytes + len(data))
            return []
        if self._tail:
            head = b"".join((*self._tail, head))
        self._tail = [tail] if tail else []
        if not self._begun:
            self._begun = True
            head = head.removeprefix(_BYTE_ORDER_MARK)
        before = len(self._data)
        events = self._read(valid_text(head).split(b"\n"))
        if self._data:  # those that were there before have been measured, if they are still there
            new = self._data if events else self._data[before:]
            size = 0 if events else self._data_bytes
            self._data_bytes = size + sum(map(len, new)) + LINE_BYTES * len(new)
        else:
            self._data_bytes = 0
        self._bound(len(tail) + self._data_bytes)
        return events

    def _read(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        data = self._data
        for line in lines:
            if line.startswith(b"data: "):
                data.append(line[6:])
            elif line.startswith(b"data:"):
                data.append(line[5:])
            elif not line:
                if data:
                    events.append((self._name, data[0] if len(data) == 1 else b"\n".join(data)))
                    data.clear()
                self._name = b""
            elif line.startswith(b"event:"):
                self._name = line[6:].removeprefix(b" ")
            elif line == b"data":
                data.append(b"")
        return events

    def _unified(self, data: bytes) -> bytes:
        """Return all line ends as LF. A CR ends its line at once, together with an LF behind it."""
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _bound(self, size: int) -> None:
        self._bytes = size
        if size > EVENT_BYTES_MAX:
            raise BrokenStream(f"event stream: an event of more than {EVENT_BYTES_MAX} bytes")


def valid_text(json: bytes) -> bytes:
    """Return JSON that a provider sent, with everything replaced that is no text.

    That is bytes that are not UTF-8, and surrogates without their partner, which come from servers
    that cut their deltas in the middle of a character.
    """
    if not _may_escape_surrogates(json) and _is_text(json):
        return json
    return well_formed(json.decode("utf-8", "replace")).encode()


def _may_escape_surrogates(json: bytes) -> bool:
    # One byte is found ten times as fast as three, and most deltas have no backslash at all.
    return _BACKSLASH in json and (b"\\ud" in json or b"\\uD" in json)


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
