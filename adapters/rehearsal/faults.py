"""What can go wrong with an answer, and with which answers: faults and rules, and their grammar.

    rules = rule {"," rule}                the first that fits wins
    rule = KIND [":" number] ["@" when]
    when = 3 | 3-5 | 10%                   that request, those requests, by chance; else always

Pure.
"""

import re
from dataclasses import dataclass
from random import Random
from typing import Literal, assert_never, get_args

RULES_MAX = 100  # more are refused
STATUS_MIN, STATUS_MAX = 400, 599
RETRY_AFTER_SECONDS_MAX = 86_400
NUMBER_MAX = 10**9

Break = Literal["reset", "hangup", "truncate", "silence", "garbage", "error"]
Ending = Literal["refusal", "filter", "length"]


@dataclass(frozen=True, slots=True)
class Status:
    """Refused with this HTTP status, in the vendor's words."""

    status: int
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Overflow:
    """The prompt is longer than the model's context."""


@dataclass(frozen=True, slots=True)
class Broken:
    """The answer breaks in its middle, after so many deltas; None: half of them."""

    how: Break
    after: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A whole answer, but not the wished one: withheld, or cut off at the limit of tokens."""

    why: Ending
    after: int | None = None


Fault = Status | Overflow | Broken | Ended


@dataclass(frozen=True, slots=True)
class Always:
    pass


@dataclass(frozen=True, slots=True)
class Numbered:
    """From the first request to the last, counted from 1."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ByChance:
    probability: float


When = Always | Numbered | ByChance


@dataclass(frozen=True, slots=True)
class Rule:
    fault: Fault
    when: When = Always()


_RULE = re.compile(r"(?P<kind>[a-z]+|\d{3})(?::(?P<number>\d+))?(?:@(?P<when>.+))?")
_SPAN = re.compile(r"(\d+)(?:-(\d+))?")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


def chosen(rules: tuple[Rule, ...], number: int, random: Random) -> Fault | None:
    """The fault of the first rule that fits this request."""
    return next((rule.fault for rule in rules if _fits(rule.when, number, random)), None)


def _fits(when: When, number: int, random: Random) -> bool:
    match when:
        case Always():
            return True
        case Numbered(first, last):
            return first <= number <= last
        case ByChance(probability):
            return random.random() < probability
        case _:
            assert_never(when)


def spelled(rule: Rule) -> str:
    """The rule in its own grammar."""
    match rule.fault:
        case Status(status, number):
            kind = str(status)
        case Overflow():
            kind, number = "overflow", None
        case Broken(kind, number) | Ended(kind, number):
            pass
        case _:
            assert_never(rule.fault)
    return kind + ("" if number is None else f":{number}") + _spelled_when(rule.when)


def _spelled_when(when: When) -> str:
    match when:
        case Always():
            return ""
        case Numbered(first, last):
            return f"@{first}" if first == last else f"@{first}-{last}"
        case ByChance(probability):
            return f"@{probability * 100:g}%"
        case _:
            assert_never(when)


def read_rules(text: str) -> tuple[Rule, ...]:
    """The rules a text says; ValueError says what is wrong with it."""
    rules = tuple(_rule(part.strip()) for part in text.split(",") if part.strip())
    if len(rules) > RULES_MAX:
        raise ValueError(f"has {len(rules)} rules, may have {RULES_MAX}")
    return rules


def _rule(text: str) -> Rule:
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise ValueError(f"has {text!r}, must be like 529, 429:30@1-3, reset:5@10%")
    number = None if parts["number"] is None else min(int(parts["number"]), NUMBER_MAX)
    return Rule(_fault(parts["kind"], number), _when(parts["when"]))


def _fault(kind: str, number: int | None) -> Fault:
    if kind.isdecimal():
        return _status(int(kind), number)
    if kind == "overflow":
        return Overflow()
    for how in get_args(Break):
        if how == kind:
            return Broken(how, number)
    for why in get_args(Ending):
        if why == kind:
            return Ended(why, number)
    known = ", ".join(("overflow", *get_args(Break), *get_args(Ending)))
    raise ValueError(f"has {kind!r}, must be a status of {STATUS_MIN}..{STATUS_MAX} or {known}")


def _status(status: int, retry_after_seconds: int | None) -> Status:
    if not STATUS_MIN <= status <= STATUS_MAX:
        raise ValueError(f"has the status {status}, must be {STATUS_MIN}..{STATUS_MAX}")
    if retry_after_seconds is not None and retry_after_seconds > RETRY_AFTER_SECONDS_MAX:
        raise ValueError(f"may ask to wait for {RETRY_AFTER_SECONDS_MAX} s")
    return Status(status, retry_after_seconds)


def _when(text: str | None) -> When:
    if text is None:
        return Always()
    if percent := _PERCENT.fullmatch(text):
        return ByChance(min(float(percent[1]) / 100, 1.0))
    if span := _SPAN.fullmatch(text):
        return Numbered(int(span[1]), int(span[2] or span[1]))
    raise ValueError(f"has @{text}, must be like @3, @3-5 or @10%")
