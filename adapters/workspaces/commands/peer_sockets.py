"""Sockets in a directory by which the processes of the daemon on this machine find each other.

Only the daemon's user may enter the directory: who gets in there could do what the daemon does. A
process that is gone leaves its socket behind; the next one that finds it takes it away.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import NoReturn
from uuid import uuid4

import trio

from adapters.workspaces.disk import Disk, DiskSilent
from runtime.log import emit
from runtime.threads import Unwanted, check_wanted

ACCEPT_AGAIN_SECONDS = 0.1  # after a connection that could not be taken
LEAVE_SECONDS = 2.0  # for our socket to be taken away; then another process does it
FOUND_AGAIN_SECONDS = 60.0  # after a disk that did not let us be found
PATH_BYTES_MAX = 107  # of a socket's path; with a longer one no process finds us

_PROCESS_GONE = (ConnectionRefusedError, FileNotFoundError)


class PeerSockets:
    """The sockets of one directory, and our own among them."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._disk = Disk(str(directory), "the workspaces")
        self._own = uuid4().hex[:12]

    @property
    def path(self) -> Path:
        """Return where our own socket is, while it is served."""
        return self._directory / self._own

    async def others(self) -> Sequence[str]:
        """Return the sockets of other processes; none if the disk does not answer."""
        with suppress(DiskSilent, OSError):
            names = await self._disk.read(partial(_names, self._directory))
            return [name for name in names if name != self._own]
        return ()

    async def connect(self, name: str) -> trio.SocketStream | None:
        """Connect to a process. None: it is gone, or has no time for us."""
        with suppress(DiskSilent, OSError):
            made = await self._disk.write(partial(_connected, str(self._directory / name)))
            if made is not None:
                return trio.SocketStream(trio.socket.from_stdlib_socket(made))
        return None

    async def serve(
        self,
        attend: Callable[[trio.SocketStream], Awaitable[None]],
        *,
        event: str,
        says: str,
    ) -> NoReturn:
        """Attend to processes that connect to our own socket. While the disk does not allow that,
        no process finds us; the log is told so by the `event`."""
        while True:
            try:
                await self._be_found(attend, event=event, says=says)
            except (OSError, DiskSilent) as error:
                fact = str(error)
                if isinstance(error, OSError):
                    fact = os.strerror(error.errno or 0).lower()
                emit(event, "warning", why=f"{self._directory}: {fact}", says=says)
            await trio.sleep(FOUND_AGAIN_SECONDS)

    async def _be_found(
        self,
        attend: Callable[[trio.SocketStream], Awaitable[None]],
        *,
        event: str,
        says: str,
    ) -> NoReturn:
        """Listen at our own socket. OSError, DiskSilent: the disk does not allow that."""
        path = self.path
        beside = path.with_name(f".{self._own}.new")
        await self._disk.write(partial(_made, self._directory))
        if len(os.fsencode(beside)) > PATH_BYTES_MAX:
            why = f"{beside}: a socket's path can have {PATH_BYTES_MAX} bytes"
            emit(event, "warning", why=why, says=says)
            await trio.sleep_forever()
        try:
            made = await self._disk.write(partial(_listening, beside, path))
            with trio.socket.from_stdlib_socket(made) as listener:
                await _accept(listener, attend)
        finally:
            with trio.move_on_after(LEAVE_SECONDS, shield=True), suppress(DiskSilent, OSError):
                await self._disk.write(partial(_remove, beside, path))


async def _accept(
    listener: trio.socket.SocketType, attend: Callable[[trio.SocketStream], Awaitable[None]]
) -> NoReturn:
    async with trio.open_nursery() as nursery:
        while True:
            try:
                accepted, _ = await listener.accept()
            except OSError:  # there are too many files; they ask again
                await trio.sleep(ACCEPT_AGAIN_SECONDS)
                continue
            nursery.start_soon(attend, trio.SocketStream(accepted))


# What touches the disk, in threads.


def _connected(path: str) -> socket | None:
    """Connect to a process. None: it is gone, and its socket is taken away."""
    made = socket(AF_UNIX, SOCK_STREAM)
    try:
        made.setblocking(False)  # one that has no time for us is left out
        made.connect(path)
        check_wanted()
    except _PROCESS_GONE:
        made.close()
        with suppress(OSError):
            os.unlink(path)
        return None
    except (OSError, Unwanted):
        made.close()
        raise
    return made


def _listening(beside: Path, path: Path) -> socket:
    """Listen at a path. `beside` is another one in the same directory, which is used first."""
    made = socket(AF_UNIX, SOCK_STREAM)
    try:
        made.bind(str(beside))
        made.listen()
        # Found before it listens it would be taken for one that is gone.
        beside.rename(path)
        check_wanted()
    except (OSError, Unwanted):
        made.close()
        raise
    return made


def _remove(*paths: Path) -> None:
    """Take sockets away."""
    for path in paths:
        path.unlink(missing_ok=True)


def _names(directory: Path) -> list[str]:
    """Return the names of the sockets in a directory."""
    try:
        return [name for name in os.listdir(directory) if not name.startswith(".")]
    except FileNotFoundError:
        return []


def _made(directory: Path) -> None:
    """Make a directory that only the daemon's user may enter."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory.chmod(0o700)
