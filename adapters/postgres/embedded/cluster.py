"""The share of a process in the embedded server: joining starts it, leaving lets it stop."""

import fcntl
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

import trio
from psycopg.conninfo import make_conninfo

from adapters.postgres.embedded import keeper, locks, preparing, refusals
from adapters.postgres.embedded.locks import Patience, patient
from adapters.postgres.embedded.options import ClusterOptions
from adapters.settings.refusals import CannotStart
from runtime.log import emit
from runtime.threads import ThreadLimits, check_wanted, read, write

LOCK_SECONDS_MAX = 90.0  # longer than another process may take to start or stop the server
READY_SECONDS_MAX = 60.0  # a server that recovers from a crash reads its log first
SPAWN_SECONDS_MAX = 20.0  # for the keeper's first process, which only forks
LEAVE_SECONDS_MAX = 30.0  # the keeper's own limits end before
TEND_SECONDS = 1.0  # between two looks at the keeper's lock: two system calls
TEND_AGAIN_SECONDS = 15.0  # after a refusal; it is logged each time
STARTING = ThreadLimits("embedded_database", 2)  # threads in which it is started, tended and left
OTHERS_SEEN = 3  # in a row: between two looks the keeper may have let go of what it held


class Cluster:
    """The right to use the server, until `leave`; made by `join`."""

    def __init__(self, wanted: ClusterOptions, users: int) -> None:
        self.wanted = wanted
        self.conninfo = make_conninfo(
            host=str(wanted.socket_dir), port=5432, user=preparing.SUPERUSER, dbname="postgres"
        )
        self.left = False
        self._users = users

    def has_keeper(self) -> bool:
        """Return whether there is a keeper. Without one, nothing would start or stop the server."""
        return not locks.is_free(self.wanted.keeper)

    def restore_keeper(self, patience: Patience = patient) -> None:
        """Start a keeper if there is none, and wait until the server is ready."""
        with _alone(self.wanted, patience):
            if not self.left:
                _run(self.wanted, patience)

    def leave(self) -> None:
        """Give the right back. If we are the last user, return when the server has stopped."""
        self.left = True
        os.close(self._users)
        seen = 0
        for _ in locks.naps(LEAVE_SECONDS_MAX, patience=patient):
            if not self.has_keeper():
                if keeper.read_status(str(self.wanted.data)) is None:
                    return
                with _alone(self.wanted, patient):
                    _spawn(self.wanted)  # it takes over what a killed keeper left, and stops it
            seen = seen + 1 if self._others() else 0
            if seen == OTHERS_SEEN:
                return

    def _others(self) -> bool:
        """Return whether another process shares the server. The keeper decides when it is not
        shared."""
        users = self.wanted.users
        return locks.is_free(users, fcntl.LOCK_SH) and not locks.is_free(users, fcntl.LOCK_EX)


@asynccontextmanager
async def use(wanted: ClusterOptions) -> AsyncIterator[Cluster]:
    """Use the cluster for a block, from trio: blocking work runs in a thread and is bounded."""
    begin = partial(join, wanted, check_wanted)
    cluster = await write(STARTING, begin, grace_seconds=LOCK_SECONDS_MAX)
    try:
        yield cluster
    finally:
        with trio.move_on_after(LEAVE_SECONDS_MAX, shield=True):
            await write(STARTING, cluster.leave, grace_seconds=0)


@contextmanager
def using(wanted: ClusterOptions) -> Iterator[Cluster]:
    """Use the cluster for a block, from code that may block."""
    cluster = join(wanted)
    try:
        yield cluster
    finally:
        cluster.leave()


def join(wanted: ClusterOptions, patience: Patience = patient) -> Cluster:
    """Become a user of the server, which runs and is ready when this returns."""
    preparing.make_home(wanted.home)
    with _alone(wanted, patience), ExitStack() as on_failure:
        users = locks.take(wanted.users, fcntl.LOCK_SH, seconds=LOCK_SECONDS_MAX, patience=patience)
        on_failure.callback(os.close, users)
        _run(wanted, patience)
        on_failure.pop_all()
    return Cluster(wanted, users)


async def replace_keepers(cluster: Cluster) -> None:
    """Replace a killed keeper for as long as we use the server."""
    nap = TEND_SECONDS
    while not cluster.left:
        await trio.sleep(nap)
        nap = TEND_SECONDS
        try:
            if await read(STARTING, cluster.has_keeper):
                continue
            attend = partial(cluster.restore_keeper, check_wanted)
            await write(STARTING, attend, grace_seconds=LOCK_SECONDS_MAX)
            emit("database.attended", "warning", home=str(cluster.wanted.home))
        except (CannotStart, OSError) as refusal:
            emit("database.unattended", "error", why=str(refusal))
            nap = TEND_AGAIN_SECONDS


@contextmanager
def _alone(wanted: ClusterOptions, patience: Patience) -> Iterator[None]:
    try:
        with locks.exclusive(wanted.lock, LOCK_SECONDS_MAX, patience=patience):
            yield
    except TimeoutError as error:
        raise refusals.too_slow(
            "another process has been starting or stopping it",
            seconds=LOCK_SECONDS_MAX,
            log=wanted.log,
        ) from error
    except subprocess.TimeoutExpired as error:
        program = Path(error.cmd[0]).name
        raise refusals.too_slow(
            f"{program} has been running", seconds=error.timeout, log=wanted.log
        ) from error
    except OSError as error:
        raise preparing.refuse(error, wanted.home) from error


def _run(wanted: ClusterOptions, patience: Patience) -> None:
    """Make sure that there is a keeper and the server is ready."""
    began: int | None = None
    for _ in locks.naps(READY_SECONDS_MAX, patience=patience):
        if locks.is_free(wanted.keeper):
            if began is not None:  # our own keeper has given up
                raise refusals.from_output(
                    _tail(wanted.log, began), data=wanted.data, log=wanted.log
                )
            began = _spawn(wanted)
            continue
        status = keeper.read_status(str(wanted.data))
        if status is not None and status.ready:
            return
    raise refusals.too_slow(
        "the server has not become ready", seconds=READY_SECONDS_MAX, log=wanted.log
    )


def _spawn(wanted: ClusterOptions) -> int:
    """Start a keeper, and return where its words begin in the log."""
    prepared = preparing.prepare(wanted)
    account = prepared.account
    uid, gid = (account.uid, account.gid) if account.switched else (-1, -1)
    options = wanted.options(int(prepared.binaries.major))
    server = [prepared.binaries.postgres, "-D", str(wanted.data), *options]
    python = [sys.executable, "-I", "-S", "-W", "ignore", keeper.__file__]
    with preparing.open_log(wanted.log) as log:
        begin = log.tell()
        subprocess.run(
            [*python, str(wanted.home), str(uid), str(gid), *server],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            timeout=SPAWN_SECONDS_MAX,
            start_new_session=True,
            cwd="/",
            check=False,
        )
    return begin


def _tail(log: Path, begin: int) -> str:
    with log.open("rb") as file:
        file.seek(begin)
        return file.read().decode(errors="replace")
