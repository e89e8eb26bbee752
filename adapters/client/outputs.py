"""What comes of a call, as the daemon is told of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import msgspec

from actors.tools.truncation import truncated

RESULTS_BYTES_MAX = 256 * 1024  # that a daemon takes in one request; larger results are cut to fit

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Output:
    json: bytes
    is_error: bool = False

    @classmethod
    def of(cls, value: object) -> Self:
        """Raises what the encoder does about what is no JSON."""
        return cls(_encode(value))

    @classmethod
    def error(cls, text: str) -> Self:
        """In words for the model."""
        return cls(_encode({"error": text.encode("utf-8", "replace").decode()}), is_error=True)


LATE = Output.error("the tool did not finish in time")
TOO_LARGE = Output.error("the result was too large to be sent; ask for less")


def fitted(ids: Sequence[str], outputs: Sequence[Output]) -> Sequence[Mapping[str, Any]]:
    """The results of a request, all of them together within its bounds. If they are too much, each
    has its share."""
    whole = list(map(_result, ids, outputs))
    over = _size(whole) - RESULTS_BYTES_MAX
    if over <= 0:
        return whole
    room = RESULTS_BYTES_MAX - _size(list(map(_result, ids, [Output(b"0")] * len(ids))))
    share = room // len(ids)
    return [_result(id, _cut(output, share)) for id, output in zip(ids, outputs, strict=True)]


def _result(id: str, output: Output) -> Mapping[str, Any]:
    said = msgspec.Raw(output.json)
    return {"tool_call_id": id, "output": said, "is_error": output.is_error}


def _size(results: Sequence[Mapping[str, Any]]) -> int:
    return len(_encode({"results": results}))


def _cut(output: Output, bytes_max: int) -> Output:
    """Its beginning and its end, as a text."""
    if len(output.json) <= bytes_max:
        return output
    key, room = "error" if output.is_error else "output", bytes_max
    value = msgspec.json.decode(output.json)
    only = value.get(key) if isinstance(value, dict) and len(value) == 1 else value
    text = only if isinstance(only, str) else output.json.decode()
    while len(cut := _encode({key: truncated(text, room)})) > bytes_max and room > 0:
        room = min(room - 1, room * bytes_max // len(cut))  # what is escaped takes more
    return Output(cut, output.is_error)
