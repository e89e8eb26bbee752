"""A conversation as its stream tells it: which turn goes on, and when it had what. Pure.

The rules are those of the reference's load generator: a status that is told again means nothing,
and `waiting` ends a turn only after some output, for it is also the status before the turn. A turn
that is interrupted may end before it has said anything.

Our fake provider writes into each delta when it was sent, and into the first one when it was asked:
microseconds on the machine's clock, of which the last nine digits are told.
"""

from dataclasses import dataclass, field
from typing import Literal

import msgspec

DIGITS = 9
ROUND = 10**DIGITS
MARK, END = "@", ";"  # `@ASKED;` before the first delta's own `SENT;`

Ended = Literal["waiting", "error"]


class _Part(msgspec.Struct):
    text: str = ""


class _MessagePart(msgspec.Struct):
    part: _Part


class _Message(msgspec.Struct):
    role: str = ""


class _Status(msgspec.Struct):
    status: str = ""


class _Error(msgspec.Struct):
    message: str = ""


class StreamedEvent(msgspec.Struct):
    """An event of a chat's stream, as far as a load needs it."""

    type: str
    message_part: _MessagePart | None = None
    message: _Message | None = None
    status: _Status | None = None
    error: _Error | None = None


events_of = msgspec.json.Decoder(list[StreamedEvent]).decode


@dataclass(slots=True)
class Turn:
    """A turn: when it was asked for, and what came of it."""

    began: float = 0.0  # on the machine's clock, as all moments
    asked: float | None = None  # when the provider had the request
    running: float | None = None
    output: float | None = None
    delays: list[float] = field(default_factory=list)  # of deltas, from provider to watcher
    deltas: int = 0
    is_interrupted: bool = False
    ended: Ended | None = None
    ended_at: float = 0.0


@dataclass(slots=True)
class WatchedTalk:
    """One chat, as its watcher sees it."""

    turn: Turn = field(default_factory=Turn)
    completed: int = 0
    retries: int = 0
    error: str = ""  # the words of the last error
    _last: str = ""

    def begin(self, moment: float) -> Turn:
        """Begin a turn that was asked for at this moment."""
        self.turn, self._last = Turn(moment), ""
        return self.turn

    def hear(self, payload: bytes, moment: float) -> bool:
        """Take a message of the stream; return whether the turn is over now."""
        is_over = False
        for event in events_of(payload):
            if event.message_part is not None:
                self.hear_text(event.message_part.part.text, moment)
            elif event.status is not None and event.type == "status":
                is_over |= self._hear_status(event.status.status, moment)
            elif event.type == "message" and event.message and event.message.role == "assistant":
                self._note_output(moment)
            elif event.type == "retry":
                self.retries += 1
            elif event.error is not None:
                self.error = event.error.message
        return is_over

    def _note_output(self, moment: float) -> None:
        if self.turn.output is None:
            self.turn.output = moment

    def hear_text(self, text: str, moment: float) -> None:
        """Take the text of a delta, with the moments that our provider writes into it."""
        turn = self.turn
        if turn.output is None:
            turn.output = moment
        if text[:1] == MARK:
            asked, _, text = text[1:].partition(END)
            turn.asked = _moment(asked, moment)
        turn.deltas += max(1, text.count(END))  # a daemon may gather several in one part
        sent, end, _ = text.partition(END)
        if end and (at := _moment(sent, moment)) is not None:
            turn.delays.append(moment - at)

    def _hear_status(self, status: str, moment: float) -> bool:
        if status == self._last:
            return False
        turn = self.turn
        is_silent = status == "waiting" and turn.output is None
        if is_silent and turn.running is not None and not turn.is_interrupted:
            return False
        if is_silent and turn.running is None and self.completed:
            return False
        self._last = status
        if status == "running" and turn.running is None:
            turn.running = moment
        if status in ("waiting", "error") and turn.ended is None:
            turn.ended = "waiting" if status == "waiting" else "error"
            turn.ended_at = moment
            self.completed += status == "waiting"
            return True
        return False


def stamp(moment: float) -> str:
    """Return a moment as the text of a delta has it."""
    return f"{int(moment * 1e6) % ROUND:0{DIGITS}d}{END}"


def _moment(digits: str, near: float) -> float | None:
    """Return the moment that a stamp means, which is within minutes of another; None: no stamp."""
    if len(digits) != DIGITS or not digits.isdecimal():
        return None
    behind: int = (int(near * 1e6) - int(digits)) % ROUND
    if behind > ROUND // 2:
        behind -= ROUND
    return near - behind / 1_000_000
