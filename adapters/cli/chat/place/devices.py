"""The user's own terminal: its look, its history of lines, its pager, its bell."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from prompt_toolkit.history import FileHistory
from prompt_toolkit.output.vt100 import Vt100_Output

from adapters.cli.chat.reading.drawing import Look

HISTORY_BYTES_MAX = 512 * 1024  # of typed lines; of a longer file the newer half is kept
PAGER = "less -R -+F -+X"
# Terminals that show OSC 9 as a notification, by what they call themselves.
NOTIFYING = frozenset({"iTerm.app", "WezTerm", "ghostty", "kitty", "WarpTerminal", "rio"})
LIGHT_BACKGROUNDS = frozenset({"7", "15"})
SYNC_BEGIN, SYNC_END = "\x1b[?2026h", "\x1b[?2026l"  # around what terminals are to show at once


class InlineOutput(Vt100_Output):
    """A terminal whose scroll-back is the user's: what is erased must not go there.

    It shows nothing that is half drawn, if it knows the marks around what is drawn.
    """

    _is_held = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """Write what is drawn in the block as one, at its end."""
        self._is_held = True
        try:
            yield
        finally:
            self._is_held = False
            self.flush()

    def flush(self) -> None:
        """Write what has been drawn, unless more of it is to come."""
        if self._is_held:
            return
        if self._buffer:
            self._buffer = [SYNC_BEGIN, *self._buffer, SYNC_END]
        super().flush()

    def erase_down(self) -> None:
        """Erase from the beginning of this line to the end of the screen.

        tmux keeps in its scroll-back what is erased from the very first cell of the screen on, so
        a space is written there.
        """
        self.write_raw(" \x1b[J\r")


def is_dumb(environment: Mapping[str, str]) -> bool:
    """Tell whether the terminal cannot move its cursor."""
    return environment.get("TERM", "dumb") in ("dumb", "unknown", "")


def is_light(theme: str, environment: Mapping[str, str]) -> bool:
    """Tell whether the background is light, as far as anything says so."""
    if theme != "auto":
        return theme == "light"
    return environment.get("COLORFGBG", "").rpartition(";")[2] in LIGHT_BACKGROUNDS


def look_at(width: int, *, theme: str, is_plain: bool) -> Look:
    """Return how items are drawn here."""
    has_colour = not os.environ.get("NO_COLOR") and not is_plain
    return Look(width, has_colour, is_light(theme, os.environ), is_plain)


def bell_text(why: str, bell: str, environment: Mapping[str, str]) -> str:
    """Return what rings, and shows a notification where the terminal can."""
    if bell == "off":
        return ""
    words = "".join(letter for letter in why if letter.isprintable())
    can_notify = environment.get("TERM_PROGRAM", "") in NOTIFYING or "KITTY_PID" in environment
    note = f"\x1b]9;promptcorner: {words}\x07" if bell == "notify" and can_notify else ""
    return f"\a{note}"


def history_of_lines() -> FileHistory | None:
    """Return the lines that were typed in all chats, or None if they cannot be kept.

    They are readable for the user alone, as messages are.
    """
    path = platformdirs.user_state_path("promptcorner") / "chat_history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        shorten(path)
    except OSError:
        return None
    return FileHistory(str(path))


def shorten(path: Path) -> None:
    """Keep the newer half of a history that has grown too long; an entry begins with `# `."""
    if path.stat().st_size <= HISTORY_BYTES_MAX:
        return
    content = path.read_bytes()[-HISTORY_BYTES_MAX // 2 :]
    first = content.find(b"\n# ")
    path.write_bytes(content[first + 1 :] if first >= 0 else b"")


def show_in_pager(text: str) -> None:
    """Show a text in $PAGER, or less; without one it is written as it is."""
    words = shlex.split(os.environ.get("PAGER") or PAGER)
    if not words or shutil.which(words[0]) is None:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    subprocess.run(words, input=text.encode(errors="replace"), check=False)
