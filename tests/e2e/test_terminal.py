"""`promptcorner chat` with one message, in a terminal and in a pipe, as a user types it."""

import contextlib
import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

import pytest

from tests.e2e.daemons import a_daemon, command, environment, run
from tests.e2e.processes import belonging_to, eventually
from tests.e2e.providers import a_provider
from tests.folders import a_folder, in_memory
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow

CONTROL = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]|\r")


@pytest.fixture(scope="module")
def here():
    """What a command on the machine of the daemon finds in its environment: no token."""
    with a_folder(in_memory()) as top:
        home = top / "home"
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


def test_a_script_whose_answer_is_interrupted_does_not_take_it_for_one(chatting):
    terminal = chatting("-m", "[[deltas: 10000]] [[delta-ms: 30]] go on")
    terminal.until("answering")

    terminal.types("\x03")

    assert 130 == terminal.ends()[0]


LOOKS = "[[tool-calls: list_templates:{}]] [[text: looked]] look"


def test_who_sits_there_is_asked_about_the_calls_of_one_message_too(chatting):
    terminal = chatting("-m", LOOKS)
    shown = terminal.until("? ")
    terminal.types("perhaps\n")
    terminal.until("? ")
    terminal.types("n not today\n")
    denied = terminal.until("looked")

    assert "list_templates" in shown
    assert "the user did not allow this call" in denied
    assert 0 == terminal.ends()[0]


def test_without_a_terminal_and_without_a_message_there_is_nothing_to_do(here):
    code, out, err = run("chat", **here)

    assert (1, "") == (code, out)
    assert "send a message with -m" in err


def test_chats_are_listed(here):
    run("chat", "-m", "[[text: x]] a title of some words", **here)

    code, out, _ = run("chat", "--list", **here)

    assert 0 == code
    assert "waiting" in out.splitlines()[1]
