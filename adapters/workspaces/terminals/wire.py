"""The messages between a terminal and its watchers, and what it keeps for them. Pure.

A message is a byte that says its kind, and its content. A terminal says `o` (output: eight bytes
with the position of its first byte, then the bytes), `s` (its size) and `e` (its end); a watcher
says `i` (input, as keys make it) and `r` (the size that its screen has). Positions count the bytes
of all output, so that a watcher who comes back says which they have, and gets the others once.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

KEPT_BYTES_MAX = 256 * 1024  # of the output; what is older is forgotten
FRAME_BYTES_MAX = 64 * 1024  # of output in one message; the rest goes into the next
HEARD_BYTES_MAX = 64 * 1024  # of a message of a watcher; with more the socket is closed
SIDE_MAX = 1_000  # rows or columns; more are refused
LINE_BYTES_MAX = 4_096  # in which the first whole line is looked for

OUTPUT, SIZE, END = b"o", b"s", b"e"
INPUT, RESIZE = b"i", b"r"
_POSITION_BYTES = 8

Side = Annotated[int, Meta(ge=1, le=SIDE_MAX)]


class TerminalSize(Struct, frozen=True):
    """The size of a screen, in characters."""

    rows: Side = 24
    columns: Side = 80


class TerminalEnd(Struct, frozen=True):
    """The end of a terminal. `why` is empty if its shell has ended by itself."""

    exit_code: int
    why: str = ""


_size = msgspec.json.Decoder(TerminalSize)
_end = msgspec.json.Decoder(TerminalEnd)
_encode = msgspec.json.Encoder().encode


def output_message(position: int, data: bytes) -> bytes:
    return OUTPUT + position.to_bytes(_POSITION_BYTES, "big") + data


def size_message(size: TerminalSize) -> bytes:
    return SIZE + _encode(size)


def end_message(end: TerminalEnd) -> bytes:
    return END + _encode(end)


def input_message(data: bytes) -> bytes:
    return INPUT + data


def resize_message(size: TerminalSize) -> bytes:
    return RESIZE + _encode(size)


def message_of_terminal(message: bytes) -> tuple[int, bytes] | TerminalSize | TerminalEnd | None:
    """Read what a terminal says; output as its position and its bytes. None: it makes no sense."""
    kind, content = message[:1], message[1:]
    try:
        if kind == OUTPUT and len(content) >= _POSITION_BYTES:
            position = int.from_bytes(content[:_POSITION_BYTES], "big")
            return position, content[_POSITION_BYTES:]
        if kind == SIZE:
            return _size.decode(content)
        return _end.decode(content) if kind == END else None
    except msgspec.DecodeError:
        return None


def message_of_watcher(message: bytes) -> bytes | TerminalSize | None:
    """Read what a watcher says: input, or a size. None: it makes no sense."""
    kind, content = message[:1], message[1:]
    if kind == INPUT:
        return content
    if kind != RESIZE:
        return None
    try:
        return _size.decode(content)
    except msgspec.DecodeError:
        return None


class Scrollback:
    """The end of a terminal's output, by the positions of its bytes."""

    def __init__(self, bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._bytes_max = bytes_max
        self._kept = bytearray()
        self._begins = 0

    @property
    def ends(self) -> int:
        """Return the position behind the last byte."""
        return self._begins + len(self._kept)

    def add(self, data: bytes) -> None:
        self._kept += data
        # A quarter at once: to forget from the front copies what stays.
        if len(self._kept) > self._bytes_max + self._bytes_max // 4:
            over = len(self._kept) - self._bytes_max
            del self._kept[:over]
            self._begins += over

    def since(self, position: int, bytes_max: int = FRAME_BYTES_MAX) -> tuple[int, bytes]:
        """Return output behind a position, and where it begins: later than asked for where that is
        forgotten, at the beginning of a line if there is one near. A position that is not reached
        yet is one of another terminal: then all is sent."""
        if not self._begins <= position <= self.ends:
            position = self._first_line()
        at = position - self._begins
        return position, bytes(self._kept[at : at + bytes_max])

    def _first_line(self) -> int:
        """Return where to begin for a new watcher: not in the middle of a control sequence
        or a character, as far as that can be helped."""
        if not self._begins:
            return 0
        newline = self._kept.find(b"\n", 0, LINE_BYTES_MAX)
        return self._begins + newline + 1
