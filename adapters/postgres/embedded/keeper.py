"""The parent of the embedded server: starts it, starts it again, stops it with its last user.

Run as a script with nothing but the standard library, so that it stays small:
`python -I -S keeper.py HOME UID GID COMMAND...` (`-1 -1`: do not change the user).

Three locks stand in HOME. They are flocks: the kernel drops them with their holder, SIGKILL
included, so no file has to be cleaned up and no pid has to be believed.

- `postgres.keeper`, exclusive: the right to be the server's parent. One keeper has it for life.
- `postgres.users`, shared: each process that uses the server has it for as long.
- `postgres.lock`, exclusive: arriving and stopping are decided under it, one at a time.

A process arrives under `postgres.lock`; the keeper decides to stop under the same lock, and only
if it then gets `postgres.users` for itself. So either the new one is seen and the server stays,
or the server is stopped first and the new one starts another.
"""

from __future__ import annotations

import _thread
import fcntl
import os
import select
import signal
import sys

RESTARTS_MAX = 5  # in a row; then the keeper leaves, and the users' own check tries later
BACKOFF_SECONDS = (0.0, 0.1, 0.5, 2.0, 5.0)  # before restart 1, 2, …
SETTLED_SECONDS = 30.0  # undisturbed for so long: earlier restarts are forgotten
POLL_SECONDS = 0.01  # while the server starts or stops
KEEPER_TRIES_MAX = 20  # to take the lock of the keeper, while others only look at it
WATCH_SECONDS = 0.25  # where the kernel cannot tell us that a process ended
STOPPING = ((signal.SIGINT, 20.0), (signal.SIGQUIT, 5.0), (signal.SIGKILL, 5.0))  # fast, immediate
SWEEP_SECONDS = 5.0  # for the orphans of a killed server to die
SOCKETS = "unix_socket_directories="
LOG_BYTES_MAX = 4 << 20  # at the bound the log begins anew
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # it leaves with the last user, not before


class PostmasterStatus:
    """The status of a server, as it says in its postmaster.pid."""

    __slots__ = ("pid", "ready", "socket_dir")  # a dataclass would double the keeper's memory

    def __init__(self, lines: list[str]) -> None:
        self.pid = int(lines[0])
        self.socket_dir = lines[4]
        self.ready = lines[7] == "ready"


def read_status(data: str) -> PostmasterStatus | None:
    """Return the status of the server that runs on `data`, or None when there is none."""
    try:
        with open(os.path.join(data, "postmaster.pid")) as file:
            status = PostmasterStatus([line.strip() for line in file] + [""] * 8)
    except (OSError, ValueError):
        return None
    return status if is_server(status.pid, data) else None


def is_server(pid: int, data: str) -> bool:
    """Return whether `pid` is a PostgreSQL process on `data`, not one that got its number."""
    if not os.path.isdir("/proc/self"):
        return exists(pid)
    try:
        program = os.path.basename(os.readlink(f"/proc/{pid}/exe"))
        return program.startswith("postgres") and os.readlink(f"/proc/{pid}/cwd") == data
    except OSError:
        return False


def try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def nap() -> None:
    select.select([], [], [], POLL_SECONDS)


class Postmaster:
    """The postmaster on one directory: our child, or the orphan of a keeper that was killed."""

    def __init__(self, home: str, *, uid: int, gid: int, command: list[str]) -> None:
        self.data = os.path.join(home, "postgres")
        self.log = os.path.join(home, "postgres.log")
        self.pid = 0
        self.refused = False  # it ended by itself, and not well
        self._uid, self._gid, self._command = uid, gid, command
        self._socket_dir = next(w for w in command if w.startswith(SOCKETS)).removeprefix(SOCKETS)
        self._ours = False
        self._end: int | None = None  # becomes readable when the process ends

    def start(self) -> None:
        orphan = read_status(self.data)
        self._ours = orphan is None
        if orphan is None:
            self._sweep()
            self.pid = self._spawn()
        else:
            self.pid = orphan.pid
        self._end = open_end(self.pid)
        say(f"server {self.pid} {'started' if self._ours else 'taken over'}")

    def gone(self) -> bool:
        if self._ours:
            ended, status = os.waitpid(self.pid, os.WNOHANG)
            self.refused = os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0
        else:
            ended = not (self.pid and is_server(self.pid, self.data))
        if ended:
            self._forget()
        return bool(ended)

    def ready(self) -> bool:
        status = read_status(self.data)
        return status is not None and status.pid == self.pid and status.ready

    def wait_end(self, news: list[int], seconds: float) -> float:
        """Sleep until the server ends or there is news, and return 0; else how long nothing
        happened."""
        if self._end is None:
            seconds = min(seconds, WATCH_SECONDS)
            return 0.0 if select.select(news, [], [], seconds)[0] else seconds
        return 0.0 if select.select([self._end, *news], [], [], seconds)[0] else seconds

    def stop(self) -> None:
        self._stop()
        if self._socket_dir != self.data:
            remove_empty(self._socket_dir)

    def _stop(self) -> None:
        for number, seconds in STOPPING:
            if self.gone():
                break
            say(f"server {self.pid} is told to stop (signal {number})")
            kill(self.pid, number)
            for _ in range(int(seconds / POLL_SECONDS)):
                self.wait_end([], POLL_SECONDS)
                if self.gone():
                    return

    def _forget(self) -> None:
        if self._end is not None:
            os.close(self._end)
        self._end, self.pid, self._ours = None, 0, False

    def _spawn(self) -> int:
        # Not deaf itself, not even until it is the server: told to stop that early, it has to end.
        signal.pthread_sigmask(signal.SIG_BLOCK, DEAF_TO)
        pid = os.fork()
        if pid:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, DEAF_TO)
            return pid
        try:
            for number in DEAF_TO:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, DEAF_TO)
            if self._uid >= 0:
                os.setgroups([])
                os.setgid(self._gid)
                os.setuid(self._uid)
            os.execv(self._command[0], self._command)
        except OSError as error:
            say(f"server cannot be run: {error}")
        finally:
            os._exit(127)

    def _sweep(self) -> None:
        """End what a killed server left: a new one refuses to start beside its processes."""
        for _ in range(int(SWEEP_SECONDS / POLL_SECONDS)):
            orphans = [pid for pid in pids() if is_server(pid, self.data)]
            if not orphans:
                break
            for orphan in orphans:
                kill(orphan, signal.SIGKILL)
            nap()
        self._disown("postmaster.pid")
        self._disown(os.path.join(self._socket_dir, ".s.PGSQL.5432.lock"))

    def _disown(self, pid_file: str) -> None:
        """Remove a pid file whose number belongs to another process now; the server would believe
        it."""
        path = os.path.join(self.data, pid_file)
        try:
            with open(path) as file:
                pid = int(file.readline())
        except (OSError, ValueError):
            return
        if exists(pid) and not is_server(pid, self.data):
            os.unlink(path)


class ClusterUsers:
    """The processes that use the server. It tells when the last one may have left."""

    def __init__(self, home: str) -> None:
        self._lock = open_lock(os.path.join(home, "postgres.lock"))
        self._users = open_lock(os.path.join(home, "postgres.users"))
        self.news, self._tell = os.pipe()
        self._watch()

    def left(self) -> bool:
        """Return whether the server has no user. Then it gets none until this process ends."""
        if not select.select([self.news], [], [], 0)[0]:
            return False
        os.read(self.news, 1)
        if try_lock(self._lock, fcntl.LOCK_EX):
            if try_lock(self._users, fcntl.LOCK_EX):
                return True
            fcntl.flock(self._lock, fcntl.LOCK_UN)
        self._watch()
        return False

    def _watch(self) -> None:
        _thread.start_new_thread(self._wait_nobody, ())

    def _wait_nobody(self) -> None:
        fcntl.flock(self._users, fcntl.LOCK_EX)
        fcntl.flock(self._users, fcntl.LOCK_UN)
        os.write(self._tell, b".")


def keep(server: Postmaster, users: ClusterUsers) -> None:
    """Run the server until it has no user any more or cannot be kept up."""
    restarts, was_ready, quiet_seconds = 0, False, 0.0
    server.start()
    while not users.left():
        if server.gone():
            hopeless = server.refused and not (restarts or was_ready)  # it never began
            if hopeless or restarts == RESTARTS_MAX:
                say(f"server does not stay up ({restarts} restarts, at most {RESTARTS_MAX})")
                return
            if select.select([users.news], [], [], BACKOFF_SECONDS[restarts])[0]:
                continue
            restarts += 1
            server.start()
        ready = server.ready()
        was_ready = was_ready or ready
        waited = server.wait_end([users.news], SETTLED_SECONDS if ready else POLL_SECONDS)
        quiet_seconds = quiet_seconds + waited if ready and waited else 0.0
        if quiet_seconds >= SETTLED_SECONDS:
            restarts, quiet_seconds = 0, 0.0
            trim(server.log)
    server.stop()


def become_keeper(lock: int) -> bool:
    """Take the keeper's lock, and return False if another keeper has it. A process that
    looks whether there is a keeper has it as well, for a moment."""
    for _ in range(KEEPER_TRIES_MAX):
        if try_lock(lock, fcntl.LOCK_EX):
            return True
        nap()
    return False


def open_lock(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def trim(log: str) -> None:
    if os.path.getsize(log) > LOG_BYTES_MAX:
        os.truncate(log, 0)  # its writers append


def say(words: str) -> None:
    try:
        os.write(2, f"keeper {os.getpid()}: {words}\n".encode())
    except OSError:
        return  # a full disk must not end the one who keeps the server up


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return  # it was quicker


def remove_empty(directory: str) -> None:
    try:
        os.rmdir(directory)
    except OSError:
        return  # a killed server's socket is in it; the next one uses both again


def open_end(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # no Linux, an old one, or the process is gone already
        return None


def pids() -> list[int]:
    return [int(n) for n in os.listdir("/proc") if n.isdigit()] if os.path.isdir("/proc") else []


def main(home: str, uid: str, gid: str, *command: str) -> None:
    parent = open_lock(os.path.join(home, "postgres.keeper"))
    if not become_keeper(parent):
        return
    if os.fork():
        os._exit(0)  # the process that started us has no child to wait for
    for number in DEAF_TO:
        signal.signal(number, lambda *_: None)
    os.umask(0o077)
    keep(Postmaster(home, uid=int(uid), gid=int(gid), command=list(command)), ClusterUsers(home))
    say("gone")


if __name__ == "__main__":
    main(*sys.argv[1:])
