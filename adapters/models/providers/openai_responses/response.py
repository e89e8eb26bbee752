"""The decoder of the Responses API, which makes deltas of its answers. Pure.

An answer is a list of items, and a stream tells how each comes to be. A whole answer is read as if
each of its items had just ended. The metadata of a part keeps what only this interface understands
under `openai_responses`: `reasoning` is an encrypted or a plain item, `item` a search as it came,
`led_by` the reasoning before it, `phase` whether a text is a comment or the answer.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec

from actors.law.parts.deltas import (
    AnswerFinished,
    Delta,
    FileMade,
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
)
from actors.law.parts.message import NO_USAGE, JsonText, TokenUsage
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds, error_text
from adapters.models.providers.openai_responses import wire
from adapters.models.providers.openai_responses.request import METADATA
from adapters.models.providers.sse import EventParser

WEB_SEARCH = "web_search"
COMPUTER = "computer"
_BETWEEN_SUMMARIES = "\n\n"

_Item = (
    wire.MessageItem
    | wire.ReasoningItem
    | wire.FunctionCallItem
    | wire.ComputerCallItem
    | wire.WebSearchItem
    | wire.ImageItem
)
_ITEMS: dict[str, type[_Item]] = {
    "message": wire.MessageItem,
    "reasoning": wire.ReasoningItem,
    "function_call": wire.FunctionCallItem,
    "computer_call": wire.ComputerCallItem,
    "web_search_call": wire.WebSearchItem,
    "image_generation_call": wire.ImageItem,
}


class ResponsesDecoder:
    """A decoder of one answer. Kinds that are skipped are counted."""

    truncated = "openai responses stream closed before terminal event"

    def __init__(self, skipped: SkippedKinds | None = None) -> None:
        self._events = EventParser()
        self._skipped = skipped or SkippedKinds()
        self._spoken: set[str] = set()  # the blocks that have text
        self._calls: dict[str, wire.FunctionCallItem] = {}  # under way, by the ids of their items
        self._called = False
        self._summary: dict[str, int] = {}  # the summary that is being said, by item
        self._reasoning: str | None = None  # the item of reasoning that ended last
        self._sources: set[str] = set()
        self._refusal: list[str] = []
        self._over = False

    def feed(self, data: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        for name, event in self._events.feed(data):
            if self._over:
                break
            kind = name.decode() or read(wire.Typed, event).type
            if (hear := _HEARD.get(kind)) is not None:
                deltas.extend(hear(self, event))
            elif kind not in _SILENT:
                self._skipped.add(kind)
        return deltas

    def close(self) -> list[Delta]:
        return []

    def whole(self, body: bytes) -> list[Delta]:
        response = read(wire.Response, body)
        if response.output is None and response.error is None:
            raise BrokenStream("openai responses: a whole answer without output")
        deltas = [delta for item in response.output or () for delta in self._item_ended(item)]
        return [*deltas, *self._ended(response)]

    def on_item_begin(self, event: bytes) -> Iterator[Delta]:
        item = self._item(read(wire.ItemEvent, event).item, count=True)
        match item:
            case wire.FunctionCallItem():
                self._calls[item.id] = item
                yield ToolInputStarted(item.call_id, item.name)
            case wire.ComputerCallItem():
                yield ToolInputStarted(item.call_id, COMPUTER)
            case wire.WebSearchItem():
                yield ToolInputStarted(item.id, WEB_SEARCH, provider_executed=True)

    def on_item_end(self, event: bytes) -> Iterator[Delta]:
        return self._item_ended(read(wire.ItemEvent, event).item)

    def on_text(self, event: bytes) -> Iterator[Delta]:
        said = read(wire.TextDelta, event)
        if said.delta:
            block = f"{said.item_id}.{said.content_index}"
            self._spoken.add(block)
            yield TextDelta(block, said.delta)

    def on_refusal(self, event: bytes) -> Iterator[Delta]:
        self._refusal.append(read(wire.TextDelta, event).delta)
        return iter(())

    def on_thought(self, event: bytes) -> Iterator[Delta]:
        said = read(wire.TextDelta, event)
        self._spoken.add(said.item_id)
        yield ReasoningDelta(said.item_id, said.delta)

    def on_summary(self, event: bytes) -> Iterator[Delta]:
        """Return the deltas of a summary; each summary is a paragraph of the same thought."""
        said = read(wire.SummaryDelta, event)
        before = self._summary.get(said.item_id, said.summary_index)
        self._summary[said.item_id] = said.summary_index
        self._spoken.add(said.item_id)
        between = _BETWEEN_SUMMARIES if before != said.summary_index else ""
        yield ReasoningDelta(said.item_id, between + said.delta)

    def on_arguments(self, event: bytes) -> Iterator[Delta]:
        said = read(wire.ArgumentsDelta, event)
        call = self._calls.get(said.item_id)
        if call is not None and said.delta:
            yield ToolInputDelta(call.call_id, call.name, said.delta)

    def on_annotation(self, event: bytes) -> Iterator[Delta]:
        return self._source(read(wire.AnnotationAdded, event).annotation)

    def on_end(self, event: bytes) -> Iterator[Delta]:
        return self._ended(read(wire.ResponseEvent, event).response)

    def on_error(self, event: bytes) -> Iterator[Delta]:
        said = read(wire.ErrorEvent, event)
        flat = {"code": said.code, "message": said.message}
        raise ReportedFailure(error_text(said.error or flat))

    def _item(self, raw: msgspec.Raw, *, count: bool = False) -> _Item | None:
        kind = read(wire.Typed, raw).type
        if (item := _ITEMS.get(kind)) is not None:
            return read(item, raw)
        if count:
            self._skipped.add(f"item {kind}")
        return None

    def _item_ended(self, raw: msgspec.Raw) -> Iterator[Delta]:
        item = self._item(raw)
        match item:
            case wire.MessageItem():
                yield from self._message_ended(item)
            case wire.ReasoningItem():
                yield from self._reasoning_ended(item)
            case wire.FunctionCallItem():
                self._called = True
                self._calls.pop(item.id, None)
                yield ToolCall(item.call_id, item.name, JsonText(item.arguments or "{}"))
            case wire.ComputerCallItem():
                yield self._computer_called(item, raw)
            case wire.WebSearchItem():
                yield from self._search_ended(item, raw)
            case wire.ImageItem(_, str(image), format) if image:
                yield FileMade(f"image/{format}", image)

    def _message_ended(self, item: wire.MessageItem) -> Iterator[Delta]:
        for index, part in enumerate(item.content):
            block = f"{item.id}.{index}"
            if part.text and block not in self._spoken:
                self._spoken.add(block)
                yield TextDelta(block, part.text)
            for annotation in part.annotations:
                yield from self._source(annotation)
            if block in self._spoken:
                yield TextEnded(block, _noted(phase=item.phase) if item.phase else None)
            if part.refusal and not self._refusal:
                self._refusal.append(part.refusal)

    def _reasoning_ended(self, item: wire.ReasoningItem) -> Iterator[Delta]:
        self._reasoning = item.id
        metadata = None
        if item.encrypted_content:
            kept = wire.KeptReasoning(item.id, item.summary, item.encrypted_content)
            metadata = _noted(reasoning=kept)
        elif item.content:
            texts = [{"type": "reasoning_text", "text": thought.text} for thought in item.content]
            metadata = _noted(reasoning=wire.KeptReasoning(item.id, item.summary, content=texts))
        if item.id not in self._spoken:
            summaries = [summary.get("text", "") for summary in item.summary]
            said = summaries or [thought.text for thought in item.content or ()]
            if not (said or metadata):
                return  # its thoughts are withheld, and cannot be sent back
            yield ReasoningDelta(item.id, _BETWEEN_SUMMARIES.join(said))
        yield ReasoningEnded(item.id, metadata)

    def _computer_called(self, item: wire.ComputerCallItem, raw: msgspec.Raw) -> Delta:
        """Return the call. Its item is noted: it goes back as it came, behind its reasoning."""
        self._called = True
        actions = item.actions if item.actions is not None else [item.action or {}]
        args: dict[str, Any] = {"actions": actions}
        if item.pending_safety_checks:
            args["pending_safety_checks"] = item.pending_safety_checks
        led_by = {"led_by": self._reasoning} if self._reasoning else {}
        spelled = JsonText(msgspec.json.encode(args).decode())
        return ToolCall(item.call_id, COMPUTER, spelled, metadata=_noted(item=raw, **led_by))

    def _search_ended(self, item: wire.WebSearchItem, raw: msgspec.Raw) -> Iterator[Delta]:
        led_by = {"led_by": self._reasoning} if self._reasoning else {}
        metadata = _noted(item=raw, **led_by)
        args = JsonText(bytes(item.action).decode())
        yield ToolCall(item.id, WEB_SEARCH, args, provider_executed=True, metadata=metadata)
        result = JsonText(msgspec.json.encode({"status": item.status}).decode())
        yield ProviderToolResult(item.id, WEB_SEARCH, result, is_error=item.status == "failed")

    def _source(self, annotation: wire.Annotation) -> Iterator[Delta]:
        if annotation.type != "url_citation":
            self._skipped.add(f"annotation {annotation.type}")
        elif annotation.url not in self._sources:
            self._sources.add(annotation.url)
            yield SourceFound(f"source_{len(self._sources)}", annotation.url, annotation.title)

    def _ended(self, response: wire.Response) -> Iterator[Delta]:
        self._over = True
        if response.status == "failed" or response.error:
            raise ReportedFailure(error_text(response.error or "server error: the response failed"))
        reason, refusal = self._outcome(response)
        usage = usage_of(response.usage) if response.usage else NO_USAGE
        yield AnswerFinished(reason, usage, response.id, refusal=refusal)

    def _outcome(self, response: wire.Response) -> tuple[FinishReason, ProviderRefusal | None]:
        if self._refusal:
            return FinishReason.CONTENT_FILTER, ProviderRefusal(None, "".join(self._refusal))
        if response.status != "incomplete":
            return FinishReason.TOOL_CALLS if self._called else FinishReason.STOP, None
        match response.incomplete_details:
            case wire.IncompleteDetails("max_output_tokens"):
                return FinishReason.LENGTH, None
            case wire.IncompleteDetails("content_filter"):
                return FinishReason.CONTENT_FILTER, ProviderRefusal()
        details = response.incomplete_details
        return FinishReason.OTHER, ProviderRefusal(details.reason if details else None)


_HEARD: dict[str, Callable[[ResponsesDecoder, bytes], Iterator[Delta]]] = {
    "response.output_text.delta": ResponsesDecoder.on_text,
    "response.reasoning_summary_text.delta": ResponsesDecoder.on_summary,
    "response.reasoning_text.delta": ResponsesDecoder.on_thought,
    "response.function_call_arguments.delta": ResponsesDecoder.on_arguments,
    "response.refusal.delta": ResponsesDecoder.on_refusal,
    "response.output_text.annotation.added": ResponsesDecoder.on_annotation,
    "response.output_item.added": ResponsesDecoder.on_item_begin,
    "response.output_item.done": ResponsesDecoder.on_item_end,
    "response.completed": ResponsesDecoder.on_end,
    "response.incomplete": ResponsesDecoder.on_end,
    "response.failed": ResponsesDecoder.on_end,
    "error": ResponsesDecoder.on_error,
}

# Known kinds that tell nothing which the end of an item does not tell.
_SILENT = frozenset(
    {
        "response.queued",
        "response.created",
        "response.in_progress",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.done",
        "response.refusal.done",
        "response.reasoning_text.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.done",
        "response.function_call_arguments.done",
        "response.image_generation_call.in_progress",
        "response.image_generation_call.generating",
        "response.image_generation_call.partial_image",
        "response.image_generation_call.completed",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching",
        "response.web_search_call.completed",
    }
)


def usage_of(counts: wire.Usage) -> TokenUsage:
    """Return the tokens that were paid.

    Tokens read from or written to the cache are counted apart; thoughts are output.
    """
    details = counts.input_tokens_details or wire.InputDetails()
    thoughts = counts.output_tokens_details or wire.OutputDetails()
    fresh = counts.input_tokens
    if fresh is not None:
        cached = (details.cached_tokens or 0) + (details.cache_write_tokens or 0)
        fresh = max(0, fresh - cached)
    return TokenUsage(
        fresh,
        counts.output_tokens,
        counts.total_tokens,
        thoughts.reasoning_tokens,
        details.cache_write_tokens,
        details.cached_tokens,
    )


def _noted(**notes: object) -> JsonText:
    return JsonText(msgspec.json.encode({METADATA: notes}).decode())


_T = TypeVar("_T")

_KINDS = (
    wire.ImageItem,
    wire.AnnotationAdded,
    wire.ArgumentsDelta,
    wire.ComputerCallItem,
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
    """Return JSON as a wire type. Raises `BrokenStream` with the type that could not be read."""
    try:
        found: _T = _DECODERS[kind].decode(data)
    except msgspec.MsgspecError as error:
        raise BrokenStream(f"openai responses: {kind.__name__}: {error}") from error
    return found
