"""The parent, with small programs for processes: who is started again, and when it gives up."""

import os
import signal
import socket
import sys
from contextlib import asynccontextmanager

import pytest
import trio

from adapters.daemon import parent as families
from adapters.daemon.membership import VARIABLE
from adapters.daemon.parent import ParentProcess
from adapters.daemon.systemd import Systemd
from adapters.settings.refusals import CannotStart
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


@asynccontextmanager
async def a_family(program, *, processes=2, drain_seconds=0.0, command=None):
    """Running."""
    sockets = [[socket.socket()] for _ in range(processes)]
    command = command or [sys.executable, "-c", HEAD + program]
    made = ParentProcess(
        command, sockets, Systemd({}), drain_seconds=drain_seconds, address="127.0.0.1:1"
    )
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(made.run)
            await trio.lowlevel.checkpoint()
            yield made
            made.stop(signal.SIGTERM)
    for [each] in sockets:
        each.close()


async def until(condition):
    with trio.fail_after(PATIENCE_SECONDS):
        while not condition():
            await trio.sleep(0.01)


async def test_all_are_started_and_stopped(caplog):
    async with a_family(STOPS_WELL + SERVES, processes=3) as family:
        await family._all_ready.wait()

    assert 0 == family.outcome()
    assert [0, 0, 0] == [child.code for child in family._children]
    gone = [each.fileno() for child in family._children for each in child.sockets]
    assert [-1] * 3 == gone, "nobody is kept waiting by a parent that serves nobody"


async def test_others_begin_when_the_first_is_ready():
    async with a_family(STOPS_WELL + "time.sleep(0.3)\n" + SERVES) as family:
        first, second = family._children
        await until(lambda: first.process)
        before = second.process
        await first.ready.wait()
        await until(lambda: second.process)

        assert before is None
        await family._all_ready.wait()


async def test_who_is_killed_is_started_again(caplog):
    async with a_family(STOPS_WELL + SERVES) as family:
        await family._all_ready.wait()
        child = family._children[1]
        pid = child.process.pid

        child.process.kill()
        await until(lambda: child.process.pid != pid and child.is_up)

    assert 0 == family.outcome()
    [ended] = [record.fields for record in caplog.records if record.message == "process.ended"]
    assert {"number": 2, "pid": pid, "why": "was ended by SIGKILL"} == ended


async def test_who_ends_again_and_again_takes_all_down(caplog, monkeypatch):
    monkeypatch.setattr(families, "RESTART", Restart(times=2, first_seconds=0.2))
    began = trio.current_time()
    program = STOPS_WELL + "if number == '2': ready(); time.sleep(0.1); sys.exit(7)\n" + SERVES
    async with a_family(program) as family:
        await family._stop.wait()

    assert 1 == family.outcome()
    [given_up] = [record.fields for record in caplog.records if "given_up" in record.message]
    assert {"number": 2, "why": "ended with exit code 7, again, after 2 restarts"} == given_up
    assert 0 == family._children[0].code, "the other one was told to stop"
    assert 0.2 + 0.4 <= trio.current_time() - began, "with pauses"


async def test_who_is_never_ready_is_not_tried_again(caplog):
    async with a_family("sys.exit(1)\n") as family:
        await family._stop.wait()

    with pytest.raises(CannotStart) as refused:
        family.outcome()
    assert "process 1: it did not start; its own words stand above" == str(refused.value)
    assert family._children[1].process is None
    assert "process.ended" not in [record.message for record in caplog.records]


async def test_who_gives_no_sign_of_life_is_killed(monkeypatch, caplog):
    monkeypatch.setattr(families, "SILENCE_SECONDS", 0.2)
    program = STOPS_WELL + "if number == '2': ready(); time.sleep(60)\n" + SERVES
    async with a_family(program) as family:
        await family._all_ready.wait()
        child = family._children[1]
        pid = child.process.pid

        await until(lambda: child.process.pid != pid)

    [silent] = [record.fields for record in caplog.records if record.message == "process.silent"]
    assert {"number": 2, "pid": pid} == silent


async def test_who_hangs_up_but_does_not_end_is_killed(monkeypatch):
    monkeypatch.setattr(families, "SILENCE_SECONDS", 0.2)
    program = STOPS_WELL + "if number == '2': ready(); line.close(); time.sleep(60)\n" + SERVES
    async with a_family(program) as family:
        await family._all_ready.wait()
        child = family._children[1]
        pid = child.process.pid

        await until(lambda: child.process.pid != pid)


async def test_who_does_not_stop_is_killed_in_the_end(monkeypatch):
    monkeypatch.setattr(families, "STOP_SECONDS", 0.3)
    deaf = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    async with a_family(deaf + SERVES) as family:
        await family._all_ready.wait()

    assert 1 == family.outcome()
    assert [-signal.SIGKILL] * 2 == [child.code for child in family._children]


async def test_who_is_told_to_stop_before_it_listens_to_that_has_ended_well():
    async with a_family("time.sleep(60)\n") as family:
        await until(lambda: family._children[0].process)

    assert [-signal.SIGTERM, 0] == [child.code for child in family._children]
    assert 0 == family.outcome()


async def test_who_cannot_be_started_is_tried_again_and_the_others_go_on(caplog, tmp_path):
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    async with a_family(STOPS_WELL + SERVES) as family:
        family._command[0] = str(python)
        await family._all_ready.wait()
        first, second = family._children
        python.unlink()
        second.process.kill()
        await until(lambda: second.process is None)

        python.symlink_to(sys.executable)
        await until(lambda: second.is_up)

        assert first.process.returncode is None
    assert 0 == family.outcome()
    unstarted = [r.fields for r in caplog.records if r.message == "process.unstarted"]
    assert {(2, FileNotFoundError)} == {(each["number"], type(each["error"])) for each in unstarted}
    assert 1 == len([r for r in caplog.records if r.message == "process.ended"])


async def test_who_cannot_be_started_again_and_again_takes_all_down(caplog, monkeypatch, tmp_path):
    monkeypatch.setattr(families, "RESTART", Restart(times=2, first_seconds=0.01))
    python = tmp_path / "python"
    python.symlink_to(sys.executable)
    async with a_family(STOPS_WELL + SERVES) as family:
        family._command[0] = str(python)
        await family._all_ready.wait()
        python.unlink()
        family._children[1].process.kill()
        await family._stop.wait()

    assert 1 == family.outcome()
    assert [0, os.EX_OSERR] == [child.code for child in family._children]
    [given_up] = [r.fields for r in caplog.records if r.message == "process.given_up"]
    assert {"number": 2, "why": "could not be started, again, after 2 restarts"} == given_up


async def test_a_family_none_of_whom_can_be_started_says_so(caplog):
    async with a_family("", command=["/no/such/program"]) as family:
        await family._stop.wait()

    with pytest.raises(CannotStart):
        family.outcome()
    assert ["process.unstarted"] == [record.message for record in caplog.records]


async def test_sockets_are_not_closed_under_the_hands_of_who_is_being_made():
    async with a_family("time.sleep(60)\n") as family:
        while not family._being_made:
            await trio.lowlevel.checkpoint()

        family.stop(signal.SIGTERM)
        still_open = [each.fileno() for child in family._children for each in child.sockets]
        await until(lambda: not family._being_made)

        assert -1 not in still_open
        assert [-1, -1] == [each.fileno() for child in family._children for each in child.sockets]
    assert 0 == family.outcome()


async def test_who_is_being_made_when_all_are_told_to_stop_is_told_too():
    async with a_family("time.sleep(60)\n") as family:
        for _ in range(10):  # it is being made by a thread, which takes far longer
            await trio.lowlevel.checkpoint()

    assert 0 == family.outcome()
    assert -signal.SIGTERM == family._children[0].code
