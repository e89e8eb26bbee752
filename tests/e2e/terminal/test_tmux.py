"""The chat inside a real tmux: keys are sent to it, and its own screen is read."""

import os
import shutil
import subprocess

import pytest

from tests.e2e.daemons import command, environment
from tests.e2e.processes import eventually
from tests.e2e.terminal.stories import AT_WORK

pytestmark = pytest.mark.slow

NO_TMUX = "no tmux: "  # tests/conftest.py says it in the last lines
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


class Tmux:
    """A server of tmux for one test, with one window."""

    def __init__(self, folder, words, settings, *, columns, lines):
        self._socket = str(folder / "tmux")
        self._settings = {**settings, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        size = ("-x", str(columns), "-y", str(lines))
        self._ask("-f", os.devnull, "-u", "new-session", "-d", *size, *words)

    def _ask(self, *words):
        words = ["tmux", "-S", self._socket, *map(str, words)]
        done = subprocess.run(
            words, env=self._settings, capture_output=True, text=True, check=True, cwd="/"
        )
        return done.stdout

    def types(self, text):
        self._ask("send-keys", "-l", text)

    def presses(self, *keys):
        self._ask("send-keys", *keys)

    def pastes(self, text):
        self._ask("set-buffer", text)
        self._ask("paste-buffer", "-p")

    def resize(self, columns, lines):
        self._ask("resize-window", "-x", columns, "-y", lines)

    @property
    def shown(self):
        return self._ask("capture-pane", "-p")

    @property
    def everything(self):
        """What has scrolled away, too, with lines joined that the width has broken."""
        return self._ask("capture-pane", "-p", "-J", "-S", "-")

    def until(self, *texts, gone=()):
        """Wait until these stand on the screen and those do not, once it is drawn whole.

        The cursor is hidden while the window is drawn; this tmux shows what has come of that.
        """

        def fits():
            flag, _, shown = self._ask(
                *("display-message", "-p", "#{cursor_flag}", ";", "capture-pane", "-p")
            ).partition("\n")
            is_there = all(text in shown for text in texts)
            return flag == "1" and is_there and not any(text in shown for text in gone)

        try:
            eventually(fits, f"{texts} stand there, and {gone} do not")
        except AssertionError as fault:
            raise AssertionError(f"{fault}:\n{self.shown}") from None
        return self.shown

    def close(self):
        self._ask("kill-server")


@pytest.fixture
def tmux(place, tmp_path):
    if shutil.which("tmux") is None:
        pytest.skip(f"{NO_TMUX}apt-get install tmux")
    words, _ = command("chat")
    opened = Tmux(tmp_path, words, environment(**place), columns=80, lines=24)
    yield opened
    opened.close()


def test_a_conversation_in_tmux(tmux):
    tmux.until("● new chat")
    tmux.pastes("[[text: # Rivers\n\n| name | km |\n|---|---|\n| Rhine | 1230 |]]\nthree\nlines")
    tmux.until("  lines")
    tmux.presses("Enter")
    shown = tmux.until("Rhine  1230", gone=AT_WORK)
    assert "| name" not in shown.split("lines")[-1], "a table is drawn"

    tmux.types("日本語")
    tmux.until("> 日本語")
    tmux.presses("BSpace", "Left")
    tmux.types("!")
    tmux.until("> 日!本")
    tmux.presses("C-u")
    tmux.types(f"[[text: 日本語 e\u0301 {FAMILY} and after it]] say")
    tmux.presses("Enter")
    tmux.until(f"\n日本語 e\u0301 {FAMILY} and after it\n", gone=AT_WORK)

    tmux.types("[[deltas: 10000]] [[delta-ms: 40]] [[delta-chars: 12]] talk")
    tmux.presses("Enter")
    tmux.until("answering")
    tmux.types("half a thou")
    tmux.until("> half a thou")
    tmux.resize(200, 60)
    eventually(lambda: max(map(len, tmux.shown.splitlines())) > 100, "the answer has the room")
    for columns in (150, 100, 60):  # as somebody drags the corner
        tmux.resize(columns, 20)
    tmux.types("ght")
    tmux.until("> half a thought", "\n" + "─" * 60 + "\n")
    tmux.presses("Escape")
    tmux.until("> half a thought", gone=AT_WORK)
    for once in ("> half a thought", "● connected", "ctrl-D leaves"):
        eventually(
            lambda text=once: 1 == tmux.everything.count(text), f"{once!r} stands there once"
        )
    assert "● new chat" not in tmux.everything, "a window that was erased scrolls nowhere"

    tmux.presses("C-c")
    tmux.until(gone=["> half a thought"])
    tmux.presses("C-o")
    tmux.until("there is no call and no thought yet")
    tmux.presses("C-r")
    tmux.until("I-search backward")
    tmux.types("three")
    tmux.until("  three", "  lines")
