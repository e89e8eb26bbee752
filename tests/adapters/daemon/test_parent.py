"""The parent, with small programs for processes: who is started again, and when it gives up."""

import os
import signal
import socket
import sys
from contextlib import contextmanager

import pytest

from adapters.daemon.membership import VARIABLE
from adapters.daemon.parent import children, loop
from adapters.daemon.parent.loop import ParentProcess, heard_signals
from adapters.daemon.parent.starting import starts_programs
from adapters.daemon.systemd import Systemd
from adapters.settings.refusals import CannotStart
from runtime.clock import machine
from runtime.log import LOGGER_NAME
from runtime.restart import Restart
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

HEAD = f"""
import os, signal, socket, sys, time
number, line, _, _ = os.environ["{VARIABLE}"].split(":")
line = socket.socket(fileno=int(line))
def ready(): line.send(b"r")
def beats():
    while True: line.send(b"b"); time.sleep(0.01)
"""
SERVES = "ready(); beats()\n"
STOPS_WELL = "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"


@contextmanager
def a_family(program, *, processes=2, drain_seconds=0.0, command=None):
    """One whose parent does something whenever a test waits; stopped at the end of the block."""
    sockets = [[socket.socket()] for _ in range(processes)]
    command = command or [sys.executable, "-c", HEAD + program]
    with heard_signals() as signals:
        made = ParentProcess(
            starts_programs(command),
            sockets,
            signals,
            Systemd({}, machine),
            drain_seconds=drain_seconds,
            address="127.0.0.1:1",
            began=machine(),
        )
        try:
            yield made
        finally:
            made.stop(signal.SIGTERM)
            until(made, lambda: made.is_over)
    for [each] in sockets:
        each.close()


def until(family, condition):
    """Let the parent do what it does until something is so."""
    patience = machine() + PATIENCE_SECONDS
    while not condition():
        assert machine() < patience
        family.step()


def test_all_are_started_and_stopped(caplog):
    with a_family(STOPS_WELL + SERVES, processes=3) as family:
        until(family, lambda: family.all_ready)

    assert 0 == family.outcome()
    assert [0, 0, 0] == [child.code for child in family.children]
    gone = [each.fileno() for child in family.children for each in child.sockets]
    assert [-1] * 3 == gone, "nobody is kept waiting by a parent that serves nobody"


def test_a_signal_stops_all_and_its_echo_is_no_second_one(caplog):
    caplog.set_level("INFO", LOGGER_NAME)
    with a_family(STOPS_WELL + SERVES) as family:
        until(family, lambda: family.all_ready)
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        until(family, lambda: family.is_over)

    assert 0 == family.outcome()
    causes = [r.fields for r in caplog.records if r.message == "processes.stopping"]
    assert [{"cause": "SIGTERM"}] == causes


def test_others_begin_when_the_first_is_ready():
    with a_family(STOPS_WELL + "time.sleep(0.3)\n" + SERVES) as family:
        first, second = family.children
        until(family, lambda: first.process)
        before = second.process
        until(family, lambda: first.has_been_ready)
        until(family, lambda: second.process)

        assert before is None
        until(family, lambda: family.all_ready)


def test_who_is_killed_is_started_again(caplog):
    with a_family(STOPS_WELL + SERVES) as family:
        until(family, lambda: family.all_ready)
        child = family.children[1]
        pid = child.process.pid

        child.process.send_signal(signal.SIGKILL)
        until(family, lambda: child.process.pid != pid and child.is_up)

    assert 0 == family.outcome()
    [ended] = [record.fields for record in caplog.records if record.message == "process.ended"]
    assert {"number": 2, "pid": pid, "why": "was ended by SIGKILL"} == ended


def test_who_ends_again_and_again_takes_all_down(caplog, monkeypatch):
    monkeypatch.setattr(loop, "RESTART", Restart(times=2, first_seconds=0.2))
    began = machine()
    program = STOPS_WELL + "if number == '2': ready(); time.sleep(0.1); sys.exit(7)\n" + SERVES
    with a_family(program) as family:
        until(family, lambda: family.stopping)

    assert 1 == family.outcome()
    [given_up] = [record.fields for record in caplog.records if "given_up" in record.message]
    assert {"number": 2, "why": "ended with exit code 7, again, after 2 restarts"} == given_up
    assert 0 == family.children[0].code, "the other one was told to stop"
    assert 0.2 + 0.4 <= machine() - began, "with pauses"


def test_who_is_never_ready_is_not_tried_again(caplog):
    with a_family("sys.exit(1)\n") as family:
        until(family, lambda: family.stopping)

    with pytest.raises(CannotStart) as refused:
        family.outcome()
    assert "process 1: it did not start; its own words stand above" == str(refused.value)
    assert family.children[1].process is None
    assert "process.ended" not in [record.message for record in caplog.records]


class JumpingClock:
    """The machine's, for the parent; two silences pass at once when a test says so."""

    def __init__(self, monkeypatch):
        self._ahead = 0.0
        monkeypatch.setattr(loop, "machine", lambda: machine() + self._ahead)

    def pass_silences(self, family):
        """A child that says something is heard before there is another silence."""
        self._ahead += children.SILENCES_MAX * children.SILENCE_SECONDS
        first = family.children[0]
        until(family, lambda: not first._silences and first.silent_at > loop.machine())


def test_who_gives_no_sign_of_life_is_killed(monkeypatch, caplog):
    clock = JumpingClock(monkeypatch)
    program = STOPS_WELL + "if number == '2': ready(); time.sleep(60)\n" + SERVES
    with a_family(program) as family:
        until(family, lambda: family.all_ready)
        child = family.children[1]
        pid = child.process.pid

        clock.pass_silences(family)
        assert child.runs, "after one silence the parent may have slept itself"
        clock.pass_silences(family)
        until(family, lambda: child.process.pid != pid)

    [silent] = [record.fields for record in caplog.records if record.message == "process.silent"]
    assert {"number": 2, "pid": pid} == silent


def test_who_hangs_up_but_does_not_end_is_killed(monkeypatch):
    clock = JumpingClock(monkeypatch)
    program = STOPS_WELL + "if number == '2': ready(); line.close(); time.sleep(60)\n" + SERVES
    with a_family(program) as family:
        until(family, lambda: family.all_ready)
        child = family.children[1]
        pid = child.process.pid

        until(family, lambda: child.line is None)
        clock.pass_silences(family)
        until(family, lambda: child.process.pid != pid)


def test_who_does_not_stop_is_killed_in_the_end(monkeypatch):
    monkeypatch.setattr(loop, "STOP_SECONDS", 0.3)
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    with a_family(deaf + SERVES) as family:
        until(family, lambda: family.all_ready)

    assert 1 == family.outcome()
    assert [-signal.SIGKILL] * 2 == [child.code for child in family.children]


def test_who_is_told_to_stop_before_it_listens_to_that_has_ended_well():
    with a_family("line.send(b'b'); time.sleep(60)\n") as family:
        until(family, lambda: family.children[0].process)

    assert [-signal.SIGTERM, 0] == [child.code for child in family.children]
    assert 0 == family.outcome()


def test_who_cannot_be_started_is_tried_again_and_the_others_go_on(caplog, tmp_path):
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    with a_family("", command=[str(python), "-c", HEAD + STOPS_WELL + SERVES]) as family:
        until(family, lambda: family.all_ready)
        first, second = family.children
        python.unlink()
        second.process.send_signal(signal.SIGKILL)
        until(family, lambda: second.process is None)

        python.symlink_to(sys.executable)
        until(family, lambda: second.is_up)

        assert first.process.returncode is None
    assert 0 == family.outcome()
    unstarted = [r.fields for r in caplog.records if r.message == "process.unstarted"]
    assert {(2, FileNotFoundError)} == {(each["number"], type(each["error"])) for each in unstarted}
    assert 1 == len([r for r in caplog.records if r.message == "process.ended"])


def test_who_cannot_be_started_again_and_again_takes_all_down(caplog, monkeypatch, tmp_path):
    monkeypatch.setattr(loop, "RESTART", Restart(times=2, first_seconds=0.01))
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    with a_family("", command=[str(python), "-c", HEAD + STOPS_WELL + SERVES]) as family:
        until(family, lambda: family.all_ready)
        python.unlink()
        family.children[1].process.send_signal(signal.SIGKILL)
        until(family, lambda: family.stopping)

    assert 1 == family.outcome()
    assert [0, os.EX_OSERR] == [child.code for child in family.children]
    [given_up] = [r.fields for r in caplog.records if r.message == "process.given_up"]
    assert {"number": 2, "why": "could not be started, again, after 2 restarts"} == given_up


def test_a_family_none_of_whom_can_be_started_says_so_at_once(caplog):
    began = machine()
    with a_family("", command=["/no/such/program"]) as family:
        until(family, lambda: family.stopping)

    with pytest.raises(CannotStart):
        family.outcome()
    assert machine() < began + loop.STOP_SECONDS / 2, "nothing is left to be waited for"
    assert ["process.unstarted"] == [record.message for record in caplog.records]
