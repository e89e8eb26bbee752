"""JSON of the Responses API as wire types. What is broken is refused, with its place. Pure."""

from typing import Any, TypeVar

import msgspec

from adapters.models.providers.broken import BrokenStream
from adapters.models.providers.openai_responses import wire

_T = TypeVar("_T")

_KINDS = (
    wire.AnnotationAdded,
    wire.ArgumentsDelta,
    wire.ErrorEvent,
    wire.FunctionCallItem,
    wire.ItemEvent,
    wire.MessageItem,
    wire.ReasoningItem,
    wire.Response,
    wire.ResponseEvent,
    wire.SummaryDelta,
    wire.TextDelta,
    wire.Typed,
    wire.WebSearchItem,
)
_DECODERS: dict[object, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in _KINDS
}


def read(kind: type[_T], data: bytes | msgspec.Raw) -> _T:
    try:
        found: _T = _DECODERS[kind].decode(data)
    except msgspec.MsgspecError as error:
        raise BrokenStream(f"openai responses: {kind.__name__}: {error}") from error
    return found
