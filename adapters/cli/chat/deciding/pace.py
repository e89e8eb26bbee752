"""The pace at which the window is drawn, and the moment a question takes keys from. Pure."""

from collections import deque

from adapters.cli.chat.approvals import key_of
from adapters.cli.chat.deciding.asking import Ask, ConsentAsk, QuestionsAsk, is_armed

REDRAWS_MAX = 30  # a second
FREE_REDRAWS = 20  # of these at once; the others come at even distances
PACE_SECONDS = 0.1
TICK_SECONDS = 0.125  # between looks at what has happened
SLEEP_SECONDS = 4.0  # between two looks that should be a tick apart
GROWTH_SECONDS = 0.16  # at least between redraws that only show an answer grow


class RedrawPace:
    """Keeps redraws under their bound, and lets those that answer a key through at once.

    A redraw that is late is not lost: it shows all that has happened until then.
    """

    def __init__(self) -> None:
        self._drawn: deque[float] = deque(maxlen=REDRAWS_MAX)

    def drawn(self, now: float) -> float:
        """Note a redraw, and return for how long the next one has to wait."""
        self._drawn.append(now)
        while self._drawn[0] < now - 1.0:
            self._drawn.popleft()
        return PACE_SECONDS if len(self._drawn) >= FREE_REDRAWS else 0.0

    def is_due(self, now: float) -> bool:
        """Tell whether news may be drawn: the last redraw is long enough ago."""
        return not self._drawn or now - self._drawn[-1] >= GROWTH_SECONDS


class SleepWatch:
    """Notices that the machine or this program has slept, by the clock on the wall.

    A connection may be dead afterwards, and the other side cannot say so. The clock that redraws go
    by stands still while a machine sleeps. A clock that was set by hand
    costs a connection and nothing else.
    """

    def __init__(self) -> None:
        self._seen: float | None = None

    def look(self, wall_seconds: float) -> bool:
        """Take a look, as at every tick; return True if the last one was too long ago."""
        last, self._seen = self._seen, wall_seconds
        return last is not None and abs(wall_seconds - last) >= SLEEP_SECONDS


class AskGate:
    """Opens a question to keys once the user has seen it and has paused."""

    def __init__(self) -> None:
        self._key: object = None
        self._asked: Ask | None = None
        self._shown_at = 0.0
        self._typed_at = 0.0
        self.is_open = False

    def typed(self, now: float) -> None:
        """Note that the user has typed something."""
        self._typed_at = now

    def answered(self, now: float) -> None:
        """Note an answer: further keys are none, unless the question stays, and after a pause."""
        self.is_open, self._typed_at = False, now

    def opens(self, asked: Ask | None) -> bool:
        """Tell whether it is open to this question, and not to one that was asked before."""
        return self.is_open and key_of_ask(asked) == self._key

    def look(self, asked: Ask | None, now: float) -> bool:
        """Note what is asked now; return True at the moment at which the question opens.

        The next question of a form is open at once; the next call that needs consent is not.
        """
        key = key_of_ask(asked)
        if key != self._key:
            is_next = isinstance(asked, QuestionsAsk) and isinstance(self._asked, QuestionsAsk)
            self.is_open = is_next
            self._key, self._asked, self._shown_at = key, asked, now
        if asked is None or self.is_open:
            return False
        self.is_open = is_armed(now=now, shown_at=self._shown_at, typed_at=self._typed_at)
        return self.is_open


def key_of_ask(asked: Ask | None) -> object:
    """Return what tells one question from the next."""
    match asked:
        case None:
            return None
        case ConsentAsk():
            return ("consent", key_of(asked.approval))
        case QuestionsAsk():
            return ("form", asked.questions, len(asked.answers))
    return (type(asked).__name__, asked)
