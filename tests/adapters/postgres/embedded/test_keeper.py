"""When the keeper may stop the server, between the last user and the next; and that it does."""

import fcntl
import os
import select
import signal

import pytest

from adapters.postgres.embedded import ClusterOptions, keeper, locks
from adapters.postgres.embedded.keeper import (
    DEAF_TO,
    KEEPER_TRIES_MAX,
    ClusterUsers,
    Postmaster,
    become_keeper,
)
from tests.e2e.processes import eventually

SECONDS = 5.0


@pytest.fixture
def wanted(tmp_path):
    return ClusterOptions(tmp_path)


def arrive(wanted):
    return locks.take(wanted.users, fcntl.LOCK_SH, seconds=SECONDS, patience=locks.patient)


@pytest.fixture
def left(wanted):
    """What a keeper sees: somebody was there and has just left."""
    only = arrive(wanted)
    users = ClusterUsers(str(wanted.home))
    assert not users.left()
    os.close(only)
    eventually(lambda: select.select([users.news], [], [], 0)[0], "the keeper has heard of it")
    return users


@pytest.fixture
def deaf():
    """This process hears no more of a signal than a keeper does."""
    before = {number: signal.signal(number, lambda *_: None) for number in DEAF_TO}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_when_the_last_user_has_left_nobody_can_arrive(left, wanted):
    assert left.left()

    assert not locks.is_free(wanted.lock)
    assert not locks.is_free(wanted.users, fcntl.LOCK_SH)


def test_who_arrives_before_the_keeper_decides_keeps_the_server(left, wanted):
    next_one = arrive(wanted)

    assert not left.left()

    assert locks.is_free(wanted.lock)
    os.close(next_one)
    eventually(left.left, "the keeper hears of the next one's leaving too")


def test_while_somebody_is_arriving_the_keeper_does_not_decide(left, wanted):
    with locks.exclusive(wanted.lock, SECONDS, patience=locks.patient):
        assert not left.left()

    eventually(left.left, "the keeper looks again")


def test_a_lock_that_others_hold_is_waited_for_in_vain_and_not_kept(wanted):
    holder = arrive(wanted)

    with pytest.raises(TimeoutError):
        locks.take(wanted.users, fcntl.LOCK_EX, seconds=0.02, patience=locks.patient)

    os.close(holder)
    assert locks.is_free(wanted.users)


def test_waiting_ends_when_the_one_who_waits_is_cancelled(wanted):
    def cancelled():
        raise InterruptedError

    holder = arrive(wanted)

    with pytest.raises(InterruptedError):
        locks.take(wanted.users, fcntl.LOCK_EX, seconds=SECONDS, patience=cancelled)

    os.close(holder)
    assert locks.is_free(wanted.users)


def test_who_only_looks_whether_there_is_a_keeper_does_not_keep_one_away(wanted, monkeypatch):
    looks = locks.take(wanted.keeper, fcntl.LOCK_EX, seconds=SECONDS, patience=locks.patient)
    ours = locks.open_lock(str(wanted.keeper))

    monkeypatch.setattr(keeper, "nap", lambda: os.close(looks))
    assert become_keeper(ours)

    assert not locks.is_free(wanted.keeper)
    os.close(ours)


def test_beside_another_keeper_one_gives_up(wanted, monkeypatch):
    other = locks.take(wanted.keeper, fcntl.LOCK_EX, seconds=SECONDS, patience=locks.patient)
    ours, naps = locks.open_lock(str(wanted.keeper)), []

    monkeypatch.setattr(keeper, "nap", lambda: naps.append("nap"))
    assert not become_keeper(ours)

    assert KEEPER_TRIES_MAX == len(naps)
    os.close(other)
    os.close(ours)


@pytest.mark.usefixtures("deaf")
def test_a_server_that_has_only_just_been_forked_hears_that_it_is_to_stop(wanted):
    wanted.data.mkdir()
    refuses_later = ["/bin/sh", "-c", "sleep 5; exit 3"]  # a signal ends it at any moment of it
    sockets = f"unix_socket_directories={wanted.data}"
    server = Postmaster(str(wanted.home), uid=-1, gid=-1, command=[*refuses_later, sockets])

    server.start()
    server.stop()

    assert not server.refused, "it went on to its own end"
