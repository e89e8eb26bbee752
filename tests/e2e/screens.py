"""A terminal with a screen in memory: a command runs in it, keys are typed, the screen is read."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from itertools import groupby
from unicodedata import normalize

import pyte
from wcwidth import wcwidth

from tests.e2e.daemons import a_copy, command, environment, is_forked
from tests.patience import PATIENCE_SECONDS

READ_BYTES = 65_536
SYNC_BEGIN, SYNC_END = b"\x1b[?2026h", b"\x1b[?2026l"  # around what is drawn as one
HISTORY_LINES = 5_000  # of what has scrolled away


class JoiningScreen(pyte.HistoryScreen):
    """A screen that keeps what takes no column of its own, such as a joiner of emoji, with the
    letter before it. pyte drops it, and all that is written behind it at once."""

    def draw(self, data):
        for takes_columns, letters in groupby(data, key=lambda letter: wcwidth(letter) != 0):
            if takes_columns:
                super().draw("".join(letters))
                continue
            row, at = self.buffer[self.cursor.y], max(0, self.cursor.x - 1)
            if not row[at].data:  # the right half of a wide letter
                at -= 1
            row[at] = row[at]._replace(data=normalize("NFC", row[at].data + "".join(letters)))


class ScreenTerminal:
    """Our command in a terminal of its own, so many columns wide and lines high.

    It is forked from a process that has imported it, unless it is to be a program started `anew`.
    """

    def __init__(self, *words, columns=80, lines=24, anew=False, **settings):
        self._screen = JoiningScreen(columns, lines, history=HISTORY_LINES, ratio=0.5)
        self._stream = pyte.ByteStream(self._screen)
        self._here, mine = pty.openpty()
        self.raw = b""  # all that was written
        self.last_at = 0.0  # when the last of it came
        self.resize(columns, lines, tells=False)
        has = environment(**{"TERM": "xterm-256color", "COLUMNS": "", "LINES": "", **settings})
        with open(mine, "wb", buffering=0) as terminal:
            if anew or not is_forked(settings):
                self.process = _a_program(words, has, terminal)
            else:
                self.process = a_copy(words, has, *[terminal] * 3, has_terminal=True)

    def resize(self, columns, lines, *, tells=True):
        """Give the terminal another size, as a user who drags its corner."""
        size = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._here, termios.TIOCSWINSZ, size)
        self._screen.resize(lines, columns)
        if tells:
            os.killpg(os.tcgetpgrp(self._here), signal.SIGWINCH)

    def types(self, text):
        os.write(self._here, text.encode())

    def pastes(self, text):
        """Paste a text, as a terminal hands it to a program that asked for pastes as a whole."""
        self.types(f"\x1b[200~{text}\x1b[201~")

    @property
    def shown(self):
        """The screen, without the spaces at the ends of its lines."""
        return "\n".join(line.rstrip() for line in self._screen.display)

    @property
    def is_half_drawn(self):
        """Whether the program has said that a screen begins, and not that it is complete."""
        return self.raw.rfind(SYNC_BEGIN) > self.raw.rfind(SYNC_END)

    @property
    def cursor(self):
        return self._screen.cursor.y, self._screen.cursor.x

    @property
    def before_cursor(self):
        """The letter on which the cursor would be, were it one further to the left."""
        return self._screen.buffer[self._screen.cursor.y][self._screen.cursor.x - 1].data

    @property
    def everything(self):
        """What has scrolled away, and the screen below it."""
        gone = (
            "".join(row[x].data for x in sorted(row)).rstrip() for row in self._screen.history.top
        )
        return "\n".join([*gone, self.shown])

    def read(self, seconds):
        """Follow the command for so long, or to its end; tell whether all of it has been read."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._here], [], [], left)[0]:
                try:
                    data = os.read(self._here, READ_BYTES)
                except OSError:  # the other end is gone
                    return True
                self.raw += data
                self.last_at = time.monotonic()
                self._stream.feed(data)
        return False

    def until(self, *texts, gone=(), all_of_it=False):
        """Follow the command until these stand on the screen and those do not; the screen then."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            shown = self.everything if all_of_it else self.shown
            missing = [text for text in texts if text not in shown]
            left_over = [
                text for text in ([gone] if isinstance(gone, str) else gone) if text in shown
            ]
            if not missing and not left_over and not self.is_half_drawn:
                return shown
            assert time.monotonic() < deadline, f"missing {missing}, still {left_over}:\n{shown}"
            self.read(0.02)

    def ends(self):
        """Follow the command to its end; its exit code."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self.read(0.02):
            assert time.monotonic() < deadline, f"it does not end:\n{self.shown}"
        return self.process.wait(PATIENCE_SECONDS)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            os.close(self._here)


def _a_program(words, has, terminal):
    words, how = command(*words)
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
    return subprocess.Popen(
        words,
        env=has,
        start_new_session=True,
        preexec_fn=_take_terminal,  # so that control characters are signals
        **streams,
        **how,
    )


def _take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
