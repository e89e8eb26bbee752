"""Findings of checks, a line each for people. Pure."""

from dataclasses import dataclass
from enum import Enum


class FindingState(Enum):
    """A verdict on what was found; the value is what people see."""

    OK = "ok"
    WARNING = "warn"  # it works, but perhaps not for long, or not as it should
    WRONG = "WRONG"


@dataclass(frozen=True, slots=True)
class Finding:
    """A fact about one subject, and what to do if it is wrong."""

    subject: str
    state: FindingState
    fact: str
    advice: str = ""  # what to do


def ok(subject: str, fact: str) -> Finding:
    return Finding(subject, FindingState.OK, fact)


def warning(subject: str, fact: str, advice: str) -> Finding:
    return Finding(subject, FindingState.WARNING, fact, advice)


def wrong(subject: str, fact: str, advice: str = "") -> Finding:
    return Finding(subject, FindingState.WRONG, fact, advice)


def from_refusal(subject: str, refusal: Exception) -> Finding:
    """Return a refusal of the daemon to start as a finding."""
    fact, _, advice = str(refusal).partition("; ")
    return wrong(subject, fact, advice)
