"""What a provider says a step took. Pure data."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """None: it did not say. Input does not count what was read from or written to its cache;
    output counts reasoning, as it is paid for."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_creation_tokens: int | None = None
    cache_read_tokens: int | None = None


NO_USAGE = Usage()


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step cost, in millionths of a US dollar, and who says so. Unknown is None, never 0."""

    micros: int | None
    source: str  # table: the bundled prices; override: an administrator's; unknown; cut short


UNPRICED = Cost(None, "unknown")
CUT_SHORT = Cost(None, "cut short")  # of an answer: what it took is told at its end, if at all
