"""Real processes: who they are, who is left, and how to run one as an ordinary user."""

import contextlib
import functools
import os
import pwd
import random
import signal
import socket
import subprocess
import sys
import time
import zlib
from pathlib import Path

from tests.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
EVENTUALLY_SECONDS = PATIENCE_SECONDS
PROGRAM_VARIABLE = "PROMPTCORNER_TESTS_PYTHON"  # names another Python that has promptcorner
POLL_SECONDS = 0.01
PORTS = 20_000, 32_000  # below those that the system chooses from
WORKERS_MAX = 24  # of a run, who share these ports


def eventually(check, what):
    """Wait for something outside this process, for a bounded time; returns what made it true."""
    deadline = time.monotonic() + EVENTUALLY_SECONDS
    while not (seen := check()):
        assert time.monotonic() < deadline, f"not within {EVENTUALLY_SECONDS:g} s: {what}"
        time.sleep(POLL_SECONDS)
    return seen


def free_ports(count=1):
    """The first of so many neighbouring ports of this machine at which no process listens.

    They are none of those that the system gives to whoever asks for any, and those of one worker of
    a run are none of another's, so that no other process gets one of them before it is used.
    """
    begin, end = _ports_of_this_worker()
    while True:
        first = random.randrange(begin, end - count)
        with contextlib.ExitStack() as probes, contextlib.suppress(OSError):
            for port in range(first, first + count):
                probes.enter_context(socket.create_server(("127.0.0.1", port)))
            return first


def _ports_of_this_worker():
    """The first of its ports, and the first of the next one's; runs beside each other differ."""
    share = (PORTS[1] - PORTS[0]) // WORKERS_MAX
    run = zlib.crc32(os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())).encode())
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    begin = PORTS[0] + (run + worker) % WORKERS_MAX * share
    return begin, begin + share


def belonging_to(directory):
    """`pid command` of every living process that names `directory` or works in it."""
    return sorted(_lines(str(directory)))


def keepers(home):
    return [pid for pid in _pids() if "keeper.py" in _command(pid) and str(home) in _command(pid)]


def postmaster(home):
    """The number of the server's first process."""
    return int((home / "postgres" / "postmaster.pid").read_text().split()[0])


def kill_all(home):
    """Everything at once, as a power cut would: nobody gets to see another's end."""
    pids = [int(line.split()[0]) for line in belonging_to(home)]
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
    eventually(lambda: not belonging_to(home), "the killed are gone")


def program_python():
    """The Python whose `-m promptcorner` is tested: ours, or that of an installed wheel."""
    return os.environ.get(PROGRAM_VARIABLE, sys.executable)


@functools.cache
def ordinary_user():
    """(words before a command, arguments of subprocess) that make it run as no root; and a name.

    Where a clone or its Python lies in a directory of root alone, the user is also given the
    capability to read it. Nothing else: what he may write is what we test.
    """
    if os.geteuid() != 0:
        return (), {}, pwd.getpwuid(os.geteuid()).pw_name
    nobody = pwd.getpwnam("nobody")
    ids = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    with contextlib.suppress(PermissionError):
        probe = [program_python(), "-c", "import promptcorner.__main__"]
        if subprocess.run(probe, cwd="/", capture_output=True, check=False, **ids).returncode == 0:
            return (), ids, "nobody"
    identity = [f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
    caps = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    return ("setpriv", *identity, *caps), {}, "nobody"


def give_to_ordinary_user(path):
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(path, nobody.pw_uid, nobody.pw_gid)


def _pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _lines(directory):
    for pid in _pids():
        command = _command(pid)  # one without has ended, and may still be in its directory
        if not command or pid == os.getpid():
            continue
        if directory in command or _works_in(pid, directory):
            yield f"{pid} {command}"


def _command(pid):
    """Empty for one that has ended, whether or not anybody has noticed."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def _works_in(pid, directory):
    try:
        return os.readlink(f"/proc/{pid}/cwd").startswith(directory)
    except OSError:
        return False
