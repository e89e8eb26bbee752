"""What a command has written: its beginning, its end, and how much is left out. Pure.

However much a command says, no more is kept than both ends.
"""

from codecs import getincrementaldecoder
from dataclasses import dataclass

HEAD_BYTES_MAX = 16 * 1024  # of the beginning
TAIL_BYTES_MAX = 16 * 1024  # of the end; what is between is dropped
LINE_BYTES_MAX = 2_048  # a longer line is cut where it is shown
CUT = "… [the line goes on]"


@dataclass(frozen=True, slots=True)
class Shown:
    text: str
    original_bytes: int
    retained_bytes: int

    @property
    def omitted_bytes(self) -> int:
        return self.original_bytes - self.retained_bytes


class Output:
    def __init__(self) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, data: bytes) -> None:
        self._total += len(data)
        room = HEAD_BYTES_MAX - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        del self._tail[:-TAIL_BYTES_MAX]

    @property
    def shown(self) -> Shown:
        retained = len(self._head) + len(self._tail)
        omitted = self._total - retained
        if not omitted:
            text = _lines(bytes(self._head + self._tail))
        else:
            marker = f"\n\n[… {omitted} bytes of the output are left out here …]\n\n"
            text = _lines(bytes(self._head)) + marker + _lines(bytes(self._tail))
        return Shown(text, self._total, retained)


def _lines(data: bytes) -> str:
    return "\n".join(map(_line, data.split(b"\n")))


def _line(line: bytes) -> str:
    if len(line) <= LINE_BYTES_MAX:
        return line.decode(errors="replace")
    return decoded_start(line[:LINE_BYTES_MAX]) + CUT


def decoded_start(data: bytes) -> str:
    """Of a longer text: a character that goes on behind it is left out."""
    return getincrementaldecoder("utf-8")("replace").decode(data)
