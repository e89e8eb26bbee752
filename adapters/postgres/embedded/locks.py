"""Locks between processes: flocks, so that a killed holder holds nothing.

Everything here blocks: code that must not wait for them calls from a thread. `Patience` is how such
code waits: in short naps, each of which may end it.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from adapters.postgres.embedded.keeper import open_lock, try_lock

NAP_SECONDS = 0.005

Patience = Callable[[], None]
"""Called before each nap; raises when the waiting task has been cancelled."""


def patient() -> None:
    """Wait as long as the bounds allow: the patience of code that cannot be cancelled."""


def naps(seconds: float, *, patience: Patience) -> Iterator[None]:
    """Yield again and again, with a short wait between, until the seconds are over."""
    never = threading.Event()
    for _ in range(int(seconds / NAP_SECONDS)):
        yield
        patience()
        never.wait(NAP_SECONDS)


@contextmanager
def exclusive(path: Path, seconds: float, *, patience: Patience) -> Iterator[None]:
    """Hold the lock for a block. TimeoutError: others held it all the time."""
    descriptor = take(path, fcntl.LOCK_EX, seconds=seconds, patience=patience)
    try:
        yield
    finally:
        os.close(descriptor)


def take(path: Path, kind: int, *, seconds: float, patience: Patience) -> int:
    """Return the descriptor that holds the lock until closed. TimeoutError: others hold it."""
    with ExitStack() as on_failure:
        descriptor = open_lock(str(path))
        on_failure.callback(os.close, descriptor)
        for _ in naps(seconds, patience=patience):
            if try_lock(descriptor, kind):
                on_failure.pop_all()
                return descriptor
    raise TimeoutError


def is_free(path: Path, kind: int = fcntl.LOCK_EX) -> bool:
    """Return whether the lock could be taken at this moment."""
    descriptor = open_lock(str(path))
    try:
        return try_lock(descriptor, kind)
    finally:
        os.close(descriptor)
