"""The decoder of Anthropic's events, which makes deltas of them. Pure.

A kind of event, block or delta that we do not know is counted and skipped, with all that belongs
to it; a known one that is broken fails the answer, and the failure says where it is broken.

The parts of an answer that only Anthropic understands stand in the metadata under `anthropic`:
`signature` or `redacted_data` of thoughts, `citations` of a text, `web_search` of a search's result
and `web_fetch` of a page's (as they came: they have to be sent back unchanged).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import assert_never, get_args

import msgspec

from actors.law.parts.deltas import (
    AnswerFinished,
    Delta,
    FinishReason,
    ProviderRefusal,
    ProviderToolResult,
    ReasoningDelta,
    ReasoningEnded,
    SourceFound,
    TextDelta,
    TextEnded,
    ToolCall,
    ToolInputDelta,
    ToolInputStarted,
    UsageReported,
)
from actors.law.parts.json_text import ANTHROPIC
from actors.law.parts.message import JsonText, TokenUsage
from adapters.models.providers.anthropic import wire
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds
from adapters.models.providers.sse import EventParser

EXCERPT_CHARACTERS_MAX = 2_000  # of a page, shown to people; the model has all that was read

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "pause_turn": FinishReason.PAUSED,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "tool_use": FinishReason.TOOL_CALLS,
    "refusal": FinishReason.CONTENT_FILTER,
}


@dataclass(slots=True)
class _Open:
    """A block that has begun; the pieces are those of a call's arguments."""

    block: wire.Block
    name: str
    pieces: list[str] = field(default_factory=list)
    citations: list[msgspec.Raw] = field(default_factory=list)


class MessageDecoder:
    """A decoder of one answer.

    `split` makes the JSON of events of the bytes of the stream. The input of `answer_tool` is the
    text of the answer. Kinds that are skipped are counted in `skipped`.
    """

    truncated = "anthropic stream closed before message_stop"

    def __init__(
        self,
        split: Callable[[bytes], Iterable[bytes]],
        *,
        answer_tool: str | None = None,
        skipped: SkippedKinds | None = None,
    ) -> None:
        self._split = split
        self._answer_tool = answer_tool
        self._skipped = skipped or SkippedKinds()
        self._open: dict[int, _Open] = {}
        self._id: str | None = None
        self._ending = wire.Ending()
        self._usage = wire.Usage()

    def feed(self, data: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        for text in self._split(data):
            event = read_event(text)
            if isinstance(event, wire.BlockDelta):  # nearly always
                change, opened = event.delta, self._open.get(event.index)
                if opened is None:
                    continue  # a change to a block that was skipped is skipped too
                if isinstance(change, wire.TextDelta):
                    deltas.append(TextDelta(opened.name, change.text))
                else:
                    deltas += self._change(opened, change)
            elif isinstance(event, str):
                self._skip(event)
            else:
                deltas += self._milestone(event)
                if isinstance(event, wire.MessageStop):
                    break
        return deltas

    def close(self) -> list[Delta]:
        return []

    def whole(self, body: bytes) -> list[Delta]:
        """Return the deltas of an answer that was not streamed, as if it had been."""
        message = read_message(body)
        deltas: list[Delta] = []
        for index, raw in enumerate(message.content):
            block = read_block(raw)
            if isinstance(block, str):
                self._skip(block)
                continue
            deltas += [*self._start(index, block), *self._stop(index)]
        self._id, self._usage = message.id, message.usage
        self._ending = wire.Ending(message.stop_reason, message.stop_details)
        return [*deltas, self._finished()]

    def _skip(self, kind: str) -> None:
        self._skipped.add(kind)

    def _milestone(self, event: wire.Milestone) -> Iterable[Delta]:
        match event:
            case wire.BlockStart():
                return self._start(event.index, event.content_block)
            case wire.BlockStop():
                return self._stop(event.index)
            case wire.MessageStart():
                self._id = event.message.id
                self._usage = event.message.usage
                return (UsageReported(_usage(self._usage)),)
            case wire.MessageDelta():
                self._ending = event.delta
                self._usage = _newer(self._usage, event.usage)
                return (UsageReported(_usage(self._usage)),)
            case wire.MessageStop():
                return (self._finished(),)
            case wire.Ping():
                return ()
            case wire.Error():
                raise ReportedFailure(f"{event.error.type}: {event.error.message}")
            case _:
                assert_never(event)

    def _start(self, index: int, block: wire.Block) -> Iterator[Delta]:
        name = str(index)
        self._open[index] = _Open(block, name)
        match block:
            case wire.Text():
                if block.text:
                    yield TextDelta(name, block.text)
                self._open[index].citations.extend(block.citations or ())
            case wire.Thinking():
                if block.thinking or block.signature:
                    yield ReasoningDelta(name, block.thinking, _signature(block.signature))
            case wire.RedactedThinking():
                yield ReasoningDelta(name, "", metadata({"redacted_data": block.data}))
            case wire.ToolUse():
                if block.name != self._answer_tool:
                    yield ToolInputStarted(block.id, block.name)
            case wire.ServerToolUse():
                yield ToolInputStarted(block.id, block.name, provider_executed=True)
            case wire.WebSearchToolResult():
                yield from _searched(block)
            case wire.WebFetchToolResult():
                yield from _fetched(block)
            case _:
                assert_never(block)

    def _change(self, opened: _Open, change: wire.Change) -> tuple[Delta, ...]:
        match change:
            case wire.TextDelta():
                return (TextDelta(opened.name, change.text),)
            case wire.ThinkingDelta():
                return (ReasoningDelta(opened.name, change.thinking),)
            case wire.InputDelta():
                return self._input(opened, change.partial_json)
            case wire.SignatureDelta():
                return (ReasoningDelta(opened.name, "", _signature(change.signature)),)
            case wire.CitationsDelta():
                opened.citations.append(change.citation)
                return ()
            case _:
                assert_never(change)

    def _input(self, opened: _Open, piece: str) -> tuple[Delta, ...]:
        if not piece:
            return ()
        opened.pieces.append(piece)
        match opened.block:
            case wire.ToolUse(_, name) if name == self._answer_tool:
                return (TextDelta(opened.name, piece),)
            case wire.ToolUse(id, name):
                return (ToolInputDelta(id, name, piece),)
            case wire.ServerToolUse(id, name):
                return (ToolInputDelta(id, name, piece, provider_executed=True),)
        return ()

    def _stop(self, index: int) -> Iterator[Delta]:
        opened = self._open.pop(index, None)
        if opened is None:
            return
        match opened.block:
            case wire.Text():
                cited = [msgspec.json.decode(raw) for raw in opened.citations]
                yield TextEnded(opened.name, metadata({"citations": cited}) if cited else None)
            case wire.Thinking() | wire.RedactedThinking():
                yield ReasoningEnded(opened.name)
            case wire.ToolUse(_, name, input) if name == self._answer_tool:
                if not opened.pieces:
                    yield TextDelta(opened.name, bytes(input).decode())
                yield TextEnded(opened.name)
            case wire.ToolUse(id, name, input):
                yield ToolCall(id, name, _args(opened, input))
            case wire.ServerToolUse(id, name, input):
                yield ToolCall(id, name, _args(opened, input), provider_executed=True)

    def _finished(self) -> AnswerFinished:
        reason = _REASONS.get(self._ending.stop_reason or "", FinishReason.OTHER)
        details = self._ending.stop_details
        refusal = ProviderRefusal(details.category, details.explanation) if details else None
        if refusal is None and reason is FinishReason.OTHER:
            refusal = ProviderRefusal(self._ending.stop_reason)
        return AnswerFinished(reason, _usage(self._usage), self._id, refusal=refusal)


def sse_split() -> Callable[[bytes], Iterable[bytes]]:
    parser = EventParser()
    return lambda data: [text for _, text in parser.feed(data)]


def metadata(notes: dict[str, object]) -> JsonText:
    return JsonText(msgspec.json.encode({ANTHROPIC: notes}).decode())


def _signature(signature: str) -> JsonText | None:
    return metadata({"signature": signature}) if signature else None


def _args(opened: _Open, input: msgspec.Raw) -> JsonText:
    return JsonText("".join(opened.pieces) or bytes(input).decode())


def _searched(block: wire.WebSearchToolResult) -> Iterator[Delta]:
    found = read_search_results(block.content)
    notes = metadata({"web_search": block.content})
    if isinstance(found, wire.WebSearchError):
        result = JsonText(msgspec.json.encode({"error": found.error_code}).decode())
        yield ProviderToolResult(block.tool_use_id, "web_search", result, True, notes)
        return
    result = JsonText(msgspec.json.encode(found).decode())
    yield ProviderToolResult(block.tool_use_id, "web_search", result, metadata=notes)
    for number, each in enumerate(found):
        yield SourceFound(f"{block.tool_use_id}-{number}", each.url, each.title)


def _fetched(block: wire.WebFetchToolResult) -> Iterator[Delta]:
    found = read_fetched_page(block.content)
    notes = metadata({"web_fetch": block.content})
    is_error = found.error_code is not None
    source = found.content.source
    told = {
        "error": found.error_code,
        "url": found.url,
        "title": found.content.title,
        "retrieved_at": found.retrieved_at,
        "excerpt": source.data[:EXCERPT_CHARACTERS_MAX] if source.type == "text" else None,
    }
    said = {name: value for name, value in told.items() if value}
    result = JsonText(msgspec.json.encode(said).decode())
    yield ProviderToolResult(block.tool_use_id, "web_fetch", result, is_error, notes)
    if not is_error:
        yield SourceFound(f"{block.tool_use_id}-0", found.url, found.content.title or "")


def _newer(older: wire.Usage, newer: wire.Usage) -> wire.Usage:
    def pick(new: int | None, old: int | None) -> int | None:
        return old if new is None else new

    return wire.Usage(
        pick(newer.input_tokens, older.input_tokens),
        pick(newer.output_tokens, older.output_tokens),
        pick(newer.cache_creation_input_tokens, older.cache_creation_input_tokens),
        pick(newer.cache_read_input_tokens, older.cache_read_input_tokens),
    )


def _usage(usage: wire.Usage) -> TokenUsage:
    counted = usage.input_tokens is not None or usage.output_tokens is not None
    return TokenUsage(
        usage.input_tokens,
        usage.output_tokens,
        (usage.input_tokens or 0) + (usage.output_tokens or 0) if counted else None,
        None,
        usage.cache_creation_input_tokens,
        usage.cache_read_input_tokens,
    )


_EVENTS: msgspec.json.Decoder[wire.Event] = msgspec.json.Decoder(wire.Event)
_BLOCKS: msgspec.json.Decoder[wire.Block] = msgspec.json.Decoder(wire.Block)
_KINDS = msgspec.json.Decoder(wire.Kinds)
_MESSAGES = msgspec.json.Decoder(wire.Message)
_FOUND: msgspec.json.Decoder[list[wire.WebSearchResult] | wire.WebSearchError] = (
    msgspec.json.Decoder(list[wire.WebSearchResult] | wire.WebSearchError)
)

_PAGES = msgspec.json.Decoder(wire.WebFetched)


def _kinds(union: object) -> frozenset[object]:
    return frozenset(kind.__struct_config__.tag for kind in get_args(union))


_EVENT_KINDS = _kinds(wire.Event)
_BLOCK_KINDS = _kinds(wire.Block)
_CHANGE_KINDS = _kinds(wire.Change)


def read_event(text: bytes) -> wire.Event | str:
    """Return an event, or its kind if that is not known. Raises `BrokenStream`."""
    try:
        return _EVENTS.decode(text)
    except msgspec.MsgspecError as error:
        if (kind := _unknown(text)) is not None:
            return kind
        raise BrokenStream(f"anthropic: event: {error}") from error


def read_block(raw: msgspec.Raw) -> wire.Block | str:
    """Return a block, or its kind if that is not known. Raises `BrokenStream`."""
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


def read_search_results(content: msgspec.Raw) -> list[wire.WebSearchResult] | wire.WebSearchError:
    try:
        return _FOUND.decode(content)
    except msgspec.MsgspecError as error:
        raise BrokenStream(f"anthropic: web_search_tool_result: {error}") from error


def read_fetched_page(content: msgspec.Raw) -> wire.WebFetched:
    try:
        found = _PAGES.decode(content)
    except msgspec.MsgspecError as error:
        raise BrokenStream(f"anthropic: web_fetch_tool_result: {error}") from error
    if not (found.url or found.error_code):
        raise BrokenStream("anthropic: web_fetch_tool_result: neither a page nor an error")
    return found


def _unknown(text: bytes) -> str | None:
    """Return the first kind in an event that we do not know; None: it is known, so broken."""
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
