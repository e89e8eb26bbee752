"""The output of a command as watchers are shown it while the command runs. Pure.

It is provisional, and apart from what the model gets: the result of the call takes its place. What
a command writes is gathered for a moment and shown in one piece. If it writes faster than that is
kept, its end is shown, behind a line that says how much was left out. A command that goes on and
on is shown by its last lines, seldom: so what watchers are sent does not grow with what it writes.
"""

from codecs import IncrementalDecoder, getincrementaldecoder
from dataclasses import dataclass

from actors.tools.output import CommandOutput

GATHER_SECONDS = 0.1  # from the first new byte until what is there is shown
WHOLE_BYTES_MAX = 512 * 1024  # of one call; what comes behind them is shown by its end, seldom
SELDOM_SECONDS = 5.0  # between two pieces of that
SELDOM_BYTES_MAX = 4_096  # of each of them


@dataclass(frozen=True, slots=True)
class LivePiece:
    """The next bit of a command's output. `resets`: it stands in the place of all bits before."""

    text: str
    resets: bool = False


class LiveOutput:
    """A reader of a command's output, who shows it to the watchers of one call."""

    def __init__(self) -> None:
        self._position = 0  # in the output: all before it was shown, or left out
        self._shown_bytes = 0
        self._decoder = _decoder()

    @property
    def pause_seconds(self) -> float:
        """Return how long new output is gathered before it is shown."""
        return GATHER_SECONDS if self._shown_bytes < WHOLE_BYTES_MAX else SELDOM_SECONDS

    def is_behind(self, output: CommandOutput) -> bool:
        """Return whether there is output that was not shown."""
        return self._position < output.total

    def next(self, output: CommandOutput) -> LivePiece | None:
        """Return the next bit; None if nothing of it makes a whole character yet."""
        seldom = self._shown_bytes >= WHOLE_BYTES_MAX
        wanted = output.total - SELDOM_BYTES_MAX if seldom else self._position
        begins, data = output.since(max(0, wanted))
        resets = seldom or begins > self._position
        self._position = output.total
        self._shown_bytes += len(data)
        if not resets:
            text = self._decoder.decode(data)
            return LivePiece(text) if text else None
        self._decoder = _decoder()
        if begins:
            data = _from_first_line(data)
        text = self._decoder.decode(data)
        left_out = output.total - len(data)
        if left_out:
            text = f"[… {left_out} bytes of the output are left out here …]\n{text}"
        return LivePiece(text, resets=True)


def _decoder() -> IncrementalDecoder:
    return getincrementaldecoder("utf-8")("replace")


def _from_first_line(data: bytes) -> bytes:
    """Return the data from the first line that is whole, if there is one."""
    _, newline, rest = data.partition(b"\n")
    return rest if newline and rest else data
