"""Calls of a program's tools: run while the chat waits for them, and their results sent.

All results that a chat waits for are sent in one request, and the daemon takes the first that is
valid: of two programs that answer the same calls, the slower one is told so and goes on. Calls that
the chat no longer waits for, because it was interrupted, another program was faster or the time is
over, are cancelled.
"""

import logging
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol, Self, TypeVar
from uuid import UUID

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import UNSET

from promptcorner_client import api
from promptcorner_client.api import ApiRequest
from promptcorner_client.errors import (
    CONNECTIONS_MAX,
    ConnectionFault,
    RequestRefused,
    ServerUnreachable,
    StreamEnded,
    seconds_before_retry,
)
from promptcorner_client.shared import truncate
from promptcorner_client.tools import SECONDS_MAX, ClientTool, ToolError
from promptcorner_client.transcript import Transcript
from promptcorner_client.wire import ChatMessage, ChatStreamEvent, ChatStreamToolCall

CALLS_AT_ONCE_MAX = 16  # of a chat; the others begin as these end
RESULTS_BYTES_MAX = 256 * 1024  # that a daemon takes in one request; larger results are cut to fit

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("promptcorner_client")


@dataclass(frozen=True, slots=True)
class CallOutput:
    """The result of a call, as JSON."""

    json: bytes
    is_error: bool = False

    @classmethod
    def of(cls, value: object) -> Self:
        """Encode what a tool returned; raise what the encoder raises if it is no JSON."""
        return cls(_encode(value))

    @classmethod
    def error(cls, text: str) -> Self:
        """Return an error in words for the model."""
        return cls(_encode({"error": text.encode("utf-8", "replace").decode()}), is_error=True)


LATE = CallOutput.error("the tool did not finish in time")
TOO_LARGE = CallOutput.error("the result was too large to be sent; ask for less")


class Requester(Protocol):
    """A client that can make requests."""

    async def request(self, request: ApiRequest[T]) -> T: ...


@dataclass(frozen=True, slots=True)
class PendingCalls:
    """The calls that a chat waits for at one time.

    The ids of calls may occur again later, those of messages do not.
    """

    calls: Sequence[ChatStreamToolCall]
    message: int  # the last one of the chat when it began to wait
    scope: anyio.CancelScope

    def is_over_by(self, message: ChatMessage) -> bool:
        """Tell whether the chat no longer waits once it has this message.

        Results of other calls may come meanwhile: a person denies a call of the same step.
        """
        if message.id <= self.message or message.role != "tool":
            return message.id > self.message
        ids = {call.tool_call_id for call in self.calls}
        return any(part.tool_call_id in ids for part in message.content or ())


class ToolRunner:
    """The tools of one chat: takes note of every event, and answers calls in `group`."""

    def __init__(
        self, client: Requester, chat: UUID, tools: Sequence[ClientTool], group: TaskGroup
    ) -> None:
        self._client = client
        self._chat = chat
        self._tools = {tool.name: tool for tool in tools}
        self._group = group
        self._pending: PendingCalls | None = None
        self.fault: RequestRefused | ServerUnreachable | None = None  # why results cannot be sent

    def note(self, event: ChatStreamEvent, transcript: Transcript) -> None:
        """Begin to run calls, or cancel them. The event has been applied to the transcript."""
        if self._pending is not None and _ends(self._pending, event, transcript):
            self._pending.scope.cancel()
            self._pending = None
        if event.type == "action_required" and transcript.pending and self._pending is None:
            last = max(transcript.messages, default=0)
            self._pending = PendingCalls(_distinct(transcript.pending), last, anyio.CancelScope())
            self._group.start_soon(self._answer, self._pending)

    async def _answer(self, pending: PendingCalls) -> None:
        with pending.scope:
            try:
                await self._submit(pending, await self._outputs(pending.calls))
            except (RequestRefused, ServerUnreachable) as fault:
                self.fault = fault
                self._group.cancel_scope.cancel()

    async def _outputs(self, calls: Sequence[ChatStreamToolCall]) -> Sequence[CallOutput]:
        """Run all calls and return their results in order, before the daemon stops waiting."""
        ends_at = anyio.current_time() + SECONDS_MAX
        slots = anyio.Semaphore(CALLS_AT_ONCE_MAX)
        outputs = [LATE] * len(calls)

        async def run(index: int, call: ChatStreamToolCall) -> None:
            async with slots:
                outputs[index] = await self._output(call, ends_at - anyio.current_time())

        async with anyio.create_task_group() as group:
            for index, call in enumerate(calls):
                group.start_soon(run, index, call)
        return outputs

    async def _output(self, call: ChatStreamToolCall, seconds: float) -> CallOutput:
        tool = self._tools.get(call.tool_name)
        if tool is None:
            return CallOutput.error(f"no program here runs a tool {call.tool_name}")
        arguments = tool.read(call.args)
        if isinstance(arguments, str):
            return CallOutput.error(arguments)
        output = LATE
        with anyio.move_on_after(min(tool.seconds, seconds)):
            try:
                output = CallOutput.of(await tool.run(arguments))
            except ToolError as error:
                output = CallOutput.error(str(error))
            except Exception as error:  # noqa: BLE001  # a bug in a tool is that tool's result
                _log.error("the tool %s failed", tool.name, exc_info=error)
                output = CallOutput.error("the tool failed unexpectedly")
        return output

    async def _submit(self, pending: PendingCalls, outputs: Sequence[CallOutput]) -> None:
        """Send the results until the daemon has taken them or the chat no longer waits for them."""
        ids = [call.tool_call_id for call in pending.calls]
        for attempt in count(1):
            try:
                if attempt > 1 and await self._is_over(pending):
                    return
                await self._client.request(api.tool_results(self._chat, fit_results(ids, outputs)))
                return
            except ServerUnreachable as unreachable:  # it may have taken them
                fault: RequestRefused | ServerUnreachable = unreachable
            except RequestRefused as refused:
                if refused.status in (400, 409):  # they are not, or no longer, what it waits for
                    level = logging.INFO if refused.status == 409 else logging.WARNING
                    _log.log(level, "chat %s takes no results: %s", self._chat, refused)
                    return
                if refused.status == 413:
                    outputs = [TOO_LARGE] * len(outputs)
                fault = refused
            await self._pause(fault, attempt)
        raise AssertionError("the last try returns or raises")

    async def _pause(self, fault: RequestRefused | ServerUnreachable, attempt: int) -> None:
        """Wait before results are sent again, or raise the fault if this was the last try."""
        # Results that are too large have been replaced, so the next try may well succeed.
        cause: ConnectionFault = StreamEnded()
        if isinstance(fault, RequestRefused) and fault.status != 413:
            cause = fault
        chance = random.random()
        delay = seconds_before_retry(cause, attempt, chance=chance, tries_max=CONNECTIONS_MAX)
        if delay is None:
            raise fault
        await anyio.sleep(delay)

    async def _is_over(self, pending: PendingCalls) -> bool:
        """Tell whether the calls have been answered: their ids may stand for others by now."""
        request = api.messages(self._chat, after_id=pending.message)
        return any(map(pending.is_over_by, (await self._client.request(request)).messages))


def fit_results(ids: Sequence[str], outputs: Sequence[CallOutput]) -> Sequence[Mapping[str, Any]]:
    """Return the results of a request, cut so that all of them together are within its bounds.

    If they are too large, each gets an equal share, and those below it stay whole.
    """
    whole = list(map(_result, ids, outputs))
    excess = _size(whole) - RESULTS_BYTES_MAX
    if excess <= 0:
        return whole
    room = RESULTS_BYTES_MAX - _size(list(map(_result, ids, [CallOutput(b"0")] * len(ids))))
    share = room // len(ids)
    return [_result(id, _cut(output, share)) for id, output in zip(ids, outputs, strict=True)]


def _result(id: str, output: CallOutput) -> Mapping[str, Any]:
    encoded = msgspec.Raw(output.json)
    return {"tool_call_id": id, "output": encoded, "is_error": output.is_error}


def _size(results: Sequence[Mapping[str, Any]]) -> int:
    return len(_encode({"results": results}))


def _cut(output: CallOutput, bytes_max: int) -> CallOutput:
    """Return the output's beginning and end, as a text."""
    if len(output.json) <= bytes_max:
        return output
    key, room = "error" if output.is_error else "output", bytes_max
    value = msgspec.json.decode(output.json)
    only = value.get(key) if isinstance(value, dict) and len(value) == 1 else value
    text = only if isinstance(only, str) else output.json.decode()
    while len(cut := _encode({key: truncate(text, room)})) > bytes_max and room > 0:
        room = min(room - 1, room * bytes_max // len(cut))  # escaped characters take more
    return CallOutput(cut, output.is_error)


def _distinct(calls: Sequence[ChatStreamToolCall]) -> Sequence[ChatStreamToolCall]:
    """Return the first call of each id: one result answers an id."""
    first: dict[str, ChatStreamToolCall] = {}
    for call in calls:
        first.setdefault(call.tool_call_id, call)
    return tuple(first.values())


def _ends(pending: PendingCalls, event: ChatStreamEvent, transcript: Transcript) -> bool:
    if event.message is not UNSET:
        return pending.is_over_by(event.message)
    return event.type == "history_reset" or transcript.status != "requires_action"
