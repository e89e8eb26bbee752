"""The lines of `--json`: records that are made of the events of a chat. Pure.

Their form is a promise to programs, apart from the wire of the daemon: docs/commands.md describes
it, docs/chat-records.schema.json is made of the classes here:

    python -m adapters.cli.pipes.records docs/chat-records.schema.json

A new field, or a new type of record, leaves `VERSION` as it is: programs ignore what they do not
know. Any other change raises it.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from adapters.cli.pipes.outcomes import PipeEnd
from promptcorner_client.transcript import text_of
from promptcorner_client.wire import ChatMessage, ChatMessagePart, ChatStreamEvent

VERSION = 1
NOTHING = Raw(b"null")

T = TypeVar("T")


class BeginRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="begin"):
    """The first line, once the chat is known."""

    version: int = VERSION
    chat_id: UUID
    is_new: bool
    message_id: int | None  # of the message that was sent; null: it waits in the queue, or none was


class TextRecord(Struct, frozen=True, tag_field="type", tag="text"):
    """A piece of an answer that is being written; its message comes whole in the end."""

    text: str


class ReasoningRecord(Struct, frozen=True, tag_field="type", tag="reasoning"):
    """A piece of what the model thinks before it answers."""

    text: str


class OutputRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="output"):
    """A piece of what a tool writes while it runs; `replaces`: in the place of all before."""

    call_id: str
    text: str
    replaces: bool


class DroppedRecord(Struct, frozen=True, tag_field="type", tag="dropped"):
    """The pieces since the last message are void: the attempt broke off, and is made again."""


class MessageRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="message"):
    """A message that is kept. Its calls and results follow, a line each."""

    id: int
    role: str  # user, assistant or tool
    text: str
    reasoning: str
    files: Sequence[str]  # their names
    sources: Sequence[str]  # their addresses
    notices: Sequence[str]  # of policy hooks
    input_tokens: int | None  # null: the provider has not said
    output_tokens: int | None
    created_at: datetime


class CallRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="call"):
    """A call of a tool."""

    call_id: str
    tool: str
    arguments: Raw  # any JSON, usually an object


class ResultRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="result"):
    """The result of a call."""

    call_id: str
    tool: str
    is_error: bool
    result: Raw  # any JSON


class StatusRecord(Struct, frozen=True, tag_field="type", tag="status"):
    """Another status of the chat: running, waiting, requires_action, interrupting or error."""

    status: str


class RetryRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="retry"):
    """An attempt that failed, and the moment of the next one."""

    attempt: int  # that failed, counted from 1
    error: str
    kind: str | None
    retrying_at: datetime


class ErrorRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """The error with which the chat has stopped."""

    message: str
    detail: str | None
    kind: str | None


class QueuedText(Struct, frozen=True):
    """A message that waits for its turn."""

    id: int
    text: str


class QueueRecord(Struct, frozen=True, tag_field="type", tag="queue"):
    """All messages that wait for their turn, whenever they are others than before."""

    messages: Sequence[QueuedText]


class WaitingCall(Struct, frozen=True, kw_only=True):
    """A call that waits for a person, or for results of the chat's client."""

    chat_id: UUID
    call_id: str
    tool: str
    arguments: str  # JSON as text


class NeedsRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="needs"):
    """All calls that wait now; without any: those that waited do so no more."""

    why: str  # consent or tool_results
    calls: Sequence[WaitingCall]


class ResetRecord(Struct, frozen=True, tag_field="type", tag="reset"):
    """The messages so far are void: one was edited. Those that stand follow."""


class EndError(Struct, frozen=True, kw_only=True):
    """The error of a turn."""

    message: str
    detail: str | None
    kind: str | None


class EndRecord(Struct, frozen=True, kw_only=True, tag_field="type", tag="end"):
    """The last line: how the turn ended, and what it used."""

    outcome: str
    exit_code: int
    chat_id: UUID | None  # null: there is no chat, because it could not be begun
    answer: str  # the text of the last message of the model
    document: Raw  # the answer as JSON, with --output-schema; else null
    corrections: int  # how often the model was told that its answer does not fit
    needs: str | None  # consent, tool_results, question or plan
    question: str | None
    error: EndError | None
    input_tokens: int
    output_tokens: int
    cost_micros: int | None  # millionths of a dollar, of this turn; null: not known
    seconds: float


PipeRecord = (
    BeginRecord
    | TextRecord
    | ReasoningRecord
    | OutputRecord
    | DroppedRecord
    | MessageRecord
    | CallRecord
    | ResultRecord
    | StatusRecord
    | RetryRecord
    | ErrorRecord
    | QueueRecord
    | NeedsRecord
    | ResetRecord
    | EndRecord
)


class RecordMaker:
    """Makes records of events, one chat after its beginning."""

    def __init__(self) -> None:
        self._has_pieces = False  # of an attempt whose message has not come yet

    def records_of(self, event: ChatStreamEvent) -> Iterator[PipeRecord]:
        """Yield the records of one event, mostly one."""
        if event.message is not UNSET:
            self._has_pieces = self._has_pieces and event.message.role == "user"
            yield from _of_message(event.message)
        elif event.message_part is not UNSET:
            for record in _of_piece(event.message_part.part):
                self._has_pieces = True
                yield record
        elif event.type == "preview_reset":
            if self._has_pieces:
                self._has_pieces = False
                yield DroppedRecord()
        else:
            yield from _of_state(event)


def _of_message(message: ChatMessage) -> Iterator[PipeRecord]:
    parts = message.content or ()
    usage = message.usage
    yield MessageRecord(
        id=message.id,
        role=message.role,
        text=text_of(parts),
        reasoning="".join(part.text for part in parts if part.type == "reasoning"),
        files=[_file_name(part) for part in parts if part.type.startswith("file")],
        sources=[part.url for part in parts if part.type == "source"],
        notices=[part.text for part in parts if part.type == "hook-notice"],
        input_tokens=None if usage is UNSET else _known(usage.input_tokens),
        output_tokens=None if usage is UNSET else _known(usage.output_tokens),
        created_at=message.created_at,
    )
    for part in parts:
        id, tool = part.tool_call_id or "", part.tool_name or ""
        if part.type == "tool-call":
            arguments = NOTHING if part.args is UNSET else part.args
            yield CallRecord(call_id=id, tool=tool, arguments=arguments)
        elif part.type == "tool-result":
            result = NOTHING if part.result is UNSET else part.result
            is_error = part.is_error is True
            yield ResultRecord(call_id=id, tool=tool, is_error=is_error, result=result)


def _of_piece(part: ChatMessagePart) -> Iterator[PipeRecord]:
    if part.type == "text" and part.text:
        yield TextRecord(part.text)
    elif part.type == "reasoning" and part.text:
        yield ReasoningRecord(part.text)
    elif part.type == "tool-result" and part.result_delta is not UNSET:
        id, replaces = part.tool_call_id or "", part.result_reset is True
        yield OutputRecord(call_id=id, text=part.result_delta, replaces=replaces)


def _of_state(event: ChatStreamEvent) -> Iterator[PipeRecord]:
    match event.type:
        case "history_reset":
            yield ResetRecord()
        case "status" if event.status is not UNSET:
            yield StatusRecord(event.status.status)
        case "error" if event.error is not UNSET:
            detail, kind = _known(event.error.detail), _known(event.error.kind)
            yield ErrorRecord(message=event.error.message, detail=detail, kind=kind)
        case "retry" if event.retry is not UNSET:
            retry = event.retry
            yield RetryRecord(
                attempt=retry.attempt,
                error=retry.error,
                kind=_known(retry.kind),
                retrying_at=retry.retrying_at,
            )
        case "queue_update":
            waiting = event.queued_messages or ()
            yield QueueRecord([QueuedText(each.id, text_of(each.content)) for each in waiting])
        case "action_required" if event.action_required is not UNSET:
            calls = [
                _waiting(event.chat_id, each.tool_call_id, each.tool_name, each.args)
                for each in event.action_required.tool_calls
            ]
            yield NeedsRecord(why="tool_results", calls=calls)
        case "approvals" if event.approvals is not UNSET:
            calls = [
                _waiting(each.chat_id, each.tool_call_id, each.tool_name, each.args)
                for each in event.approvals
            ]
            yield NeedsRecord(why="consent", calls=calls)


def end_record(
    end: PipeEnd,
    *,
    chat: UUID | None,
    input_tokens: int,
    output_tokens: int,
    cost_micros: int | None,
    seconds: float,
) -> EndRecord:
    """Return the last line of a turn."""
    fault = end.fault
    error = None
    if fault is not None:
        error = EndError(
            message=fault.message, detail=fault.detail or None, kind=fault.kind or None
        )
    return EndRecord(
        outcome=end.outcome.value,
        exit_code=end.outcome.exit_code,
        chat_id=chat,
        answer=end.answer,
        document=NOTHING if end.document is None else Raw(end.document),
        corrections=end.corrections,
        needs=end.needs or None,
        question=end.question or None,
        error=error,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_micros=cost_micros,
        seconds=round(seconds, 3),
    )


def _waiting(chat: UUID, call: str, tool: str, arguments: str) -> WaitingCall:
    return WaitingCall(chat_id=chat, call_id=call, tool=tool, arguments=arguments)


def _known(value: T | UnsetType) -> T | None:
    return None if value is UNSET else value


def _file_name(part: ChatMessagePart) -> str:
    return part.name or part.file_name or part.media_type or part.type


def schema_text() -> str:
    """Return the JSON Schema of a line, as the file in docs/ has it."""
    schema = msgspec.json.schema(PipeRecord)
    named = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of promptcorner chat --json, version {VERSION}",
        **schema,
    }
    return json.dumps(named, indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_text())
