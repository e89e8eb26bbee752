"""`promptcorner chat` in a terminal and in a pipe, as a person on the daemon's machine types it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import subprocess
import tempfile
import termios
import time
from pathlib import Path

import pytest

from tests.e2e.daemons import a_daemon, command, environment, run
from tests.e2e.processes import belonging_to, eventually
from tests.e2e.providers import a_provider
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r")


@pytest.fixture(scope="module")
def here():
    """What a command on the machine of the daemon finds in its environment: no token."""
    with tempfile.TemporaryDirectory(prefix="promptcorner-tests-") as top:
        Path(top).chmod(0o711)
        home = Path(top) / "home"
        quick = {"PROMPTCORNER_DRAIN_SECONDS": "1"}
        quick |= {"PROMPTCORNER_APPROVAL_RULES": "list_templates=ask,read_skill=ask"}
        with a_provider() as provider, a_daemon(home, **quick, **provider.settings) as daemon:
            url = "http://" + daemon.wait_ready()["listen"]
            yield {"PROMPTCORNER_URL": url, "PROMPTCORNER_DATA_DIR": str(home)}
            assert 0 == daemon.stop()
        eventually(lambda: not belonging_to(top), "every process of the daemon is gone")


class Terminal:
    """A command in a terminal of its own: what it shows, without colours."""

    def __init__(self, here, *words):
        self._here, mine = pty.openpty()
        words, how = command("chat", *words)
        settings = environment(**here, TERM="xterm-256color", COLUMNS="100", LINES="30")
        self.process = subprocess.Popen(
            words,
            env=settings,
            stdin=mine,
            stdout=mine,
            stderr=mine,
            start_new_session=True,
            preexec_fn=_take_terminal,  # so that control characters are signals
            **how,
        )
        os.close(mine)
        self.shown = b""

    def types(self, text):
        os.write(self._here, text.encode())

    def until(self, text):
        """Read until this has been shown; what was shown up to it."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        wanted = text.encode()
        while wanted not in (found := CONTROL.sub(b"", self.shown)):
            left = deadline - time.monotonic()
            assert left > 0, f"{text!r} was not shown, but {found.decode(errors='replace')}"
            if select.select([self._here], [], [], left)[0]:
                self.shown += os.read(self._here, 65_536)
        end = found.index(wanted) + len(wanted)
        self.shown = found[end:]  # what came in the same breath is still to be read
        return found[:end].decode(errors="replace")

    def ends(self):
        with contextlib.suppress(OSError):  # the other end is gone: everything has been read
            while True:
                self.shown += os.read(self._here, 65_536)
        return self.process.wait(PATIENCE_SECONDS), CONTROL.sub(b"", self.shown).decode()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._here)


def _take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def chatting(here):
    opened = []

    def start(*words):
        opened.append(Terminal(here, *words))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def test_a_chat_is_begun_left_and_taken_up_again(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types("[[text: the first answer]] hello\n")
    terminal.until("hello")
    terminal.until("the first answer")
    terminal.until("> ")
    terminal.types("\x04")
    code, shown = terminal.ends()
    [chat] = re.findall(r"promptcorner chat ([0-9a-f-]{36})", shown)

    again = chatting(chat)
    again.until("hello")
    again.until("the first answer")
    again.until("> ")
    again.types("[[text: the second answer]] and now\n")
    again.until("and now")
    again.until("the second answer")

    assert 0 == code


def test_ctrl_c_stops_an_answer_and_keeps_what_there_is(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types("[[deltas: 10000]] [[delta-ms: 30]] go on\n")
    terminal.until("answering")
    terminal.types("\x03")
    terminal.until("> ")

    terminal.types("[[text: still here]] are you there\n")
    terminal.until("still here")
    terminal.until("> ")
    terminal.types("/quit\n")

    assert 0 == terminal.ends()[0]


def test_a_script_whose_answer_is_interrupted_does_not_take_it_for_one(chatting):
    terminal = chatting("-m", "[[deltas: 10000]] [[delta-ms: 30]] go on")
    terminal.until("answering")

    terminal.types("\x03")

    assert 130 == terminal.ends()[0]


def test_ctrl_c_where_one_types_leaves(chatting):
    terminal = chatting()
    terminal.until("> ")

    terminal.types("\x03")

    assert 130 == terminal.ends()[0]


def test_an_error_is_said_and_the_chat_goes_on(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types("[[fault: 401]] hello\n")
    terminal.until("✗")
    terminal.until("> ")
    terminal.types("/edit [[text: better]] hello\n")
    terminal.until("better")


def test_a_chat_is_summed_up_and_says_what_it_cost(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types("/compact\n")
    terminal.until("there is no chat yet: send a message first")
    terminal.until("> ")
    terminal.types("[[text: well]] hello\n")
    terminal.until("well")
    terminal.until("> ")

    terminal.types("/compact\n")
    summed_up = terminal.until("> ")
    terminal.types("/compact\n")
    again = terminal.until("> ")
    terminal.types("/cost\n")
    cost = terminal.until("> ")

    assert "chat_summarized" in summed_up
    assert "✗" in again
    assert re.search(r"\d requests, \$\d+\.\d{4}", cost)


LOOKS = "[[tool-calls: list_templates:{}]] [[text: looked]] look"
LOOKS_AROUND = "[[tool-calls: list_templates:{} list_templates:{}]] [[text: looked around]] look"
LOOKS_TWICE = "[[tool-calls: list_templates:{}]] [[text: looked again]] look"


def test_whoever_sits_there_is_asked_and_may_deny_in_words(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types(f"{LOOKS}\n")
    shown = terminal.until("? ")
    terminal.types("perhaps\n")
    terminal.until("? ")
    terminal.types("n not today\n")
    denied = terminal.until("looked")
    terminal.until("> ")

    assert "list_templates" in shown
    assert "the user did not allow this call" in denied


def test_what_was_typed_before_one_was_asked_is_no_answer(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types(f"{LOOKS}\ny\n")
    terminal.until("? ")
    terminal.types("n\n")
    denied = terminal.until("looked")

    assert "the user did not allow this call" in denied


def test_what_is_allowed_once_is_asked_again_and_always_is_not(chatting):
    terminal = chatting()
    for answer in ("y", "a"):
        terminal.until("> ")
        terminal.types(f"{LOOKS}\n")
        terminal.until("? ")
        terminal.types(f"{answer}\n")
        terminal.until("looked")
    terminal.until("> ")
    terminal.types(f"{LOOKS_TWICE}\n")
    unasked = terminal.until("looked again")

    assert "y allows it once" not in unasked


def test_who_allows_a_tool_always_is_not_asked_about_the_next_call_of_it(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types(f"{LOOKS_AROUND}\n")
    terminal.until("? ")
    terminal.types("a\n")
    unasked = terminal.until("looked around")

    assert "y allows it once" not in unasked


def test_who_leaves_while_he_is_asked_is_asked_when_he_comes_back(chatting):
    terminal = chatting()
    terminal.until("> ")
    terminal.types(f"{LOOKS}\n")
    terminal.until("? ")
    terminal.types("\x04")
    code, shown = terminal.ends()
    [chat] = re.findall(r"promptcorner chat ([0-9a-f-]{36})", shown)

    again = chatting(chat)
    again.until("? ")
    again.types("y\n")
    again.until("looked")

    assert 1 == code


@pytest.mark.parametrize(("approve", "seen"), [("allow", "✓"), ("deny", "✗")])
def test_a_script_says_beforehand_what_becomes_of_calls(here, approve, seen):
    code, out, err = run("chat", "--approve", approve, "-m", LOOKS, **here)

    assert (0, "looked\n") == (code, out)
    assert f"{seen} list_templates" in err
    assert "waits for" not in err, "it is answered here"


def test_a_script_that_says_nothing_does_not_wait_for_somebody(here):
    code, out, err = run("chat", "-m", LOOKS, **here)

    assert (1, "") == (code, out)
    assert "waits for somebody's consent: list_templates" in err


def test_a_pipe_gets_the_answer_and_nothing_else(here):
    done = run("chat", "-m", "[[text: just this]] hello", **here)
    assert (0, "just this\n", "") == done

    code, out, err = run("chat", said="[[text: from a pipe]] hello", **here)
    assert (0, "from a pipe\n", "") == (code, out, err)


def test_a_pipe_is_told_of_a_failure_by_its_exit_code(here):
    code, out, err = run("chat", "-m", "[[fault: 401]] hello", **here)

    assert (1, "") == (code, out)
    assert err.startswith("✗")


def test_chats_are_listed(here):
    run("chat", "-m", "[[text: x]] a title of some words", **here)

    code, out, _ = run("chat", "--list", **here)

    assert 0 == code
    assert "waiting" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"PROMPTCORNER_TOKEN": "wrong"}, "promptcorner: token: the daemon does not know it"),
        ({"PROMPTCORNER_DATA_DIR": "/nonexistent"}, "promptcorner: token: none is set"),
        ({"PROMPTCORNER_URL": "http://127.0.0.1:1"}, "promptcorner: chat: http://127.0.0.1:1"),
    ],
    ids=["a wrong token", "no token", "no daemon"],
)
def test_who_cannot_get_in_is_told_why(here, settings, says):
    code, out, err = run("chat", "-m", "hello", **{**here, **settings})

    assert (1, "", 1) == (code, out, err.count("\n"))
    assert err.startswith(says)
