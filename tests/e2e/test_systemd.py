"""What an init system hears from a real daemon."""

import contextlib
import os
import signal
import socket

import pytest

from tests.e2e.daemons import STOP_SECONDS_MAX, a_daemon
from tests.folders import a_folder
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


@pytest.fixture
def init():
    with a_folder() as top:
        path = str(top / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
            listening.bind(path)
            listening.settimeout(PATIENCE_SECONDS)
            yield path, listening


def until(listening, word):
    """What is heard up to this word."""
    said = []
    while not said or word not in said[-1]:
        said.append(listening.recv(4096).decode().split("\n"))
    return said


def is_silent(listening):
    """Whether there is an end to what is said, for five times as long as a beat takes."""
    listening.settimeout(1.0)
    with contextlib.suppress(TimeoutError):
        for _ in range(50):
            listening.recv(4096)
        return False
    return True


def test_it_hears_of_a_start_a_beating_heart_and_a_stop(home, init):
    path, listening = init
    watched = {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "400000"}
    with a_daemon(home, **watched) as daemon:
        *before, ready = until(listening, "READY=1")
        beats = until(listening, "WATCHDOG=1")
        daemon.process.send_signal(signal.SIGTERM)
        *_, stopping = until(listening, "STOPPING=1")
        assert 0 == daemon.process.wait(STOP_SECONDS_MAX)
        address = daemon.entry("daemon.ready")["listen"]

    assert all(
        word.startswith(("WATCHDOG=", "EXTEND_TIMEOUT_USEC=")) for beat in before for word in beat
    )
    assert f"STATUS=serves at {address}" in ready
    assert ["WATCHDOG=1"] == beats[-1]
    assert any(word.startswith("EXTEND_TIMEOUT_USEC=") for word in stopping)


def test_a_daemon_that_stands_still_is_heard_no_more(home, init):
    path, listening = init
    with a_daemon(home, NOTIFY_SOCKET=path, WATCHDOG_USEC="400000") as daemon:
        until(listening, "READY=1")
        os.kill(daemon.process.pid, signal.SIGSTOP)

        assert is_silent(listening)

        os.kill(daemon.process.pid, signal.SIGCONT)
        assert 0 == daemon.stop()
