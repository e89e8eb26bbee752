"""Copies of a process, as the parent of several makes them: what they have of it, and what not."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.e2e.processes import ROOT
from tests.patience import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere processes are programs"),
]

# A program, because this process has threads. Each copy prints a line, and so does the parent.
HEAD = """
import contextlib, json, os, random, signal, socket, ssl, sys, tempfile, threading, time, uuid
from adapters.daemon.membership import VARIABLE, Membership, membership_of
from adapters.daemon.parent.starting import HANDLED, may_copy, starts_copies

ours, theirs = socket.socketpair()
its_own, of_another = socket.socket(), socket.socket()
secret = tempfile.TemporaryFile()

def say(**what):
    os.write(1, json.dumps(what).encode() + b"\\n")

def copied(main, count=1):
    start, made = starts_copies(main), []
    for number in range(1, count + 1):
        made.append(start(Membership(number, theirs.fileno(), [its_own.fileno()], False)))
    for each in made:
        while each.poll() is None:
            time.sleep(0.01)
    return [each.poll() for each in made]
"""


def printed(program, **how):
    """The lines that a program with copies prints, and its standard error."""
    buffered = {name: v for name, v in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [sys.executable, "-c", HEAD + program],
        env={**buffered, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
        **how,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def test_copies_draw_random_numbers_of_their_own():
    drawn, _ = printed("""
random.random(), ssl.RAND_bytes(8), uuid.uuid4()  # whatever the parent has drawn before
def main():
    say(all=[random.random(), random.SystemRandom().random(), ssl.RAND_bytes(8).hex(),
             str(uuid.uuid4()), tempfile.mktemp()])
    return 0
copied(main, 3)
main()
""")

    assert 4 == len(drawn)
    for kind in zip(*(each["all"] for each in drawn), strict=True):
        assert 4 == len(set(kind))


def test_a_copy_has_its_own_descriptors_and_no_others():
    reading, writing = os.pipe()  # one with which the parent is started
    try:
        [seen], _ = printed(
            """
def main():
    member = membership_of(os.environ)
    found = {}
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of this very list
            found[fd] = os.readlink(f"/proc/self/fd/{fd}")
    say(open=found, given=member.descriptors, left=VARIABLE in os.environ)
    return 0
copied(main)
""",
            pass_fds=[reading],
            stdin=reading,
        )
    finally:
        os.close(reading)
        os.close(writing)

    files = {int(fd): what for fd, what in seen["open"].items()}
    assert {0, 1, 2, *seen["given"]} == set(files)
    assert os.devnull == files[0]
    assert not seen["left"], "programs that it starts are no members"


def test_a_copy_begins_with_the_signals_of_a_new_program():
    [copy, parent], _ = printed("""
for number in HANDLED:
    signal.signal(number, lambda *_: None)
ours.setblocking(False)
signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
def state():
    return dict(
        default=[signal.getsignal(each) == signal.SIG_DFL for each in HANDLED],
        blocked=len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        wakes=signal.set_wakeup_fd(-1) != -1,
        leads=os.getpgrp() == os.getpid(),
        title=open("/proc/self/comm").read().strip(),
    )
def main():
    say(**state())
    return 0
copied(main)
say(**state())
""")

    assert [True] * 3 == copy["default"]
    assert not copy["wakes"], "what it is sent is none of the parent's"
    assert copy["leads"], "a terminal signals the group of the parent only"
    assert "promptcorner:1" == copy["title"]
    assert [False] * 3 == parent["default"]
    assert parent["wakes"]
    assert 0 == copy["blocked"] == parent["blocked"]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("return 0", 0),
        ("return 7", 7),
        ("raise ValueError('no')", 1),
        ("raise SystemExit(3)", 1),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    ],
)
def test_a_copy_ends_as_it_says_and_never_goes_on_as_the_parent(end, code):
    lines, error = printed(f"""
def main():
    {end}
sys.stdout.write("")
try:
    codes = copied(main)
finally:
    say(pid=os.getpid(), parent=os.getpid())
say(codes=codes)
""")

    assert 2 == len(lines), "the end of the parent's block is passed once"
    assert [code] == lines[-1]["codes"]
    assert ("ValueError: no" in error) == ("ValueError" in end)


def test_what_the_parent_has_printed_is_not_printed_twice():
    lines, _ = printed("""
print(json.dumps("once"))
def main():
    print(json.dumps("a copy"))
    return 0
copied(main, 2)
""")

    assert ["a copy", "a copy", "once"] == sorted(lines)


def test_a_collection_in_a_copy_writes_to_nothing_that_it_shares():
    [grown], _ = printed("""
import gc

def own_kilobytes():
    for line in open("/proc/self/smaps_rollup"):
        if line.startswith("Private_Dirty:"):
            return int(line.split()[1])

empty = own_kilobytes()
imported = [[number] for number in range(500_000)]  # the collector keeps notes on each
shared = own_kilobytes() - empty
def main():
    before = own_kilobytes()
    gc.collect()
    say(written=own_kilobytes() - before, shared=shared)
    return 0
copied(main)
""")

    assert grown["written"] < grown["shared"] / 10


def test_a_process_with_threads_may_not_be_copied():
    [before, after], _ = printed("""
say(may=may_copy())
threading.Thread(target=time.sleep, args=[60], daemon=True).start()
say(may=may_copy())
""")

    assert [True, False] == [before["may"], after["may"]]


def test_the_daemon_may_be_copied_once_it_is_imported():
    [seen], error = printed("""
from adapters.cli import serve
from adapters.models.costs import load_table_now
before = len(os.listdir("/proc/self/fd"))
start = serve._start_process()
say(way=start.__qualname__, opened=len(os.listdir("/proc/self/fd")) - before,
    prices=load_table_now.cache_info().currsize)
""")

    assert {"way": "starts_copies.<locals>.start", "opened": 0, "prices": 1} == seen, error
