"""A real daemon in a process of its own: started, asked, told to stop."""

import atexit
import contextlib
import functools
import http.client
import json
import os
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import psycopg

from tests.delays import sitecustomize as delays
from tests.e2e.processes import (
    EVENTUALLY_SECONDS,
    PROGRAM_VARIABLE,
    ROOT,
    eventually,
    ordinary_user,
    program_python,
)
from tests.e2e.starting import FORKED, Starter
from tests.folders import a_folder

STOP_SECONDS_MAX = 120
# What the environment of the tests must not decide. Without its last word every daemon would
# compile anew what the last one did, which takes longer than all else that a start does.
OURS = ("PROMPTCORNER_", "DATABASE_URL", "PG", "PYTHONDONTWRITEBYTECODE")

PATHS = (ROOT, ROOT / "client")
QUIET = {"PROMPTCORNER_SUMMARIES": "off"}  # a model is asked for nothing but answers


def environment(**settings):
    """That of the tests, without what would change the daemon, with `settings`."""
    inherited = {n: v for n, v in os.environ.items() if not n.startswith(OURS)}
    nothing = {"PROMPTCORNER_CONFIG": "/dev/null"}  # a file of this machine decides nothing here
    paths = () if PROGRAM_VARIABLE in os.environ else PATHS  # a wheel brings all that it needs
    if paths := (*delays.path(), *paths):
        nothing["PYTHONPATH"] = os.pathsep.join(map(str, paths))
    return {**inherited, **nothing, **settings}


def command(*arguments, ordinary=False):
    """(words, arguments of subprocess) of our command, as root or as an ordinary user."""
    prefix, switch, _ = ordinary_user() if ordinary else ((), {}, "")
    words = [*prefix, program_python(), "-m", "promptcorner", *map(str, arguments)]
    return words, {"cwd": "/", **switch}


def run(*arguments, ordinary=False, said="", anew=False, **settings):
    """Run our command to its end: (exit code, standard output, standard error).

    It is forked like a daemon, unless it is to be a program started `anew`.
    """
    has = environment(**settings)
    if anew or ordinary or not is_forked(settings):
        words, how = command(*arguments, ordinary=ordinary)
        done = subprocess.run(
            words,
            env=has,
            input=said,
            capture_output=True,
            text=True,
            timeout=STOP_SECONDS_MAX,
            check=False,
            **how,
        )
        return done.returncode, done.stdout, done.stderr
    with contextlib.ExitStack() as ends, ThreadPoolExecutor(3) as threads:
        (its_in, to), (out, its_out), (err, its_err) = (a_pipe(ends) for _ in range(3))
        process = a_copy(arguments, has, its_in, its_out, its_err)
        for each in (its_in, its_out, its_err):
            each.close()
        threads.submit(_say, said, to)
        printed = [threads.submit(each.read) for each in (out, err)]
        try:
            code = process.wait(STOP_SECONDS_MAX)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return code, *(each.result().decode() for each in printed)


def _say(text, to):
    with contextlib.suppress(BrokenPipeError), to:  # it need not listen to the end
        to.write(text.encode())


def a_pipe(ends):
    """Return both ends of a new pipe, to be closed at the end of a block."""
    pairs = zip(os.pipe(), ("rb", "wb"), strict=True)
    return [ends.enter_context(os.fdopen(fd, mode)) for fd, mode in pairs]


def is_forked(settings):
    """Return whether a command with these settings may be forked: Python itself is as it was."""
    return FORKED and not any(name.startswith(("PYTHON", "LC_", "LANG")) for name in settings)


def a_copy(arguments, has, stdin, stdout, stderr, *, has_terminal=False):
    """Start our command as a copy of a process that has imported it."""
    streams = [each.fileno() for each in (stdin, stdout, stderr)]
    words = [str(each) for each in arguments]
    return starter().start(words, has, *streams, has_terminal=has_terminal)


class Daemon:
    """One `promptcorner serve`, on any free port if none is named, with so many `descriptors`.

    It is forked from a process that has imported it, unless it is to be a program started `anew`.

    Its lease is the usual one of half a minute unless a test is about leases: on a busy machine a
    shorter one is lost by processes that only wait for the processor.
    """

    def __init__(
        self,
        home,
        log,
        *,
        ordinary=False,
        listen="127.0.0.1:0",
        descriptors=None,
        anew=False,
        **settings,
    ):
        self.home = home
        self._log = log
        self._database = settings.get("DATABASE_URL")
        arguments = ["serve", "--listen", listen, "--data-dir", str(home)]
        has = environment(**QUIET | settings)
        with log.open("wb") as stderr:
            anew = anew or ordinary or descriptors is not None
            if anew or not is_forked(settings):
                self.process = a_program(arguments, has, stderr, ordinary, descriptors)
            else:
                with open(os.devnull, "rb") as nothing, open(os.dup(1), "wb") as stdout:
                    self.process = a_copy(arguments, has, nothing, stdout, stderr)

    @property
    def entries(self):
        """Its log, without a line that is still being written.

        The link of the first start is shown apart, for people.
        """
        whole, _, _ = self._log.read_bytes().rpartition(b"\n")
        return [json.loads(line) for line in whole.splitlines() if line.startswith(b"{")]

    def entry(self, event):
        return next((entry for entry in self.entries if entry["event"] == event), None)

    def wait_ready(self):
        def ready():
            assert self.process.poll() is None, self._log.read_text()
            return self.entry("daemon.ready")

        return eventually(ready, "the daemon is ready")

    def workers(self):
        """In whose names it has held chats: one for each lease that it has had."""
        return {entry["worker"] for entry in self.entries if entry["event"] == "lease.begun"}

    def get(self, path):
        """(status, document) of an answer; (0, why) when there is none."""
        host, port = self.wait_ready()["listen"].split(":")
        try:
            with contextlib.closing(
                http.client.HTTPConnection(host, int(port), EVENTUALLY_SECONDS)
            ) as http_:
                http_.request("GET", path)
                answer = http_.getresponse()
                return answer.status, json.loads(answer.read())
        except (OSError, http.client.HTTPException) as error:
            return 0, str(error)

    def is_ready(self):
        return self.get("/readyz")[0] == 200

    def kill(self):
        """End it as a crash would, and its leases as time would: others need not wait for that."""
        self.process.kill()
        self.process.wait()
        if self._database:
            end_leases(self._database, self.workers())

    def stop(self, number=signal.SIGTERM):
        """Tell it to stop; its exit code."""
        self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS_MAX)


def a_program(arguments, has, stderr, ordinary=False, descriptors=None):
    """Start our command as a program of its own."""
    words, how = command(*arguments, ordinary=ordinary)
    if descriptors is not None:
        limited = 'ulimit -n "$0" && exec "$@"'
        words = ["/bin/sh", "-c", limited, str(descriptors), *words]
    return subprocess.Popen(words, env=has, stdin=subprocess.DEVNULL, stderr=stderr, **how)


@functools.cache
def starter():
    """Return the one of this process of tests, which ends with it."""
    made = Starter(environment())
    atexit.register(made.close)
    return made


def end_leases(database, workers):
    """Let the leases of processes that have been killed run out now: what they held is free."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(
            "UPDATE workers SET heartbeat_at = heartbeat_at - interval '1 day'"
            " WHERE id::text = ANY(%s)",
            (list(workers),),
        )


def holder_among(daemons, worker):
    """The daemon that holds chats in this name."""
    [holder] = [each for each in daemons if str(worker) in each.workers()]
    return holder


@contextlib.contextmanager
def a_daemon(home, **how):
    """A daemon for the length of a block, in which it may end in any way."""
    with a_folder() as top:
        daemon = Daemon(home, top / "stderr", **how)
        try:
            yield daemon
        finally:
            if daemon.process.poll() is None:
                daemon.process.kill()
            daemon.process.wait()
