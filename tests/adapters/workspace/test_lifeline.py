"""What ends commands when this process is gone."""

import os
import signal
import subprocess

import pytest
import trio

from adapters.workspace.lifeline import Lifeline
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def group():
    """Begins a process group; says of each whether it still runs."""
    begun = []

    def begin():
        process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.wait()


@pytest.fixture
def lifeline():
    lifeline = Lifeline()
    yield lifeline
    lifeline.close()


async def killed(process):
    with trio.fail_after(PATIENCE_SECONDS):
        while process.poll() is None:
            await trio.sleep(0.005)
    return -process.returncode


async def test_when_it_is_let_go_all_that_it_knows_of_end(lifeline, group):
    first, second, over = group(), group(), group()
    for each in (first, over, second):
        lifeline.add(each.pid)
    lifeline.forget(over.pid)

    lifeline.close()

    assert [signal.SIGKILL] * 2 == [await killed(each) for each in (first, second)]
    assert over.poll() is None


async def test_if_it_is_gone_another_takes_its_place_and_knows_all(lifeline, group):
    first, second = group(), group()
    lifeline.add(first.pid)
    shell = lifeline._shell
    os.kill(shell.pid, signal.SIGKILL)
    shell.wait()

    lifeline.add(second.pid)
    lifeline.close()

    assert [signal.SIGKILL] * 2 == [await killed(each) for each in (first, second)]


def test_without_any_command_there_is_none(lifeline):
    lifeline.forget(1)

    assert lifeline._shell is None
