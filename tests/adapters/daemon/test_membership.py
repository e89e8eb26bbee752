"""What a process of several is told by its parent, and tells it."""

import os
import socket

import pytest
import trio

from adapters.daemon.membership import (
    BEAT,
    BEAT_SECONDS,
    READY,
    VARIABLE,
    Membership,
    ParentLine,
    membership_of,
)
from tests.patience import PATIENCE_SECONDS


@pytest.fixture
def line():
    """The parent's end, and a membership with the other."""
    theirs, ours = socket.socketpair()
    with theirs:
        yield theirs, Membership(2, ours.detach(), (), False)


@pytest.mark.parametrize("is_alone", [True, False])
def test_a_membership_is_read_as_it_was_written_and_is_nobody_elses(is_alone):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        os.set_inheritable(ours.fileno(), True)
        member = Membership(3, ours.fileno(), (ours.fileno(), theirs.fileno()), is_alone)
        environ = {VARIABLE: str(member), "HOME": "/"}

        assert member == membership_of(environ)
        assert {"HOME": "/"} == environ
        assert not os.get_inheritable(ours.fileno()), "what it starts does not hold its sockets"


def test_who_has_no_parent_is_no_member():
    assert membership_of({}) is None
    assert membership_of({VARIABLE: ""}) is None


async def test_a_process_gives_signs_of_life_and_says_that_it_is_ready(autojump_clock, line):
    theirs, member = line
    parent = ParentLine(member)
    with trio.move_on_after(2.5 * BEAT_SECONDS):
        await parent.run()
    parent.ready("serves")
    parent.stopping(3.0)

    assert 3 * BEAT + READY == theirs.recv(100)
    parent._line.close()


async def test_a_parent_that_listens_no_more_holds_up_nobody(line):
    theirs, member = line
    parent = ParentLine(member)

    for _ in range(1_000_000):
        parent._say(BEAT)
        if not _has_room(parent._line):
            break
    parent.ready("serves")
    theirs.close()
    parent.ready("serves")
    parent._line.close()


def _has_room(sending):
    try:
        return sending.send(BEAT) == 1
    except BlockingIOError:
        return False


async def test_it_is_noticed_when_the_parent_is_gone(line):
    theirs, member = line
    parent = ParentLine(member)
    with trio.move_on_after(0.05) as waiting:
        await parent.until_gone()
    theirs.close()

    with trio.fail_after(PATIENCE_SECONDS):
        await parent.until_gone()

    assert waiting.cancelled_caught
    parent._line.close()
