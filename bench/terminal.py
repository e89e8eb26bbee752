"""How quick is the chat in a terminal while an answer comes, and what does it cost?

On paper: a key is read, a row is compared and a few bytes are written: 5 ms. Fifty deltas a second
are drawn five times a second; a redraw is the last block through rich (2 ms) and the rows through
prompt_toolkit (2 ms), so 2 % of a core, and the events themselves 1 %.

The command runs in a terminal with a screen in memory, beside a daemon and a model of its own. A
letter is typed every 150 ms, and the time is taken until the bytes that follow hold it: a letter is
not in the answer, so it is its echo. A redraw is known by the mark that ends it, of the cursor.
"""

import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from bench.report import Target
from tests.e2e.daemons import a_daemon
from tests.e2e.providers import a_provider
from tests.e2e.screens import ScreenTerminal

QUESTION = "how quick is the chat in a terminal while an answer comes, and what does it cost?"
TARGETS = (
    Target("echo_p99_ms", "200 deltas/s: from a key to its echo, p99", at_most=30),
    Target("keys_lost", "keys that did not arrive on the line", at_most=0),
    Target("redraws_per_second", "the most redraws in any second", at_most=30),
    Target("cpu_percent", "50 deltas/s, nobody types: of a core", at_most=5),
)
TYPING_SECONDS, WATCHING_SECONDS = 60.0, 20.0
KEY_SECONDS = 0.15
LETTERS = "ÄÖÜßÆØÅÞ"  # in no answer of the model
REDRAW = re.compile(rb"\x1b\[\?25h")  # the cursor is shown again at the end of each
ECHO_SECONDS_MAX = 5.0
SETTLE_SECONDS = 2.0


def measure() -> dict[str, float]:
    with a_terminal() as start:
        return {**_typing(start()), **_watching(start())}


def _typing(terminal: Any) -> dict[str, float]:
    """Type beside 200 deltas a second; letters have to arrive, in their order."""
    terminal.types("[[deltas: 14000]] [[delta-ms: 5]] talk\r")
    terminal.until("answering")
    terminal.read(SETTLE_SECONDS)
    echoes, typed, redraws = [], "", []
    end = time.monotonic() + TYPING_SECONDS
    while time.monotonic() < end:
        letter = LETTERS[len(typed) % len(LETTERS)]
        typed += letter
        at, place = time.monotonic(), len(terminal.raw)
        terminal.types(letter)
        while letter.encode() not in terminal.raw[place:]:
            seen = len(terminal.raw)
            terminal.read(0.001)
            redraws += [time.monotonic()] * len(REDRAW.findall(terminal.raw[seen:]))
            assert time.monotonic() - at < ECHO_SECONDS_MAX, "a key has no echo"
        echoes.append(1_000 * (terminal.last_at - at))
        while time.monotonic() < at + KEY_SECONDS:
            seen = len(terminal.raw)
            terminal.read(0.005)
            redraws += [time.monotonic()] * len(REDRAW.findall(terminal.raw[seen:]))
    terminal.read(SETTLE_SECONDS)
    line = "".join(terminal.shown.split("\n──")[-1].split("> ")[-1].split("●")[0].split())
    return {
        "echo_p50_ms": round(statistics.median(echoes), 1),
        "echo_p99_ms": round(statistics.quantiles(echoes, n=100)[98], 1),
        "keys_typed": len(typed),
        "keys_lost": len(typed) - sum(letter in LETTERS for letter in line),
        "redraws_per_second": most_in_a_second(redraws),
    }


def _watching(terminal: Any) -> dict[str, float]:
    terminal.types("[[deltas: 2000]] [[delta-ms: 20]] talk\r")
    terminal.until("answering")
    terminal.read(SETTLE_SECONDS)
    process = psutil.Process(terminal.process.pid)
    before, began, place = process.cpu_times(), time.monotonic(), len(terminal.raw)
    terminal.read(WATCHING_SECONDS)
    after, seconds = process.cpu_times(), time.monotonic() - began
    spent = after.user + after.system - before.user - before.system
    return {
        "cpu_percent": round(100 * spent / seconds, 1),
        "watching_bytes_per_second": round((len(terminal.raw) - place) / seconds),
    }


def most_in_a_second(moments: list[float]) -> int:
    """Return the most of these moments that lie in one second."""
    first = most = 0
    for place, moment in enumerate(moments):
        while moments[first] <= moment - 1.0:
            first += 1
        most = max(most, place - first + 1)
    return most


@contextmanager
def a_terminal() -> Iterator[Any]:
    """A daemon with its model, and a function that opens the chat in a terminal."""
    opened = []
    with tempfile.TemporaryDirectory(prefix="promptcorner-bench-") as top:
        Path(top).chmod(0o711)
        home = Path(top) / "home"
        with a_provider() as provider, a_daemon(home, **provider.settings) as daemon:
            settings = {
                "PROMPTCORNER_URL": "http://" + daemon.wait_ready()["listen"],
                "PROMPTCORNER_DATA_DIR": str(home),
                "XDG_STATE_HOME": f"{top}/state",
            }

            def start() -> Any:
                for each in opened:
                    each.close()
                opened.append(ScreenTerminal("chat", columns=100, lines=30, anew=True, **settings))
                opened[-1].until("new chat")
                return opened[-1]

            try:
                yield start
            finally:
                for each in opened:
                    each.close()
                daemon.stop()
