"""One thing that was looked at. Pure."""

from dataclasses import dataclass
from enum import Enum


class State(Enum):
    """Value: what people see of it."""

    OK = "ok"
    WARNING = "warn"  # it works, but may not for long, or not as one would like
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Finding:
    subject: str
    state: State
    fact: str
    advice: str = ""  # what to do


def ok(subject: str, fact: str) -> Finding:
    return Finding(subject, State.OK, fact)


def warning(subject: str, fact: str, advice: str) -> Finding:
    return Finding(subject, State.WARNING, fact, advice)


def wrong(subject: str, fact: str, advice: str = "") -> Finding:
    return Finding(subject, State.WRONG, fact, advice)


def from_refusal(subject: str, refusal: Exception) -> Finding:
    """What would keep the daemon from starting, in its own words."""
    fact, _, advice = str(refusal).partition("; ")
    return wrong(subject, fact, advice)
