"""One file descriptor that is kept for the moment when there is no other."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType

NONE = -1


class Spare:
    """Held while its block is; `lent` for a moment, so that something else can be opened."""

    def __init__(self) -> None:
        self._descriptor = NONE

    def __enter__(self) -> "Spare":
        self._take()
        return self

    def __exit__(
        self,
        etype: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._give()

    @contextmanager
    def lent(self) -> Iterator[None]:
        self._give()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        if self._descriptor != NONE:
            return  # it was lent to two listeners at once, and the other one has given it back
        with suppress(OSError):  # there is no other one; the next time it is lent we try again
            self._descriptor = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)

    def _give(self) -> None:
        if self._descriptor != NONE:
            os.close(self._descriptor)
        self._descriptor = NONE
