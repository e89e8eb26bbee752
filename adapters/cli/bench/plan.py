"""A load: how many chats talk, how often, how fast, and what a model answers. Pure.

The command makes one of its flags; the processes of a run are told it as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

CHATS_MAX = 5_000  # of one run; more need several of these programs
ROWS_MAX = 8  # numbers of chats that one command tries
DELTA_CHARACTERS_MIN = 10  # as many as the moment needs at which a delta was sent
PROMPT = "Reply with one short sentence."

Pace = Literal["paced", "saturated"]


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """The size and the pace of a run."""

    chats: int
    turns: int
    deltas: int
    delta_chars: int
    delta_ms: float
    spread: float  # seconds over which the first turns begin
    think: float  # seconds between two turns of a chat
    pause: float  # seconds after all first turns, before the next ones
    rate: float  # turns begun in a second, whether or not earlier ones have ended; 0: closed loop
    interrupts: int
    seconds: float
    keep: bool
    prompt: str

    @property
    def answer_seconds(self) -> float:
        """The time that a model takes for an answer."""
        return self.deltas * self.delta_ms / 1000


class LoadTarget(msgspec.Struct, frozen=True, kw_only=True):
    """The daemon that is asked, and the model that its chats use."""

    url: str
    token: str
    organization: str
    model: str | None  # the id of its configuration; None: the daemon's default
    provider: str | None  # the URL of our fake provider, where it answers


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """All that the driver is told."""

    load: Load
    target: LoadTarget
    wants_progress: bool


@dataclass(frozen=True, slots=True)
class NumberFlag:
    """A number of the load: its bounds, what it is, and its default for both paces."""

    name: str
    low: float
    high: float
    help: str
    paced: float
    saturated: float
    is_whole: bool = True

    @property
    def default(self) -> str:
        """The default as the help says it."""
        both = {self.paced, self.saturated}
        return (
            f"{self.paced:g}" if len(both) == 1 else f"{self.paced:g}, saturated {self.saturated:g}"
        )

    def read(self, text: str) -> float:
        """Return the number; ValueError says which may be had."""
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        is_fit = self.low <= value <= self.high and (not self.is_whole or value == int(value))
        if not is_fit:
            raise ValueError(f"must be {self.bounds}")
        return int(value) if self.is_whole else value

    @property
    def bounds(self) -> str:
        return f"{self.low:g}..{self.high:g}"


TURNS = NumberFlag("turns", 1, 1_000, "turns of each chat", 4, 6)
FLAGS = (
    TURNS,
    NumberFlag("deltas", 1, 10_000, "deltas of an answer", 100, 100),
    NumberFlag("delta-chars", DELTA_CHARACTERS_MIN, 4_096, "characters of each", 20, 20),
    NumberFlag("delta-ms", 0, 10_000, "milliseconds between two", 20, 0, is_whole=False),
    NumberFlag("spread", 0, 600, "seconds over which first turns begin", 2.5, 0, is_whole=False),
    NumberFlag("think", 0, 600, "seconds between two turns of a chat", 0.5, 0, is_whole=False),
    NumberFlag("pause", 0, 600, "seconds after all first turns", 0, 0, is_whole=False),
    NumberFlag(
        "rate",
        0,
        10_000,
        "turns begun in a second, earlier ones ended or not; 0: a chat waits for its answer",
        0,
        0,
        is_whole=False,
    ),
    NumberFlag("interrupts", 0, 1_000, "turns that are interrupted at the end", 20, 0),
    NumberFlag("seconds", 1, 3_600, "for one row; what is not over then has failed", 120, 120),
)
CHATS = NumberFlag("chats", 1, CHATS_MAX, "chats at once", 100, 500)


def read_chats(text: str) -> tuple[int, ...]:
    """Return the numbers of chats of `10,100`, a row each; ValueError says what may be had."""
    numbers = tuple(int(CHATS.read(each)) for each in text.split(","))
    if len(numbers) > ROWS_MAX:
        raise ValueError(f"must be {ROWS_MAX} numbers at the most")
    return numbers


def load_of(pace: Pace, given: Mapping[str, Any], chats: int) -> Load:
    """Return the load of the flags that were given, the others as the pace has them."""
    values: dict[str, Any] = {}
    for flag in FLAGS:
        name = flag.name.replace("-", "_")
        wished = given.get(name)
        default = flag.paced if pace == "paced" else flag.saturated
        value = default if wished is None else wished
        values[name] = int(value) if flag.is_whole else float(value)
    values["interrupts"] = min(values["interrupts"], chats)
    words = str(given.get("prompt") or PROMPT)
    return Load(**values, chats=chats, keep=bool(given.get("keep")), prompt=words)


def default_chats(pace: Pace) -> tuple[int, ...]:
    """Return the numbers of chats where none is said."""
    return (int(CHATS.paced if pace == "paced" else CHATS.saturated),)
