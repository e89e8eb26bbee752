"""A request and its answer in words of no vendor: what was asked, and what is said to it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Finish = Literal["stop", "tools", "length", "refusal", "filter"]
Json = Mapping[str, Any]


class BadRequest(Exception):
    """A request that the vendor would refuse with 400; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """As much of a request as decides about its answer."""

    model: str
    streamed: bool
    text: str  # of the last message of the user that has any
    rounds: int  # of tool results since then
    offers_tools: bool
    forced: str | None = None  # the tool that must be called
    schema: Json | None = None  # of the JSON that is wished: as text, or as the forced tool's input
    wants_usage: bool = True
    echo: Json = field(default_factory=dict)  # what the vendor repeats in its answer
    body_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Speech:
    """A text, and its deltas as JSON strings, encoded once for all answers that say it."""

    whole: str
    deltas: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class SaidCall:
    """A call of a tool; its id without the vendor's prefix."""

    id: str
    name: str
    arguments: Speech


@dataclass(frozen=True, slots=True)
class Usage:
    """Cached and written tokens are part of the input, reasoning is part of the output."""

    input: int
    output: int
    cached: int
    cache_write: int
    reasoning: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A whole answer."""

    id: str  # 24 characters, without the vendor's prefix
    created: int
    asked: Asked
    reasoning: Speech
    text: Speech
    refusal: Speech
    calls: tuple[SaidCall, ...]
    finish: Finish
    usage: Usage

    @property
    def delta_count(self) -> int:
        spoken = (self.reasoning, self.text, self.refusal, *(call.arguments for call in self.calls))
        return sum(len(speech.deltas) for speech in spoken)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream as bytes; `timed`: a delta, which the model takes its time for."""

    data: bytes
    timed: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """An HTTP answer in place of a model's."""

    status: int
    document: Json
    headers: tuple[tuple[str, str], ...] = ()
