"""The parent of the daemon of a run: ends it, and removes its directory, when the run is over.

Run as a script with nothing but the standard library: `python -I -S minder.py HOME COMMAND...`. It
prints the daemon's process id. The run is over when our standard input ends, which the system sees
to however the command ended that holds its other end; so a command that was killed leaves nothing
behind. A daemon that does not stop in time is killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading

STOP_SECONDS = 20.0  # for the daemon to stop in good order
DATABASE_SECONDS = 20.0  # for the embedded server to go after it
POLL_SECONDS = 0.05
DEAF_TO = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # it goes when its input ends


def main(home: str, command: list[str]) -> int:
    """Run the command until our input ends, or it does; then remove its directory."""
    with open(os.path.join(home, "log"), "wb") as log:
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    for number in DEAF_TO:
        signal.signal(number, signal.SIG_IGN)
    over = threading.Event()
    threading.Thread(target=_until_input_ends, args=(over,), daemon=True).start()
    with contextlib.suppress(OSError):  # the command may be gone already
        os.write(1, b"%d\n" % daemon.pid)
    while not over.wait(POLL_SECONDS) and daemon.poll() is None:
        pass
    if daemon.poll() is None:
        daemon.terminate()
        try:
            daemon.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
    code = daemon.returncode
    _wait_for_database(os.path.join(home, "data", "postgres", "postmaster.pid"))
    over.wait()  # the command may want to read the log of a daemon that ended by itself
    shutil.rmtree(home, ignore_errors=True)
    return code


def _until_input_ends(over: threading.Event) -> None:
    while os.read(0, 4096):
        pass
    over.set()


def _wait_for_database(pid_file: str) -> None:
    """Wait until the embedded server has gone; it removes this file last of all."""
    never = threading.Event()
    for _ in range(int(DATABASE_SECONDS / POLL_SECONDS)):
        if not os.path.exists(pid_file):
            return
        never.wait(POLL_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
