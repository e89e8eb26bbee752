"""The behaviour of the model: what it says, how fast, in which pieces, and what goes wrong. Pure.

Faults are written in a grammar of their own:

    rules = rule {"," rule}                the first that fits wins
    rule = KIND [":" number] ["@" when]
    when = 3 | 3-5 | 10%                   that request, those requests, by chance; else always
"""

import re
from dataclasses import dataclass
from random import Random
from typing import Literal, assert_never, get_args

RULES_MAX = 100  # rules of a behaviour; more are refused
STATUS_MIN, STATUS_MAX = 400, 599
RETRY_AFTER_SECONDS_MAX = 86_400
NUMBER_MAX = 10**9

Break = Literal["reset", "hangup", "truncate", "silence", "garbage", "error"]
Ending = Literal["refusal", "filter", "length", "pause"]


@dataclass(frozen=True, slots=True)
class ErrorStatus:
    """A refusal with this HTTP status, in the vendor's words."""

    status: int
    retry_after_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class ContextOverflow:
    """A refusal because the prompt is longer than the model's context."""


@dataclass(frozen=True, slots=True)
class BrokenAnswer:
    """An answer that breaks after so many deltas; None: after half of them."""

    how: Break
    after: int | None = None


@dataclass(frozen=True, slots=True)
class EndedEarly:
    """An answer that ends regularly, but is refused, cut off at the limit of tokens, or paused."""

    why: Ending
    after: int | None = None


Fault = ErrorStatus | ContextOverflow | BrokenAnswer | EndedEarly


@dataclass(frozen=True, slots=True)
class Always:
    """Every request."""

    pass


@dataclass(frozen=True, slots=True)
class OnNumbers:
    """The requests from the first number to the last, counted from 1."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ByChance:
    """Each request with this probability."""

    probability: float


When = Always | OnNumbers | ByChance


@dataclass(frozen=True, slots=True)
class FaultRule:
    """A fault, and the requests that it befalls."""

    fault: Fault
    when: When = Always()


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A call of a tool, with its arguments as JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """All settings of a model; `settings.py` has their bounds and says what each is for."""

    headers_ms: float = 0
    first_token_ms: float = 0
    delta_ms: float = 0
    jitter: float = 0
    deltas: int = 20
    delta_chars: int = 5
    text: str = ""
    reasoning: int = 0
    tool_calls: tuple[ScriptedCall, ...] = ()
    tool_rounds: int = 1
    preamble: int = 0
    events_per_write: int = 1
    writes_per_event: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int | None = None
    faults: tuple[FaultRule, ...] = ()
    models: tuple[str, ...] = ("rehearsal",)
    seed: int = 0
    script: tuple["Behaviour", ...] = ()


_RULE = re.compile(r"(?P<kind>[a-z]+|\d{3})(?::(?P<number>\d+))?(?:@(?P<when>.+))?")
_SPAN = re.compile(r"(\d+)(?:-(\d+))?")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")


def fault_of(rules: tuple[FaultRule, ...], number: int, random: Random) -> Fault | None:
    """Return the fault of the first rule that fits this request."""
    return next((rule.fault for rule in rules if _fits(rule.when, number, random)), None)


def _fits(when: When, number: int, random: Random) -> bool:
    match when:
        case Always():
            return True
        case OnNumbers(first, last):
            return first <= number <= last
        case ByChance(probability):
            return random.random() < probability
        case _:
            assert_never(when)


def rule_text(rule: FaultRule) -> str:
    """Return a rule in its own grammar."""
    match rule.fault:
        case ErrorStatus(status, number):
            kind = str(status)
        case ContextOverflow():
            kind, number = "overflow", None
        case BrokenAnswer(kind, number) | EndedEarly(kind, number):
            pass
        case _:
            assert_never(rule.fault)
    return kind + ("" if number is None else f":{number}") + _spelled_when(rule.when)


def _spelled_when(when: When) -> str:
    match when:
        case Always():
            return ""
        case OnNumbers(first, last):
            return f"@{first}" if first == last else f"@{first}-{last}"
        case ByChance(probability):
            return f"@{probability * 100:g}%"
        case _:
            assert_never(when)


def read_rules(text: str) -> tuple[FaultRule, ...]:
    """Return the rules in a text."""
    rules = tuple(_rule(part.strip()) for part in text.split(",") if part.strip())
    if len(rules) > RULES_MAX:
        raise ValueError(f"has {len(rules)} rules, may have {RULES_MAX}")
    return rules


def _rule(text: str) -> FaultRule:
    parts = _RULE.fullmatch(text)
    if parts is None:
        raise ValueError(f"has {text!r}, must be like 529, 429:30@1-3, reset:5@10%")
    number = None if parts["number"] is None else min(int(parts["number"]), NUMBER_MAX)
    return FaultRule(_fault(parts["kind"], number), _when(parts["when"]))


def _fault(kind: str, number: int | None) -> Fault:
    if kind.isdecimal():
        return _status(int(kind), number)
    if kind == "overflow":
        return ContextOverflow()
    for how in get_args(Break):
        if how == kind:
            return BrokenAnswer(how, number)
    for why in get_args(Ending):
        if why == kind:
            return EndedEarly(why, number)
    known = ", ".join(("overflow", *get_args(Break), *get_args(Ending)))
    raise ValueError(f"has {kind!r}, must be a status of {STATUS_MIN}..{STATUS_MAX} or {known}")


def _status(status: int, retry_after_seconds: int | None) -> ErrorStatus:
    if not STATUS_MIN <= status <= STATUS_MAX:
        raise ValueError(f"has the status {status}, must be {STATUS_MIN}..{STATUS_MAX}")
    if retry_after_seconds is not None and retry_after_seconds > RETRY_AFTER_SECONDS_MAX:
        raise ValueError(f"may ask to wait for {RETRY_AFTER_SECONDS_MAX} s")
    return ErrorStatus(status, retry_after_seconds)


def _when(text: str | None) -> When:
    if text is None:
        return Always()
    if percent := _PERCENT.fullmatch(text):
        return ByChance(min(float(percent[1]) / 100, 1.0))
    if span := _SPAN.fullmatch(text):
        return OnNumbers(int(span[1]), int(span[2] or span[1]))
    raise ValueError(f"has @{text}, must be like @3, @3-5 or @10%")
