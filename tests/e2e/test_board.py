"""`promptcorner chats` as a person sees it, in a real terminal beside a real daemon."""

import json
import os
import re
import signal
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from adapters.cli.board.live import OPEN
from adapters.cli.chat.deciding.pace import SLEEP_SECONDS
from adapters.daemon.listening.daemons import listening_daemons
from promptcorner_client.http_messages import HEARTBEAT_SECONDS, SILENCE_SECONDS
from tests.e2e.daemons import (
    a_copy,
    a_daemon,
    a_pipe,
    command,
    environment,
    is_forked,
    run,
)
from tests.e2e.processes import eventually
from tests.e2e.providers import a_provider
from tests.e2e.terminal.dead_lines import DeadlyLine
from tests.folders import a_folder, in_memory
from tests.terminals import ScreenTerminal

pytestmark = pytest.mark.slow

LOOKS = "[[tool-calls: list_templates:{}]] [[text: looked]] Look at the templates"
LONG = "[[deltas: 10000]] [[delta-ms: 40]] Write a long story"
QUICK = {
    "PROMPTCORNER_DRAIN_SECONDS": "1",
    "PROMPTCORNER_APPROVAL_RULES": "list_templates=ask",
}
REST_SECONDS = 3.0  # in which a board that nobody touches is measured
REST_SHARE_MAX = 0.05  # of a core


class Board(ScreenTerminal):
    """Our command in a terminal, forked from a process that has imported it."""

    def _start(self, words, has, terminal, cwd):
        if is_forked({}):
            return a_copy(words, has, *[terminal] * 3, has_terminal=True)
        words, _ = command(*words)
        return super()._start(words, has, terminal, cwd)


@pytest.fixture(scope="module")
def top():
    with a_folder(in_memory()) as top:
        yield top


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def here(top, provider):
    """What a command on the machine of the daemon finds, and the titles are as they were typed."""
    home = top / "home"
    with a_daemon(home, **QUICK, **provider.settings) as daemon:
        daemon.wait_ready()
        yield {"PROMPTCORNER_DATA_DIR": str(home)}
        daemon.stop()


@pytest.fixture
def board(here):
    opened = []

    def start(*words, settings=here, **size):
        opened.append(Board(["chats", *words], environment(**settings), **size))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def begun(here, text):
    """A chat that has begun, and may go on; its id. Its title is the test's own."""
    with ExitStack() as ends:
        out, its_out = a_pipe(ends)
        process = started(["chat", "-m", text, "--json"], environment(**here), its_out)
        ends.callback(process.wait)
        ends.callback(process.kill)
        its_out.close()
        for line in out:
            record = json.loads(line)
            if record["type"] in ("text", "needs", "end"):
                break
            if record["type"] == "begin":
                chat = record["chat_id"]
    return chat


def started(arguments, has, its_out):
    """Our command, with an output that is a pipe and nothing to read."""
    with open(os.devnull, "rb") as nothing, open(os.dup(2), "wb") as errors:
        if is_forked({}):
            return a_copy(arguments, has, nothing, its_out, errors)
        words, how = command(*arguments)
        return subprocess.Popen(words, env=has, stdin=nothing, stdout=its_out, stderr=errors, **how)


def state_of(here, chat):
    _, out, _ = run("chats", "--json", **here)
    return next((each for each in json.loads(out) if each["id"] == chat), {"state": "gone"})


def test_chats_that_need_a_person_come_first_and_keys_act_on_them(board, here):
    resting = begun(here, "[[text: well]] Say hello")
    asking = begun(here, LOOKS)
    working = begun(here, LONG)
    eventually(lambda: state_of(here, resting)["state"] == "rests", "one rests")

    small = board(columns=80, lines=24)
    shown = small.until(
        lambda text: all(word in text for word in ("needs me 1", "at work 1", "at rest 1"))
    )
    assert re.search(r"needs me 1\n▸ ! .*asks for consent", shown)
    assert shown.index("needs me 1") < shown.index("at work 1") < shown.index("at rest 1")

    small.types("\x1b[Bi")  # the one at work is interrupted
    small.until("interrupted: ")
    small.until(lambda text: "at rest 2" in text)
    small.types("f")
    small.until(lambda text: "1 chat ·" in text and "needs me only" in text)
    small.types("fff")
    small.until("at rest 2")
    small.types("/zzz\r")
    small.until("no chat is like that")
    small.types("/\x7f\x7f\x7f\r")
    small.until("at rest 2")
    small.types("q")
    assert 0 == small.ends()
    assert b"\x1b[?1049l" in small.written, "the screen is given back"
    assert "needs" == state_of(here, asking)["state"]
    assert "rests" == state_of(here, working)["state"]


def test_a_board_of_another_size_fills_it_and_one_at_rest_costs_nothing(board, here):
    begun(here, "[[text: well]] Say hello")
    large = board("--filter", "all", columns=200, lines=60)
    large.until("at rest")
    large.until("q leave")
    assert large.screen.display[59].startswith("↑↓ choose")
    large.resize(80, 24)
    large.until(lambda text: large.screen.display[23].startswith("↑↓ choose"))
    while large.read(1.0):  # titles and facts that are still to come
        pass

    before, began = cpu_seconds(large.process.pid), time.monotonic()
    large.read(REST_SECONDS)
    spent = cpu_seconds(large.process.pid) - before
    assert spent <= REST_SHARE_MAX * max(REST_SECONDS, time.monotonic() - began)

    large.types("\x03")
    assert 0 == large.ends()


def cpu_seconds(pid):
    times = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(times[11]) + int(times[12])) / os.sysconf("SC_CLK_TCK")


def chats_on(text):
    counted = re.search(r"(\d+) chats?", text)
    return int(counted[1]) if counted else 0


def test_after_a_sleep_the_news_come_over_a_connection_that_is_alive(board, here):
    line = DeadlyLine(listening_daemons(Path(here["PROMPTCORNER_DATA_DIR"]))[0].url)
    try:
        terminal = board("--filter", "all", settings={**here, "PROMPTCORNER_URL": line.url})
        begun(here, "[[text: well]] Before the sleep")
        seen = len(json.loads(run("chats", "--json", **here)[1]))
        terminal.until(lambda text: chats_on(text) == seen)
        os.kill(terminal.process.pid, signal.SIGSTOP)
        slept_at = time.monotonic()
        line.die()
        eventually(
            lambda: time.monotonic() - slept_at > SLEEP_SECONDS, "it has slept for long enough"
        )
        os.kill(terminal.process.pid, signal.SIGCONT)
        begun(here, "[[text: well]] Behind the sleep")
        terminal.until(lambda text: chats_on(text) > seen)
        # Its last news before may be as old as a heartbeat.
        assert time.monotonic() - slept_at < SILENCE_SECONDS - HEARTBEAT_SECONDS, "it waited"
    finally:
        line.close()


def test_without_colours_there_are_none(board, here):
    plain = board(settings={**here, "NO_COLOR": "1"})
    plain.until("q leave")
    plain.types("q")

    assert 0 == plain.ends()
    assert not re.search(rb"\x1b\[[0-9;]*3[0-7][;m]", plain.written)


def test_a_pipe_gets_a_table_and_programs_json(here):
    chat = begun(here, "[[text: well]] Say hello")
    code, out, err = run("chats", **here)
    assert (0, "") == (code, err)
    assert ["ID", "STATE", "SINCE", "TOKENS", "COST", "WHAT", "TITLE"] == out.split("\n")[0].split()
    assert chat in out

    found = state_of(here, chat)
    assert {"cost_micros", "tokens", "attention", "what", "title"} <= found.keys()
    assert (4, "") == run("chats", "--once", "--url", "http://127.0.0.1:1", **here)[:2]


def test_a_chat_is_opened_and_the_board_comes_back(board, here):
    begun(here, "[[text: well answered]] Say hello")
    terminal = board("--filter", "all")
    terminal.until("▸")
    terminal.types("\x1b[F\r")
    terminal.until("● connected")
    terminal.types("\x04")
    terminal.until(lambda text: "q leave" in text and terminal.written.count(OPEN.encode()) == 2)
    terminal.types("q")
    assert 0 == terminal.ends()


def test_a_board_goes_on_at_a_daemon_that_was_killed_and_started_elsewhere(board, top, provider):
    home = top / "other"
    settings = {"PROMPTCORNER_DATA_DIR": str(home)}
    with a_daemon(home, **QUICK, **provider.settings) as daemon:
        daemon.wait_ready()
        begun(settings, "[[text: one]] Say hello")
        terminal = board(settings=settings)
        terminal.until(lambda text: "1 chat ·" in text)
        daemon.process.kill()
        daemon.process.wait()
        terminal.until("no connection, it is tried again")
        with a_daemon(home, **QUICK, **provider.settings) as again:
            again.wait_ready()
            terminal.until(lambda text: "no connection" not in text and "1 chat ·" in text)
            begun(settings, "[[text: two]] Say hello")
            terminal.until(lambda text: "2 chats" in text)
            terminal.types("q")
            assert 0 == terminal.ends()
            again.stop()
