"""A file as a model reads it: some of its lines, with their numbers. Pure."""

from dataclasses import dataclass

from actors.tools.workspace.output import decoded_start

LINES_MAX = 2_000  # of one reading; more are refused: the model is to say which it wants
LINE_BYTES_MAX = 1_024  # a longer line is cut, and says so
SHOWN_BYTES_MAX = 32_768  # of one reading; more are refused
CUT = "… [the line goes on]"


@dataclass(frozen=True, slots=True)
class Lines:
    content: str
    total: int
    read: int


def numbered(content: bytes, *, offset: int, limit: int) -> Lines | str:
    """`offset` counts from 1. A text: why there is nothing to show."""
    if not content:
        return Lines("", 0, 0)
    lines = content.split(b"\n")
    first = max(offset, 1)
    if first > len(lines):
        return f"offset {first} is beyond the last line ({len(lines)})"
    wanted = lines[first - 1 : first - 1 + limit]
    if len(wanted) > LINES_MAX:
        return f"{len(wanted)} lines are too many (at most {LINES_MAX}); read them in pieces"
    shown = "\n".join(f"{number}\t{_cut(line)}" for number, line in enumerate(wanted, first))
    size = len(shown.encode())
    if size > SHOWN_BYTES_MAX:
        return (
            f"{len(wanted)} lines from line {first} are {size} bytes, too many for one reading"
            f" (at most {SHOWN_BYTES_MAX}); set a smaller limit"
        )
    return Lines(shown, len(lines), len(wanted))


def _cut(line: bytes) -> str:
    if len(line) <= LINE_BYTES_MAX:
        return line.decode(errors="replace")
    return decoded_start(line[:LINE_BYTES_MAX]) + CUT
