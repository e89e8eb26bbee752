"""The assembly of deltas into parts: one reducer for all providers.

It reads no clock: the caller says what time it is. A part takes its place when it *ends*, so the
order of an answer is the order of ends. Until then its pieces lie side by side and are joined once:
a delta costs a look-up and an append.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import assert_never
from uuid import UUID

from actors.law.parts.deltas import (
    AnswerFailed,
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
    UsageReported,
)
from actors.law.parts.json_text import is_json, parsed, well_formed
from actors.law.parts.message import (
    EXECUTE,
    NO_USAGE,
    FilePart,
    JsonText,
    Part,
    ReasoningPart,
    SourcePart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.shell import parsed_commands


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """All that a model said to one prompt."""

    parts: tuple[Part, ...]
    reason: FinishReason
    usage: TokenUsage = NO_USAGE
    response_id: str | None = None
    context_limit: int | None = None
    refusal: ProviderRefusal | None = None
    # Of the calls that this answer began with, if its provider paused; `usage` is of the last one,
    # which has read what the others said.
    earlier_usages: tuple[TokenUsage, ...] = ()

    @property
    def local_calls(self) -> tuple[ToolCallPart, ...]:
        """Return the calls that the provider leaves to us."""
        calls = (part for part in self.parts if isinstance(part, ToolCallPart))
        return tuple(call for call in calls if not call.provider_executed)


@dataclass(slots=True)
class _Text:
    pieces: list[str] = field(default_factory=list)
    metadata: JsonText | None = None

    def part(self, now: datetime) -> TextPart | None:
        text = "".join(self.pieces)
        return TextPart(text, self.metadata) if text or self.metadata else None


@dataclass(slots=True)
class _Reasoning:
    started_at: datetime
    pieces: list[str] = field(default_factory=list)
    metadata: JsonText | None = None

    def part(self, now: datetime) -> ReasoningPart | None:
        text = "".join(self.pieces)
        if not (text or self.metadata):
            return None
        return ReasoningPart(text, self.started_at, now, self.metadata)


@dataclass(slots=True)
class _Input:
    """Arguments on their way. They become a part of their own only if the answer is cut short."""

    id: str
    name: str
    provider_executed: bool
    server: UUID | None
    started_at: datetime
    pieces: list[str] = field(default_factory=list)

    def part(self, now: datetime) -> ToolCallPart | None:
        args = json_or_none("".join(self.pieces))
        if args is None:
            return None
        return ToolCallPart(
            self.id,
            self.name,
            args,
            self.provider_executed,
            mcp_server_config_id=self.server,
            parsed_commands=_commands_of(self.name, args),
            created_at=self.started_at,
        )


NO_SERVERS: Mapping[str, UUID] = MappingProxyType({})


class Assembly:
    """An answer in the making. There is one for each attempt, used by one task.

    `servers` maps the names of tools to the servers that they belong to.
    """

    def __init__(self, servers: Mapping[str, UUID] = NO_SERVERS) -> None:
        self._servers = servers
        self._parts: list[Part] = []
        self._blocks: dict[str, _Text | _Reasoning] = {}  # in the order in which they began
        self._inputs: dict[str, _Input] = {}
        self._usage = NO_USAGE
        self._earlier_usages: tuple[TokenUsage, ...] = ()
        self._finished: AnswerFinished | None = None

    def add(self, delta: Delta, now: datetime) -> Part | None:
        """Take one delta in, and return the part that it completed, if any."""
        match delta:
            case TextDelta():
                if (coming := self._blocks.get(delta.block)) is None:
                    coming = self._blocks[delta.block] = _Text()
                coming.pieces.append(delta.text)
                return None
            case ReasoningDelta():
                if (coming := self._blocks.get(delta.block)) is None:
                    coming = self._blocks[delta.block] = _Reasoning(now)
                coming.pieces.append(delta.text)
                coming.metadata = delta.metadata or coming.metadata
                return None
            case ToolInputDelta():
                self._input(delta, now).pieces.append(delta.args_delta)
                return None
            case ToolInputStarted():
                self._input(delta, now)
                return None
            case UsageReported(usage):
                self._usage = merge_usage(self._usage, usage)
                return None
            case AnswerFinished():
                self._finish(delta, now)
                return None
            case AnswerFailed():
                return None  # nothing of a failed answer is kept, and nothing is asked of it
            case _:
                return self._ended(self._completed(delta, now))

    def began_at(self, block: str) -> datetime | None:
        """Return when the reasoning began that is still coming in this block."""
        coming = self._blocks.get(block)
        return coming.started_at if isinstance(coming, _Reasoning) else None

    def server_of(self, call: ToolInputStarted | ToolInputDelta | ToolCall) -> UUID | None:
        """Return the server whose tool is called, unless the provider runs the tool itself."""
        return None if call.provider_executed else self._servers.get(call.name)

    def answer(self) -> ModelAnswer:
        """Return the whole answer. Call it after `AnswerFinished` only."""
        assert self._finished is not None, "an answer has an end"
        end = self._finished
        return ModelAnswer(
            tuple(self._parts),
            end.reason,
            self._usage,
            end.response_id,
            end.context_limit,
            end.refusal,
            self._earlier_usages,
        )

    def go_on(self) -> None:
        """Take in what the provider says further to an answer that it has paused."""
        assert self._finished is not None, "only an answer that came to an end is gone on with"
        self._earlier_usages = (*self._earlier_usages, self._usage)
        self._usage, self._finished = NO_USAGE, None

    def cut_short(self, now: datetime) -> tuple[Part, ...]:
        """Return what was said so far, with unfinished text and reasoning.

        Calls whose arguments were still coming are kept if the arguments are whole JSON already.
        """
        blocks = (block.part(now) for block in self._blocks.values())
        calls = (call.part(now) for call in self._inputs.values())
        return (*self._parts, *(part for part in (*blocks, *calls) if part is not None))

    def _input(self, delta: ToolInputStarted | ToolInputDelta, now: datetime) -> _Input:
        if (coming := self._inputs.get(delta.id)) is None:
            server = self.server_of(delta)
            coming = _Input(delta.id, delta.name, delta.provider_executed, server, now)
            self._inputs[delta.id] = coming
        return coming

    def _completed(
        self,
        delta: TextEnded | ReasoningEnded | ToolCall | ProviderToolResult | SourceFound | FileMade,
        now: datetime,
    ) -> Part | None:
        match delta:
            case TextEnded(block, metadata) | ReasoningEnded(block, metadata):
                if (ended := self._blocks.pop(block, None)) is None:
                    return None  # it never said anything
                ended.metadata = metadata or ended.metadata
                return ended.part(now)
            case ToolCall():
                self._inputs.pop(delta.id, None)
                return _call(delta, self.server_of(delta), now)
            case ProviderToolResult(id, name, result, is_error, metadata):
                return ToolResultPart(
                    id,
                    name,
                    result,
                    is_error=is_error,
                    provider_executed=True,
                    created_at=now,
                    provider_metadata=metadata,
                )
            case SourceFound(id, url, title, metadata):
                return SourcePart(id, url, title, metadata)
            case FileMade(media_type, data, name, metadata):
                return FilePart(media_type, name, data=data, provider_metadata=metadata)
            case _:
                assert_never(delta)

    def _ended(self, part: Part | None) -> Part | None:
        if part is not None:
            self._parts.append(part)
        return part

    def _finish(self, delta: AnswerFinished, now: datetime) -> None:
        """Finish. Blocks that the provider forgot to end take their places in the order they
        began."""
        for block in self._blocks.values():
            self._ended(block.part(now))
        self._blocks.clear()
        self._usage = merge_usage(self._usage, delta.usage)
        self._finished = delta


def json_or_none(text: str) -> JsonText | None:
    return JsonText(well_formed(text)) if is_json(text) else None


def merge_usage(older: TokenUsage, newer: TokenUsage) -> TokenUsage:
    """Return `newer`, completed by what only `older` knows."""
    if newer == NO_USAGE:
        return older

    def pick(new: int | None, old: int | None) -> int | None:
        return old if new is None else new

    return TokenUsage(
        pick(newer.input_tokens, older.input_tokens),
        pick(newer.output_tokens, older.output_tokens),
        pick(newer.total_tokens, older.total_tokens),
        pick(newer.reasoning_tokens, older.reasoning_tokens),
        pick(newer.cache_creation_tokens, older.cache_creation_tokens),
        pick(newer.cache_read_tokens, older.cache_read_tokens),
    )


def _call(delta: ToolCall, server: UUID | None, now: datetime) -> ToolCallPart:
    """Return the part of a call. Arguments that are not JSON are left out, so that it is
    refused."""
    args = json_or_none(delta.args) if delta.args.strip() else JsonText("{}")
    return ToolCallPart(
        delta.id,
        delta.name,
        args,
        delta.provider_executed,
        mcp_server_config_id=server,
        parsed_commands=_commands_of(delta.name, args),
        created_at=now,
        provider_metadata=delta.metadata,
    )


def _commands_of(name: str, args: JsonText | None) -> tuple[tuple[str, ...], ...]:
    """Return what a command starts, as clients see it beside the call."""
    if name != EXECUTE or args is None:
        return ()
    found = parsed(args)
    command = found.get("command") if isinstance(found, dict) else None
    return parsed_commands(command) if isinstance(command, str) else ()
