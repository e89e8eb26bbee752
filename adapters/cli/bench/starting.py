"""The processes of a run, started and ended: a provider, a driver, and a daemon of our own.

Each ends when its standard input does, whose other end only this command has: after the run, after
ctrl-C, and when the command is killed.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from adapters.cli.bench.plan import Load
from adapters.cli.bench.processes import minder
from adapters.settings.refusals import CannotStart

Child = subprocess.Popen[str]

HOST = "127.0.0.1"
START_SECONDS = 60.0  # for a daemon to be ready
STOP_SECONDS = 45.0  # for a process to end when it may; then it is killed
POLL_SECONDS = 0.02
LOG_LINES = 15  # of a daemon that did not start
SERVE = ("-P", "-m", "promptcorner", "serve")
CODE = """\
import promptcorner, sys  # which finds the other packages in a wheel
from adapters.cli.bench.processes import {0}
{0}.main(*sys.argv[1:])
"""


@dataclass(frozen=True, slots=True)
class StartedDaemon:
    """A daemon of our own."""

    name: str
    url: str
    token: str
    pid: int
    data_dir: Path


@contextmanager
def _child(words: Sequence[str], **how: object) -> Iterator[Child]:
    """Start a process that ends with its standard input; ctrl-C at the terminal is not for it."""
    process: Child = subprocess.Popen(  # type: ignore[call-overload]
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **how,
    )
    try:
        yield process
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):  # it has ended already
            process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _ours(module: str, *words: object) -> list[str]:
    return [sys.executable, "-P", "-c", CODE.format(module), *map(str, words)]


@contextmanager
def a_provider(load: Load, host: str = HOST, port: int = 0) -> Iterator[tuple[str, int]]:
    """Run the fast fake provider; yield its URL and its process."""
    words = _ours("provider", host, port, load.deltas, load.delta_chars, load.delta_ms)
    with _child(words) as process:
        assert process.stdout is not None
        bound = process.stdout.readline().strip()
        if not bound:
            raise CannotStart("bench", f"the fake provider cannot listen at {host}:{port}")
        yield f"http://{host}:{bound}/v1", process.pid


@contextmanager
def a_driver() -> Iterator[Child]:
    """Run a driver, which waits for its task."""
    with _child(_ours("driver")) as process:
        yield process


@contextmanager
def a_daemon(
    name: str, provider: str, token: str, settings: Mapping[str, str], checkout: Path | None = None
) -> Iterator[StartedDaemon]:
    """Run a daemon on an embedded database in a directory of its own, ours or a checkout's."""
    home = Path(tempfile.mkdtemp(prefix="promptcorner-bench-"))
    home.chmod(0o711)  # as root the server runs as another user
    flags = [f"--listen={HOST}:0", f"--data-dir={home}/data"]
    command = [sys.executable, *SERVE, *flags]
    environ = {name: value for name, value in os.environ.items() if not _decides(name)}
    environ |= {
        "PROMPTCORNER_CONFIG": os.devnull,
        "PROMPTCORNER_ADMIN_TOKEN": token,
        "PROMPTCORNER_SUMMARIES": "off",  # they are turns of their own
        "PROMPTCORNER_DRAIN_SECONDS": "0",  # at the end of a bench no client waits for answers
        "OPENAI_COMPAT_BASE_URL": provider,
        **settings,
    }
    if checkout is not None:
        environ["PYTHONPATH"] = os.pathsep.join(map(str, (checkout, checkout / "client")))
    words = [sys.executable, "-I", "-S", minder.__file__, str(home), *command]
    with _child(words, env=environ, cwd=home) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        several = int(settings.get("PROMPTCORNER_PROCESSES", "1")) > 1
        ready = "processes.ready" if several else "daemon.ready"
        url = _ready_url(home / "log", pid, ready)
        yield StartedDaemon(name, url, token, pid, home / "data")


def _decides(variable: str) -> bool:
    """Tell whether a variable of ours would change the daemon that is measured."""
    ours = ("PROMPTCORNER_", "DATABASE_URL", "PG", "AWS_", "PYTHONDONTWRITEBYTECODE")
    return variable.startswith(ours) or variable.endswith(("_API_KEY", "_BASE_URL"))


def _ready_url(log: Path, pid: int, ready: str) -> str:
    """Return where a daemon listens, as soon as its log says that all of it is ready."""
    pause = threading.Event()  # never set: only its time counts
    for _ in range(int(START_SECONDS / POLL_SECONDS)):
        lines = log.read_text(errors="replace").splitlines()
        entries = [json.loads(line) for line in lines if line.startswith("{") and '.ready"' in line]
        if any(entry["event"] == ready for entry in entries):
            return str(next(entry["url"] for entry in entries if "url" in entry))
        if not _runs(pid):
            break
        pause.wait(POLL_SECONDS)
    said = "\n".join(log.read_text(errors="replace").splitlines()[-LOG_LINES:])
    raise CannotStart("bench", f"the daemon of the run did not start\n{said}")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
