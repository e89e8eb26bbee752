"""What ends commands when this process is gone."""

import os
import resource
import signal
import subprocess

import pytest
import trio

from adapters.workspaces.commands.process_groups import Lifeline
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
async def lifeline():
    lifeline = Lifeline()
    yield lifeline
    await lifeline.close()


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

    await lifeline.close()

    assert [signal.SIGKILL] * 2 == [await killed(each) for each in (first, second)]
    assert over.poll() is None


async def test_if_it_is_gone_another_takes_its_place_and_knows_all(lifeline, group):
    first, second = group(), group()
    lifeline.add(first.pid)
    shell = lifeline._shell
    os.kill(shell.pid, signal.SIGKILL)
    shell.wait()

    lifeline.add(second.pid)
    await lifeline.close()

    assert [signal.SIGKILL] * 2 == [await killed(each) for each in (first, second)]


async def test_without_any_command_there_is_none(lifeline):
    lifeline.forget(1)

    assert lifeline._shell is None


def fill(lifeline):
    """Tell it more than its pipe holds."""
    for number in range(10_000):
        lifeline.add(4_000_000 + number % 2)
        lifeline.forget(4_000_000 + number % 2)


async def test_one_that_does_not_listen_holds_nobody_up(lifeline, group):
    first, second = group(), group()
    lifeline.add(first.pid)
    stopped = lifeline._shell
    os.kill(stopped.pid, signal.SIGSTOP)
    began = trio.current_time()

    fill(lifeline)
    lifeline.add(second.pid)
    assert lifeline._shell is not stopped
    await lifeline.close()

    assert trio.current_time() - began < 20, "a write that blocks is one for ever"
    assert [signal.SIGKILL] * 2 == [await killed(each) for each in (first, second)]


async def test_one_that_cannot_be_replaced_stays_and_ends_nothing(lifeline, group):
    """Without its pipe it would end all that it knows of, as if this process were gone."""
    first = group()
    lifeline.add(first.pid)
    shell = lifeline._shell
    os.kill(shell.pid, signal.SIGSTOP)

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (shell.stdin.fileno(), hard))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            fill(lifeline)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert lifeline._shell is shell
    os.kill(shell.pid, signal.SIGCONT)
    assert first.poll() is None
    await lifeline.close()
    assert signal.SIGKILL == await killed(first)


async def test_others_go_on_while_it_ends(lifeline, group):
    lifeline.add(group().pid)
    os.kill(lifeline._shell.pid, signal.SIGSTOP)  # so it does not end before it is killed
    beats = []

    async def beat():
        while True:
            beats.append(trio.current_time())
            await trio.sleep(0.01)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(beat)
        await lifeline.close()
        nursery.cancel_scope.cancel()

    assert len(beats) > 5, "where it is waited for without a pause there is one"
