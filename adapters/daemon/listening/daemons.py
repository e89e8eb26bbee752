"""The place where a daemon listens, as its data directory tells it to commands on this machine.

Each daemon keeps a file in `listening/` of its data directory, and a lock on it for as long as it
lives. The system lets go of the lock however the daemon ends, so a file that is not locked is one
of a daemon that was killed: no process id has to be compared, which another process may have by
now. Several daemons with one data directory have a file each.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

import msgspec

from adapters.daemon.listening.certificates import certificate_of
from adapters.daemon.listening.trusted_files import why_not_trusted, why_stranger
from adapters.settings.directories import make_directory
from adapters.settings.kinds import HostAddress
from adapters.settings.refusals import CannotStart
from adapters.settings.table import Config

FOLDER = "listening"
FILE_BYTES_MAX = 32 * 1024  # of a file that is read; a longer one is none of ours
FILES_MAX = 100  # that are looked at; daemons that are killed leave theirs to the next one's start


class ListeningDaemon(msgspec.Struct, frozen=True):
    """A daemon that runs: its address for programs on this machine, its process for people, and
    the certificate that it shows, if it speaks TLS."""

    url: str
    pid: int = 0  # unknown of one that is not there yet
    certificate: str = ""  # in PEM


@contextmanager
def announced(config: Config, address: str) -> Iterator[None]:
    """Tell commands on this machine that this process listens at HOST:PORT, while the block runs.

    A directory that cannot be written to is no fault here: commands are then told by --url, and an
    embedded database says itself what is wrong with it.
    """
    port = int(address.rpartition(":")[2])  # which the system may have chosen
    url = replace(config, listen=HostAddress(config.host, port)).local_url
    said = ListeningDaemon(url, os.getpid(), certificate_of(config.tls_cert))
    try:
        path, lock = _write(config.data_dir / FOLDER, said)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        with suppress(OSError):  # it is not locked any more, and so no longer believed
            path.unlink(missing_ok=True)
        os.close(lock)


def listening_daemons(data_dir: Path) -> list[ListeningDaemon]:
    """Return the daemons of a data directory that run and may be believed, the latest first."""
    return [daemon for daemon, doubt in _announcements(data_dir) if not doubt]


def _announcements(data_dir: Path) -> list[tuple[ListeningDaemon, str]]:
    """Return what is said of daemons, the latest first, each with why it is not believed, or ""."""
    found = []
    for path in _files(data_dir / FOLDER):
        with suppress(OSError, ValueError), _opened(path) as file:
            if not _is_locked(file.fileno()):
                continue
            daemon = msgspec.json.decode(file.read(FILE_BYTES_MAX), type=ListeningDaemon)
            doubt = why_not_trusted(file.fileno(), path) or why_stranger(daemon.url, data_dir)
            found.append((os.fstat(file.fileno()).st_mtime_ns, daemon, doubt))
    latest = sorted(found, key=lambda each: each[0], reverse=True)
    return [(daemon, doubt) for _, daemon, doubt in latest]


def _opened(path: Path) -> BinaryIO:
    """Open a file without waiting for a writer, should a pipe stand there in its place."""
    return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")


def daemon_here(config: Config) -> ListeningDaemon:
    """Return the daemon of a data directory, or what one with these settings would say of itself.
    Raise CannotStart if all that is said of daemons may come from another user."""
    said = _announcements(config.data_dir)
    if trusted := [daemon for daemon, doubt in said if not doubt]:
        return trusted[0]
    if said:
        fact = f"what {config.data_dir / FOLDER} says of a daemon is not believed: {said[0][1]}"
        raise CannotStart("daemon", fact, "remove that, or name the daemon with PROMPTCORNER_URL")
    return ListeningDaemon(config.local_url, certificate=certificate_of(config.tls_cert))


def _write(folder: Path, daemon: ListeningDaemon) -> tuple[Path, int]:
    """Write the file, locked before it has its name; return its path and descriptor."""
    make_directory(folder.parent)
    folder.mkdir(mode=0o755, exist_ok=True)
    _remove_old(folder)
    name = token_hex(8)
    made, path = folder / f".{name}", folder / f"{name}.json"
    lock = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(lock, msgspec.json.encode(daemon))
        made.rename(path)
    except OSError:
        os.close(lock)
        made.unlink(missing_ok=True)
        raise
    return path, lock


def _remove_old(folder: Path) -> None:
    """Remove the files of daemons that were killed."""
    for path in _files(folder):
        with suppress(OSError), _opened(path) as file:
            if not _is_locked(file.fileno()):
                path.unlink(missing_ok=True)


def _files(folder: Path) -> list[Path]:
    try:
        return sorted(folder.glob("[!.]*.json"))[:FILES_MAX]
    except OSError:
        return []


def _is_locked(descriptor: int) -> bool:
    """Tell whether a daemon holds the lock of a file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False
