"""A request and its answer in words of no vendor. Pure data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Finish = Literal["stop", "tools", "length", "refusal", "filter", "pause"]
Json = Mapping[str, Any]


class BadRequest(Exception):
    """A request that the vendor would refuse with 400; its text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRequest:
    """The part of a request that decides about its answer."""

    model: str
    streamed: bool
    text: str  # of the last user message that has text
    rounds: int  # of tool results since then
    offers_tools: bool
    forced: str | None = None  # the tool that must be called
    # Of the JSON that is wanted as text, or as the input of the forced tool.
    schema: Json | None = None
    wants_usage: bool = True
    echo: Json = field(default_factory=dict)  # what the vendor repeats in its answer
    body_bytes: int = 0
    said_before: str = ""  # of the same answer, which was paused and is to go on


@dataclass(frozen=True, slots=True)
class Speech:
    """A text, with its deltas as JSON strings, encoded once for all answers that say it."""

    whole: str
    deltas: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call of a tool in an answer; its id is without the vendor's prefix."""

    id: str
    name: str
    arguments: Speech


@dataclass(frozen=True, slots=True)
class UsageCounts:
    """The tokens of an answer.

    Cached and written ones are part of the input, thoughts are part of the output.
    """

    input: int
    output: int
    cached: int
    cache_write: int
    reasoning: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedAnswer:
    """A whole answer."""

    id: str  # 24 characters, without the vendor's prefix
    created: int
    request: ModelRequest
    reasoning: Speech
    text: Speech
    refusal: Speech
    calls: tuple[AnsweredCall, ...]
    finish: Finish
    usage: UsageCounts

    @property
    def delta_count(self) -> int:
        """Return the number of deltas in all texts of the answer."""
        spoken = (self.reasoning, self.text, self.refusal, *(call.arguments for call in self.calls))
        return sum(len(speech.deltas) for speech in spoken)


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One event of a stream; `timed`: it is a delta, which the model takes its time for."""

    data: bytes
    timed: bool = False


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """An HTTP answer in place of a model's."""

    status: int
    document: Json
    headers: tuple[tuple[str, str], ...] = ()
