"""The decoder of generateContent, a chunk at a time or whole, which makes deltas of it. Pure.

There is no event for the end: the last chunk has a finish reason, and then the body ends. Calls
come whole. A signature belongs to the part it comes with; one that comes with no text belongs to
the text before it.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

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
)
from actors.law.parts.message import NO_USAGE, JsonText, TokenUsage
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds, error_text
from adapters.models.providers.google import wire
from adapters.models.providers.google.request import METADATA
from adapters.models.providers.sse import EventParser

_chunk = msgspec.json.Decoder(wire.Chunk).decode
_part = msgspec.json.Decoder(wire.Part).decode
_typed = msgspec.json.Decoder(wire.Typed).decode

_REASONS = {"STOP": FinishReason.STOP, "MAX_TOKENS": FinishReason.LENGTH}
_WITHHELD = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "MODEL_ARMOR",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)
# The model broke its own syntax: another try is likely to succeed.
_LOST = frozenset({"MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL"})


class GeminiDecoder:
    """A decoder of one answer.

    `nonce` makes ids for calls that come without. Kinds that are not known are counted.
    """

    truncated = "google stream closed before its end"

    def __init__(self, nonce: str, skipped: SkippedKinds | None = None) -> None:
        self._events = EventParser()
        self._nonce = nonce
        self._skipped = skipped or SkippedKinds()
        self._numbers = itertools.count()
        self._blocks = 0
        self._open: str | None = None  # the block of text or thoughts that is being said
        self._thinking = False  # which of the two it is
        self._called = False
        self._sources: set[str] = set()
        self._usage = NO_USAGE
        self._id: str | None = None
        self._end: tuple[FinishReason, ProviderRefusal | None] | None = None

    def feed(self, data: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        for _, event in self._events.feed(data):
            deltas.extend(self._take(event))
        return deltas

    def close(self) -> list[Delta]:
        if self._end is None:
            return []
        reason, refusal = self._end
        if self._called and reason is FinishReason.STOP:
            reason = FinishReason.TOOL_CALLS
        end = AnswerFinished(reason, self._usage, self._id, refusal=refusal)
        return [*self._end_block(None), end]

    def whole(self, body: bytes) -> list[Delta]:
        deltas = self._take(body)
        if self._end is None:
            raise BrokenStream("google: a whole answer without a finish reason")
        return [*deltas, *self.close()]

    def _take(self, data: bytes) -> list[Delta]:
        try:
            chunk = _chunk(data)
            if chunk.error is not None:
                raise ReportedFailure(error_text(chunk.error))
            return list(self._chunk(chunk))
        except msgspec.MsgspecError as error:
            raise BrokenStream(f"google: {error}") from error

    def _chunk(self, chunk: wire.Chunk) -> Iterator[Delta]:
        self._id = self._id or chunk.response_id
        counts = chunk.usage_metadata
        if counts is not None and counts.prompt_token_count is not None:
            self._usage = usage_of(counts)
        blocked = chunk.prompt_feedback
        if blocked is not None and blocked.block_reason:
            why = ProviderRefusal(blocked.block_reason, blocked.block_reason_message)
            self._end = FinishReason.CONTENT_FILTER, why
        for candidate in chunk.candidates or ():
            if candidate.index == 0:  # one answer was asked for
                yield from self._candidate(candidate)

    def _candidate(self, candidate: wire.Candidate) -> Iterator[Delta]:
        parts = candidate.content.parts if candidate.content else None
        for raw in parts or ():
            yield from self._part(_part(raw), raw)
        if candidate.grounding_metadata is not None:
            yield from self._add_sources(candidate.grounding_metadata)
        if candidate.url_context_metadata is not None:
            yield from self._add_pages(candidate.url_context_metadata)
        if (reason := candidate.finish_reason) is None:
            return
        if reason in _LOST:
            said = f": {candidate.finish_message}" if candidate.finish_message else ""
            raise ReportedFailure(f"server error: {reason}{said}")
        if reason in _WITHHELD:
            why = ProviderRefusal(reason, candidate.finish_message)
            self._end = FinishReason.CONTENT_FILTER, why
        else:
            known = _REASONS.get(reason)
            odd = None if known else ProviderRefusal(reason, candidate.finish_message)
            self._end = known or FinishReason.OTHER, odd

    def _part(self, part: wire.Part, raw: msgspec.Raw) -> Iterator[Delta]:
        signature = part.thought_signature or None
        metadata = _noted(thought_signature=signature) if signature else None
        if part.text is not UNSET:
            yield from self._add_text(part.text, metadata, thinking=part.thought is True)
        elif part.function_call is not UNSET:
            yield from self._end_block(None)
            self._called = True
            yield self._call(part.function_call, metadata)
        elif part.inline_data is not UNSET:
            yield from self._end_block(None)
            yield FileMade(part.inline_data.mime_type, part.inline_data.data, metadata=metadata)
        elif part.tool_call is not UNSET:
            yield from self._end_block(None)
            yield self._searched(part.tool_call, raw)
        elif part.tool_response is not UNSET:
            yield from self._end_block(None)
            yield self._search_ended(part.tool_response, raw)
        else:
            kinds = msgspec.json.decode(raw, type=dict[str, Any])
            self._skipped.add(f"part {next(iter(kinds), '')}")

    def _add_text(self, text: str, metadata: JsonText | None, *, thinking: bool) -> Iterator[Delta]:
        if not text and not (metadata and not thinking):
            return
        if self._open is None or (text and self._thinking is not thinking):
            yield from self._end_block(None)
            self._thinking = thinking
            self._open = f"{'reasoning' if thinking else 'text'}_{self._blocks}"
            yield self._delta(text)
        elif text:
            yield self._delta(text)
        if metadata is not None:
            yield from self._end_block(metadata)

    def _delta(self, text: str) -> Delta:
        assert self._open is not None, "a block is open"
        return ReasoningDelta(self._open, text) if self._thinking else TextDelta(self._open, text)

    def _end_block(self, metadata: JsonText | None) -> Iterator[Delta]:
        if self._open is None:
            return
        block, self._open = self._open, None
        self._blocks += 1
        yield ReasoningEnded(block, metadata) if self._thinking else TextEnded(block, metadata)

    def _call(self, call: wire.FunctionCall, metadata: JsonText | None) -> ToolCall:
        id = call.id or f"call_{self._nonce}_{next(self._numbers)}"
        return ToolCall(id, call.name, JsonText(bytes(call.args).decode()), metadata=metadata)

    def _searched(self, call: msgspec.Raw, raw: msgspec.Raw) -> ToolCall:
        tool = _typed(call)
        args = JsonText(bytes(tool.args).decode())
        metadata = _noted(part=raw)
        return ToolCall(tool.id, _tool_name(tool), args, provider_executed=True, metadata=metadata)

    def _search_ended(self, answer: msgspec.Raw, raw: msgspec.Raw) -> ProviderToolResult:
        tool = _typed(answer)
        result = JsonText(bytes(tool.response).decode())
        return ProviderToolResult(tool.id, _tool_name(tool), result, metadata=_noted(part=raw))

    def _add_sources(self, grounding: wire.Grounding) -> Iterator[Delta]:
        for chunk in grounding.grounding_chunks or ():
            if chunk.web is not None:
                yield from self._add_source(chunk.web.uri, chunk.web.title)

    def _add_pages(self, pages: wire.ReadPages) -> Iterator[Delta]:
        """Say which pages were read. One that could not be is not a source."""
        for page in pages.url_metadata or ():
            if page.url_retrieval_status.endswith("_SUCCESS"):
                yield from self._add_source(page.retrieved_url, "")

    def _add_source(self, url: str, title: str) -> Iterator[Delta]:
        if url and url not in self._sources:
            self._sources.add(url)
            yield SourceFound(f"source_{len(self._sources)}", url, title)


def usage_of(counts: wire.Usage) -> TokenUsage:
    """Return the tokens that were paid.

    Tokens read from a cache are counted apart; what a search fed back is input; thoughts are
    output.
    """
    cached = counts.cached_content_token_count
    prompt = (counts.prompt_token_count or 0) + (counts.tool_use_prompt_token_count or 0)
    output = (counts.candidates_token_count or 0) + (counts.thoughts_token_count or 0)
    return TokenUsage(
        max(0, prompt - (cached or 0)),
        output,
        counts.total_token_count,
        counts.thoughts_token_count,
        None,
        cached,
    )


def _tool_name(tool: wire.Typed) -> str:
    if tool.tool_type.startswith("GOOGLE_SEARCH"):
        return "web_search"
    return "web_fetch" if tool.tool_type == "URL_CONTEXT" else tool.tool_type.lower()


def _noted(**notes: object) -> JsonText:
    return JsonText(msgspec.json.encode({METADATA: notes}).decode())
