"""Calls that a chat's own tools are awaited for: run here, and answered.

All that a chat waits for is answered in one request, and the daemon takes the first that is valid:
of two programs that answer the same calls one is told so, and goes on. Calls are run for as long as
the chat waits for them; when it no longer does (it was interrupted, or somebody was faster, or it
is too late) they are cancelled.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol, TypeVar
from uuid import UUID

import anyio
from anyio.abc import TaskGroup
from msgspec import UNSET

from adapters.chats.wire.messages import ChatMessage
from adapters.chats.wire.streams import ChatStreamEvent, ChatStreamToolCall
from adapters.client import asks
from adapters.client.asks import Ask
from adapters.client.faults import CONNECTIONS_MAX, Ended, Refused, Unreachable, wait_seconds
from adapters.client.outputs import LATE, TOO_LARGE, Output, fitted
from adapters.client.tools import SECONDS_MAX, ClientTool, ToolError
from adapters.client.transcript import Transcript
from runtime.log import Level, emit

CALLS_AT_ONCE_MAX = 16  # of a chat; the others begin as these end

T = TypeVar("T")


class Asking(Protocol):
    async def do(self, ask: Ask[T]) -> T: ...


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a chat waits for at a time. Ids of calls may come again, those of messages do not."""

    calls: Sequence[ChatStreamToolCall]
    message: int  # the last one of the chat when it began
    scope: anyio.CancelScope

    def is_over_by(self, message: ChatMessage) -> bool:
        """Others may answer what is theirs meanwhile: a person who denies a call of the same
        step."""
        if message.id <= self.message or message.role != "tool":
            return message.id > self.message
        ids = {call.tool_call_id for call in self.calls}
        return any(part.tool_call_id in ids for part in message.content or ())


class Answering:
    """Of one chat: it is told every event, and answers in `group`."""

    def __init__(
        self, client: Asking, chat: UUID, tools: Sequence[ClientTool], group: TaskGroup
    ) -> None:
        self._client = client
        self._chat = chat
        self._tools = {tool.name: tool for tool in tools}
        self._group = group
        self._awaited: Awaited | None = None
        self.fault: Refused | Unreachable | None = None  # for which nothing can be answered

    def heard(self, event: ChatStreamEvent, seen: Transcript) -> None:
        """`seen`: the event is applied to it."""
        if self._awaited is not None and _ends(self._awaited, event, seen):
            self._awaited.scope.cancel()
            self._awaited = None
        if event.type == "action_required" and seen.pending and self._awaited is None:
            last = max(seen.messages, default=0)
            self._awaited = Awaited(_distinct(seen.pending), last, anyio.CancelScope())
            self._group.start_soon(self._answer, self._awaited)

    async def _answer(self, awaited: Awaited) -> None:
        with awaited.scope:
            try:
                await self._submit(awaited, await self._outputs(awaited.calls))
            except (Refused, Unreachable) as fault:
                self.fault = fault
                self._group.cancel_scope.cancel()

    async def _outputs(self, calls: Sequence[ChatStreamToolCall]) -> Sequence[Output]:
        """Of all calls, in their order, before the daemon has lost its patience."""
        ends_at = anyio.current_time() + SECONDS_MAX
        room = anyio.Semaphore(CALLS_AT_ONCE_MAX)
        outputs = [LATE] * len(calls)

        async def run(place: int, call: ChatStreamToolCall) -> None:
            async with room:
                outputs[place] = await self._output(call, ends_at - anyio.current_time())

        async with anyio.create_task_group() as together:
            for place, call in enumerate(calls):
                together.start_soon(run, place, call)
        return outputs

    async def _output(self, call: ChatStreamToolCall, seconds: float) -> Output:
        tool = self._tools.get(call.tool_name)
        if tool is None:
            return Output.error(f"nobody here runs a tool {call.tool_name}")
        arguments = tool.read(call.args)
        if isinstance(arguments, str):
            return Output.error(arguments)
        output = LATE
        with anyio.move_on_after(min(tool.seconds, seconds)):
            try:
                output = Output.of(await tool.run(arguments))
            except ToolError as said:
                output = Output.error(str(said))
            except Exception as error:  # noqa: BLE001  # a bug in a tool is that tool's result
                emit("client_tool.failed", "error", tool=tool.name, error=error)
                output = Output.error("the tool failed unexpectedly")
        return output

    async def _submit(self, awaited: Awaited, outputs: Sequence[Output]) -> None:
        """Until the daemon has taken them, or the chat no longer waits for them."""
        ids = [call.tool_call_id for call in awaited.calls]
        for attempt in count(1):
            try:
                if attempt > 1 and await self._is_over(awaited):
                    return
                await self._client.do(asks.tool_results(self._chat, fitted(ids, outputs)))
                return
            except Unreachable as unreachable:  # it may have taken them
                fault: Refused | Unreachable = unreachable
            except Refused as refused:
                if refused.status in (400, 409):  # they are not, or no longer, what it waits for
                    level: Level = "info" if refused.status == 409 else "warning"
                    emit("client_tool.unwanted", level, chat=str(self._chat), error=refused)
                    return
                if refused.status == 413:
                    outputs = [TOO_LARGE] * len(outputs)
                fault = refused
            await self._pause(fault, attempt)
        raise AssertionError("they are taken or given up")

    async def _pause(self, fault: Refused | Unreachable, attempt: int) -> None:
        passing = Ended() if isinstance(fault, Unreachable) or fault.status == 413 else fault
        chance = random.random()
        delay = wait_seconds(passing, attempt, chance=chance, tries_max=CONNECTIONS_MAX)
        if delay is None:
            raise fault
        await anyio.sleep(delay)

    async def _is_over(self, awaited: Awaited) -> bool:
        """Whether somebody has answered: the same ids may ask for something else now."""
        asked = asks.messages(self._chat, after_id=awaited.message)
        return any(map(awaited.is_over_by, (await self._client.do(asked)).messages))


def _distinct(calls: Sequence[ChatStreamToolCall]) -> Sequence[ChatStreamToolCall]:
    """One result answers an id, so of two calls under one the first is run."""
    found: dict[str, ChatStreamToolCall] = {}
    for call in calls:
        found.setdefault(call.tool_call_id, call)
    return tuple(found.values())


def _ends(awaited: Awaited, event: ChatStreamEvent, seen: Transcript) -> bool:
    if event.message is not UNSET:
        return awaited.is_over_by(event.message)
    return event.type == "history_reset" or seen.status != "requires_action"
