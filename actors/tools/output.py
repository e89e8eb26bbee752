"""Output within its bounds: results of tools, what commands write, lines of files. Pure.

A result fits its share of the model's window. A command's output keeps its beginning and its end,
however much it writes. Of a cut result two thirds are the beginning and a third is the end: a log
ends with what went wrong. A text exactly at its budget is left alone.
"""

from codecs import getincrementaldecoder
from dataclasses import dataclass

HEAD_BYTES_MAX = 16 * 1024  # of the beginning
TAIL_BYTES_MAX = 16 * 1024  # of the end; what is between is dropped
LINE_BYTES_MAX = 2_048  # a longer line is cut where it is shown
CUT = "… [the line goes on]"


@dataclass(frozen=True, slots=True)
class OutputExcerpt:
    """The two ends of what a command has written, and how much is left out."""

    text: str
    original_bytes: int
    retained_bytes: int

    @property
    def omitted_bytes(self) -> int:
        return self.original_bytes - self.retained_bytes


class CommandOutput:
    """The output of a command, of which both ends are kept."""

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
    def total(self) -> int:
        """Return how many bytes were written."""
        return self._total

    def since(self, position: int) -> tuple[int, bytes]:
        """Return what was written behind a position, as far as it is kept: where that begins, and
        its bytes. It begins later if something between was dropped."""
        tail_at = self._total - len(self._tail)
        if position >= tail_at or tail_at > len(self._head):
            begins = max(position, tail_at)
            return begins, bytes(self._tail[begins - tail_at :])
        return position, bytes(self._head[position:] + self._tail)

    @property
    def shown(self) -> OutputExcerpt:
        retained = len(self._head) + len(self._tail)
        omitted = self._total - retained
        if not omitted:
            text = _lines(bytes(self._head + self._tail))
        else:
            marker = f"\n\n[… {omitted} bytes of the output are left out here …]\n\n"
            text = _lines(bytes(self._head)) + marker + _lines(bytes(self._tail))
        return OutputExcerpt(text, self._total, retained)


def _lines(data: bytes) -> str:
    return "\n".join(map(_line, data.split(b"\n")))


def _line(line: bytes) -> str:
    if len(line) <= LINE_BYTES_MAX:
        return line.decode(errors="replace")
    return decoded_start(line[:LINE_BYTES_MAX]) + CUT


def decoded_start(data: bytes) -> str:
    """Decode the start of a longer text, without the character that is cut at its end."""
    return getincrementaldecoder("utf-8")("replace").decode(data)


LINES_MAX = 2_000  # of one reading; more are refused: the model is to say which it wants
READ_LINE_BYTES_MAX = 1_024  # a longer line is cut, and says so
SHOWN_BYTES_MAX = 32_768  # of one reading; more are refused


@dataclass(frozen=True, slots=True)
class NumberedLines:
    """Lines of a file as a model reads them, with their numbers."""

    content: str
    total: int
    read: int


def number_lines(content: bytes, *, offset: int, limit: int) -> NumberedLines | str:
    """Number the lines from `offset`, counted from 1, or return why there is nothing to show."""
    if not content:
        return NumberedLines("", 0, 0)
    lines = content.split(b"\n")
    first = max(offset, 1)
    if first > len(lines):
        return f"offset {first} is beyond the last line ({len(lines)})"
    wanted = lines[first - 1 : first - 1 + limit]
    if len(wanted) > LINES_MAX:
        return f"{len(wanted)} lines are too many (at most {LINES_MAX}); read them in pieces"
    shown = "\n".join(f"{number}\t{_cut_line(line)}" for number, line in enumerate(wanted, first))
    size = len(shown.encode())
    if size > SHOWN_BYTES_MAX:
        return (
            f"{len(wanted)} lines from line {first} are {size} bytes, too many for one reading"
            f" (at most {SHOWN_BYTES_MAX}); set a smaller limit"
        )
    return NumberedLines(shown, len(lines), len(wanted))


def _cut_line(line: bytes) -> str:
    if len(line) <= READ_LINE_BYTES_MAX:
        return line.decode(errors="replace")
    return decoded_start(line[:READ_LINE_BYTES_MAX]) + CUT


BYTES_PER_TOKEN = 3
SHARE = 3  # a result may take a third of the window
BUDGET_MIN = 16 * 1024
BUDGET_UNKNOWN = 64 * 1024  # of a model whose window nobody knows
MARKER_ROOM = 256  # bytes that are kept free for the words about what is missing
TINY = 512  # a budget that has no room for both ends and words between them


def result_bytes_max(context_limit: int | None) -> int:
    """Return how many bytes one result may have."""
    if not context_limit or context_limit < 0:
        return BUDGET_UNKNOWN
    return max(BUDGET_MIN, context_limit // SHARE * BYTES_PER_TOKEN)


def truncate(text: str, bytes_max: int) -> str:
    """Return `text` in at most `bytes_max` bytes of UTF-8, with no character cut in two."""
    data = text.encode("utf-8", "replace")
    if len(data) <= bytes_max:
        return text
    if bytes_max <= TINY:
        return _whole(data[:bytes_max])
    room = bytes_max - MARKER_ROOM
    tail_bytes = room // 3
    head = _whole(data[: room - tail_bytes])
    tail = _whole(data[len(data) - tail_bytes :])
    left = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n\n[… {left} bytes of the output are left out here …]\n\n{tail}"


def _whole(data: bytes) -> str:
    """Decode text without the halves of characters at its ends."""
    return data.decode("utf-8", "ignore")
