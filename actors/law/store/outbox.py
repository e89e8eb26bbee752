"""Hints wait here until their transaction has committed. Commit, then tell.

What a transaction that did not commit would have told is never told. A hint that cannot be told
does not hold up the others; the commit stands all the same, so the failures are an answer.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto

from actors.law.store.hints import Hint
from runtime.errors import Misuse


@dataclass(frozen=True, slots=True)
class Untold:
    """The commit stands, but nobody could be told of it: the slow polls will find it."""

    hint: Hint
    error: Exception


Tell = Callable[[Hint], None]


class _Stage(Enum):
    OPEN = auto()
    FLUSHED = auto()
    DISCARDED = auto()


class Outbox:
    """Of one transaction."""

    def __init__(self) -> None:
        self._hints: list[Hint] = []
        self._stage = _Stage.OPEN

    def put(self, hints: Iterable[Hint]) -> None:
        """Keep `hints` until the commit. After `discard` they are dropped without a word."""
        if self._stage is _Stage.FLUSHED:
            raise Misuse("outbox: put after the commit was told, put it before")
        if self._stage is _Stage.OPEN:
            self._hints.extend(hints)

    def discard(self) -> None:
        """The transaction did not commit."""
        self._hints.clear()
        self._stage = _Stage.DISCARDED

    def flush(self, tell: Tell) -> tuple[Untold, ...]:
        """The transaction has committed: tell everything, in order, and say what failed."""
        assert self._stage is _Stage.OPEN, "an outbox is flushed once"
        self._stage = _Stage.FLUSHED
        untold = []
        for hint in self._hints:
            try:
                tell(hint)
            except Exception as error:  # noqa: BLE001  # whatever it was: the commit stands
                untold.append(Untold(hint, error))
        return tuple(untold)
