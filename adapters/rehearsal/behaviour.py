"""How the model behaves: what it says, how fast, in which pieces, and what goes wrong. Data."""

from dataclasses import dataclass

from adapters.rehearsal.faults import Rule


@dataclass(frozen=True, slots=True)
class Call:
    """A tool, and its arguments as JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One setting a field; `settings.py` has their bounds and says what each is for."""

    headers_ms: float = 0
    first_token_ms: float = 0
    delta_ms: float = 0
    jitter: float = 0
    deltas: int = 20
    delta_chars: int = 5
    text: str = ""
    reasoning: int = 0
    tool_calls: tuple[Call, ...] = ()
    tool_rounds: int = 1
    preamble: int = 0
    events_per_write: int = 1
    writes_per_event: int = 1
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int | None = None
    faults: tuple[Rule, ...] = ()
    models: tuple[str, ...] = ("rehearsal",)
    seed: int = 0
    script: tuple["Behaviour", ...] = ()
