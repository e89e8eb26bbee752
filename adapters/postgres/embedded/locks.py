"""Locks between processes: flocks, so that a killed holder holds nothing.

Everything blocks; whoever must not wait for them calls from a thread. `Patience` is how such
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
"""Called before each nap; raises when whoever waits has been cancelled."""


def patient() -> None:
    """The patience of whoever cannot be cancelled: waits as long as the bounds allow."""


def naps(seconds: float, *, patience: Patience) -> Iterator[None]:
    """Turn after turn, a nap apart, until the seconds are over."""
    nobody = threading.Event()
    for _ in range(int(seconds / NAP_SECONDS)):
        yield
        patience()
        nobody.wait(NAP_SECONDS)


@contextmanager
def exclusive(path: Path, seconds: float, *, patience: Patience) -> Iterator[None]:
    """Hold the lock for a block; TimeoutError when others hold it all the time."""
    descriptor = take(path, fcntl.LOCK_EX, seconds=seconds, patience=patience)
    try:
        yield
    finally:
        os.close(descriptor)


def take(path: Path, kind: int, *, seconds: float, patience: Patience) -> int:
    """The descriptor that holds the lock until it is closed; TimeoutError when others hold it."""
    with ExitStack() as on_failure:
        descriptor = open_lock(str(path))
        on_failure.callback(os.close, descriptor)
        for _ in naps(seconds, patience=patience):
            if try_lock(descriptor, kind):
                on_failure.pop_all()
                return descriptor
    raise TimeoutError


def is_free(path: Path, kind: int = fcntl.LOCK_EX) -> bool:
    """Whether the lock could be had at this moment."""
    descriptor = open_lock(str(path))
    try:
        return try_lock(descriptor, kind)
    finally:
        os.close(descriptor)
