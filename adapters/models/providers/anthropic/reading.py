"""Anthropic's JSON as wire types: known, unknown (its kind, as text), or broken. Pure."""

from typing import get_args

import msgspec

from adapters.models.providers.anthropic import wire
from adapters.models.providers.broken import BrokenStream

_EVENTS: msgspec.json.Decoder[wire.Event] = msgspec.json.Decoder(wire.Event)
_BLOCKS: msgspec.json.Decoder[wire.Block] = msgspec.json.Decoder(wire.Block)
_KINDS = msgspec.json.Decoder(wire.Kinds)
_MESSAGES = msgspec.json.Decoder(wire.Message)
_FOUND: msgspec.json.Decoder[list[wire.WebSearchResult] | wire.WebSearchError] = (
    msgspec.json.Decoder(list[wire.WebSearchResult] | wire.WebSearchError)
)


def _kinds(union: object) -> frozenset[object]:
    return frozenset(kind.__struct_config__.tag for kind in get_args(union))


_EVENT_KINDS = _kinds(wire.Event)
_BLOCK_KINDS = _kinds(wire.Block)
_CHANGE_KINDS = _kinds(wire.Change)


def read_event(text: bytes) -> wire.Event | str:
    try:
        return _EVENTS.decode(text)
    except msgspec.MsgspecError as error:
        if (kind := _unknown(text)) is not None:
            return kind
        raise BrokenStream(f"anthropic: event: {error}") from error


def read_block(raw: msgspec.Raw) -> wire.Block | str:
    try:
        return _BLOCKS.decode(raw)
    except msgspec.MsgspecError as error:
        kind = _kinds_of(raw).type
        if kind and kind not in _BLOCK_KINDS:
            return kind
        raise BrokenStream(f"anthropic: content: {error}") from error


def read_message(body: bytes) -> wire.Message:
    try:
        return _MESSAGES.decode(body)
    except msgspec.MsgspecError as error:
        raise BrokenStream(f"anthropic: message: {error}") from error


def read_found(content: msgspec.Raw) -> list[wire.WebSearchResult] | wire.WebSearchError:
    try:
        return _FOUND.decode(content)
    except msgspec.MsgspecError as error:
        raise BrokenStream(f"anthropic: web_search_tool_result: {error}") from error


def _unknown(text: bytes) -> str | None:
    """The first kind in an event that we do not know; None: all are known, so it is broken."""
    event = _kinds_of(text)
    if event.type and event.type not in _EVENT_KINDS:
        return event.type
    block, change = event.content_block, event.delta
    if block and block.type and block.type not in _BLOCK_KINDS:
        return block.type
    if event.type == "content_block_delta" and change and change.type not in _CHANGE_KINDS:
        return change.type or None
    return None


def _kinds_of(text: bytes | msgspec.Raw) -> wire.Kinds:
    try:
        return _KINDS.decode(text)
    except msgspec.MsgspecError:
        return wire.Kinds()
