"""The decoder of Converse, event by event or whole, which makes deltas of it. Pure.

Only calls begin with an event of their own; texts and thoughts begin with their first piece. The
counts come behind the end of the message, so the answer ends with them, or with the body.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from actors.law.parts.deltas import (
    AnswerFinished,
    Delta,
    FinishReason,
    ProviderRefusal,
    ReasoningDelta,
    ReasoningEnded,
    TextDelta,
    TextEnded,
    ToolCall,
    ToolInputDelta,
    ToolInputStarted,
)
from actors.law.parts.message import NO_USAGE, JsonText, TokenUsage
from adapters.models.providers.bedrock.events import EventReader
from adapters.models.providers.bedrock_converse import wire
from adapters.models.providers.bedrock_converse.request import METADATA
from adapters.models.providers.faults import BrokenStream, ReportedFailure, SkippedKinds
from adapters.models.providers.sse import valid_text

_REASONS = {
    "end_turn": FinishReason.STOP,
    "stop_sequence": FinishReason.STOP,
    "tool_use": FinishReason.TOOL_CALLS,
    "max_tokens": FinishReason.LENGTH,
    "model_context_window_exceeded": FinishReason.LENGTH,
    "guardrail_intervened": FinishReason.CONTENT_FILTER,
    "content_filtered": FinishReason.CONTENT_FILTER,
}
# The model broke its own syntax: another try is likely to succeed.
_LOST = frozenset({"malformed_model_output", "malformed_tool_use"})

_STARTS = msgspec.json.Decoder(wire.BlockStart)
_CHANGES = msgspec.json.Decoder(wire.BlockDelta)
_STOPS = msgspec.json.Decoder(wire.BlockStop)
_ENDS = msgspec.json.Decoder(wire.MessageStop)
_METADATA = msgspec.json.Decoder(wire.Metadata)
_ANSWERS = msgspec.json.Decoder(wire.Answer)
_BLOCKS = msgspec.json.Decoder(wire.Block)


class ConverseDecoder:
    """A decoder of one answer. The input of `answer_tool` is the text of the answer."""

    truncated = "bedrock stream closed before messageStop"

    def __init__(
        self, *, answer_tool: str | None = None, skipped: SkippedKinds | None = None
    ) -> None:
        self._reader = EventReader()
        self._answer_tool = answer_tool
        self._skipped = skipped or SkippedKinds()
        self._calls: dict[int, tuple[wire.ToolUse, list[str]]] = {}  # that are coming, with input
        self._texts: set[int] = set()
        self._thoughts: set[int] = set()
        self._has_called = False
        self._usage = NO_USAGE
        self._reason: str | None = None  # once the message has ended

    def feed(self, data: bytes) -> list[Delta]:
        deltas: list[Delta] = []
        for kind, payload in self._reader.feed(data):
            try:
                deltas += self._event(kind, valid_text(payload))
            except msgspec.MsgspecError as error:
                raise BrokenStream(f"bedrock: {kind}: {error}") from error
        return deltas

    def close(self) -> list[Delta]:
        """Return the end, where a body ends without counts."""
        return [] if self._reason is None else [self._finished()]

    def whole(self, body: bytes) -> list[Delta]:
        """Return the deltas of an answer that was not streamed, as if it had been."""
        try:
            answer = _ANSWERS.decode(body)
            blocks = [(_BLOCKS.decode(raw), raw) for raw in answer.output.message.content]
        except msgspec.MsgspecError as error:
            raise BrokenStream(f"bedrock: answer: {error}") from error
        deltas = [
            delta
            for index, (block, raw) in enumerate(blocks)
            for delta in (*self._block(index, block, raw), *self._stop(index))
        ]
        self._reason, self._usage = answer.stop_reason, _usage(answer.usage)
        return [*deltas, self._finished()]

    def _event(self, kind: str, payload: bytes) -> Iterator[Delta]:
        match kind:
            case "contentBlockDelta":
                event = _CHANGES.decode(payload)
                yield from self._change(event.content_block_index, event.delta, payload)
            case "contentBlockStart":
                begun = _STARTS.decode(payload)
                yield from self._start(begun.content_block_index, begun.start, payload)
            case "contentBlockStop":
                yield from self._stop(_STOPS.decode(payload).content_block_index)
            case "messageStop":
                for index in sorted({*self._calls, *self._texts, *self._thoughts}):
                    yield from self._stop(index)
                self._reason = _ENDS.decode(payload).stop_reason
            case "metadata":
                self._usage = _usage(_METADATA.decode(payload).usage)
                if self._reason is not None:
                    yield self._finished()
            case "messageStart" | "initial-response":
                pass
            case _:
                self._skipped.add(kind)

    def _start(self, index: int, start: wire.Start, payload: bytes) -> Iterator[Delta]:
        call = start.tool_use
        if call is None:
            self._skip(payload, "start")
            return
        self._calls[index] = call, []
        self._has_called = True
        if call.name != self._answer_tool:
            yield ToolInputStarted(call.tool_use_id, call.name)

    def _change(self, index: int, change: wire.Change, payload: bytes) -> Iterator[Delta]:
        if change.text is not None:
            yield from self._text(index, change.text)
        elif change.tool_use is not None:
            yield from self._input(index, change.tool_use.input)
        elif change.reasoning_content is not None:
            found = change.reasoning_content
            yield from self._thought(index, found.text, found.signature, found.redacted_content)
        else:
            self._skip(payload, "delta")

    def _block(self, index: int, block: wire.Block, raw: msgspec.Raw) -> Iterator[Delta]:
        if block.text is not None:
            yield from self._text(index, block.text)
        elif block.tool_use is not None:
            yield from self._start(index, wire.Start(block.tool_use), raw)
            yield from self._input(index, bytes(block.tool_use.input).decode())
        elif (thoughts := block.reasoning_content) is not None:
            said = thoughts.reasoning_text or wire.ReasoningText()
            yield from self._thought(index, said.text, said.signature, thoughts.redacted_content)
        elif block.citations_content is not None:
            for piece in block.citations_content.content or ():
                yield from self._text(index, piece.text)
        else:
            self._skip(raw)

    def _text(self, index: int, text: str) -> Iterator[Delta]:
        if text:
            self._texts.add(index)
            yield TextDelta(f"text_{index}", text)

    def _input(self, index: int, piece: str) -> Iterator[Delta]:
        if index not in self._calls or not piece:
            return
        call, pieces = self._calls[index]
        pieces.append(piece)
        if call.name == self._answer_tool:
            self._texts.add(index)
            yield TextDelta(f"text_{index}", piece)
        else:
            yield ToolInputDelta(call.tool_use_id, call.name, piece)

    def _thought(
        self, index: int, text: str | None, signature: str | None, redacted: str | None
    ) -> Iterator[Delta]:
        noted: JsonText | None = None
        if signature:
            noted = _noted("signature", signature)
        elif redacted:
            noted = _noted("redacted", redacted)
        if text or noted:
            self._thoughts.add(index)
            yield ReasoningDelta(f"reasoning_{index}", text or "", noted)

    def _stop(self, index: int) -> Iterator[Delta]:
        if index in self._thoughts:
            self._thoughts.discard(index)
            yield ReasoningEnded(f"reasoning_{index}")
        if index in self._texts:
            self._texts.discard(index)
            yield TextEnded(f"text_{index}")
        call, pieces = self._calls.pop(index, (None, []))
        if call is not None and call.name != self._answer_tool:
            yield ToolCall(call.tool_use_id, call.name, JsonText("".join(pieces)))

    def _finished(self) -> AnswerFinished:
        said = self._reason or ""
        if said in _LOST:
            raise ReportedFailure(f"server error: {said}")
        if said == "tool_use" and not self._has_called:
            raise ReportedFailure("server error: tool_use without a call")
        reason = _REASONS.get(said, FinishReason.OTHER)
        is_odd = reason in (FinishReason.CONTENT_FILTER, FinishReason.OTHER)
        refusal = ProviderRefusal(said) if is_odd else None
        return AnswerFinished(reason, self._usage, refusal=refusal)

    def _skip(self, data: bytes | msgspec.Raw, inside: str | None = None) -> None:
        """Count a block of a kind that we do not know."""
        found = msgspec.json.decode(data, type=dict[str, Any])
        kinds = found if inside is None else found[inside]
        self._skipped.add(f"block {next(iter(kinds), '')}")


class WholeAnswerDecoder:
    """A decoder of an answer that comes whole where a stream was wanted."""

    truncated = "bedrock answer closed before its end"

    def __init__(self, decoder: ConverseDecoder) -> None:
        self._decoder = decoder
        self._body = bytearray()

    def feed(self, data: bytes) -> list[Delta]:
        self._body += data
        return []

    def close(self) -> list[Delta]:
        return self._decoder.whole(valid_text(bytes(self._body)))


def _noted(name: str, value: str) -> JsonText:
    return JsonText(msgspec.json.encode({METADATA: {name: value}}).decode())


def _usage(counts: wire.Usage | None) -> TokenUsage:
    if counts is None:
        return NO_USAGE
    return TokenUsage(
        counts.input_tokens,
        counts.output_tokens,
        counts.total_tokens,
        None,
        counts.cache_write_input_tokens,
        counts.cache_read_input_tokens,
    )
