"""A command in a terminal of its own, and the screen that a person would see: a pty with pyte."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

import pyte

from tests.patience import PATIENCE_SECONDS


class ScreenTerminal:
    """A command in a terminal of `columns` by `lines`, which reads keys and keeps a screen."""

    def __init__(self, words, settings, *, columns=80, lines=24, cwd="/"):
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        has = {**settings, "TERM": "xterm-256color"}
        with open(theirs, "wb", buffering=0) as terminal:
            self.process = self._start(list(map(str, words)), has, terminal, cwd)
        self.written = b""  # all that the command has written

    @property
    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def _start(self, words, has, terminal, cwd):
        """Start the command; the terminal is that of a session of its own."""
        return subprocess.Popen(
            words,
            env=has,
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            start_new_session=True,
            preexec_fn=_take_terminal,  # so that control characters are signals
            cwd=cwd,
        )

    def types(self, keys):
        os.write(self._mine, keys.encode())

    def resize(self, columns, lines):
        self.screen.resize(lines, columns)
        fcntl.ioctl(self._mine, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def read(self, seconds):
        """Take in what the command writes, if it does within so long; tell whether it did."""
        if not select.select([self._mine], [], [], seconds)[0]:
            return False
        data = os.read(self._mine, 65_536)
        self.written += data
        self._stream.feed(data)
        return True

    def until(self, fits):
        """Follow the command until a text stands on the screen, or a question about it is true."""
        wanted = (lambda: fits in self.text) if isinstance(fits, str) else (lambda: fits(self.text))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not wanted():
            assert time.monotonic() < deadline, f"{fits!r} is not shown:\n{self.text}"
            try:
                self.read(0.2)
            except OSError:
                raise AssertionError(f"it has ended without {fits!r}:\n{self.text}") from None
        return self.text

    def ends(self):
        """Read to the end of the command; its exit code."""
        with contextlib.suppress(OSError):  # the other end is gone: everything has been read
            deadline = time.monotonic() + PATIENCE_SECONDS
            while time.monotonic() < deadline:
                self.read(0.2)
        return self.process.wait(PATIENCE_SECONDS)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._mine)


def _take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
