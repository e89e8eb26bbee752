"""Running the local calls of one step: all at once, each under its deadline, journalled.

The rules of a batch: an exclusive tool refuses company. Calls whose arguments cannot be read, or
that were denied, are answered without being run. Serial tools run after the others, in call order.
A result keeps within its share of the model's window. Results are shown in call order once all are
there; if the batch is cut short, those that are there are shown and kept.

A call is at stake while it runs and until its end is journalled, unless its tool only waits: then
another process may go on with it. One that may not be run again is at stake already when it is
journalled as begun.

The journal survives a crash. A call that has ended is not run again, its result is used. A call
that had begun is run again only if that does no harm; otherwise the model is told that it may have
run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import trio

from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.next_action import NONE_DENIED, tools_by_name
from actors.chat.turn.ports import JournalEntry, ShowPiece, ToolInvocation, ToolOutput, Toolset
from actors.chat.turn.steps import EndedCall, cut_to, error_output, result_of, tool_rows, window_of
from actors.chat.turn.work import AtStake, Attempt, WholeStep
from actors.law.chat import Body, Chat, Message, Role
from actors.law.ids import chat_name
from actors.law.parts.message import ToolCallPart
from actors.law.store.retry import retry_store
from actors.tools.call_checks import refusals
from actors.tools.output import result_bytes_max
from runtime.clock import wall
from runtime.log import emit
from runtime.scope import CausedScope


async def run_batch(
    chat: Chat,
    history: Sequence[Message],
    calls: tuple[ToolCallPart, ...],
    tools: Toolset,
    attempt: Attempt,
    deps: TurnDeps,
    at_stake: AtStake,
    *,
    show: ShowPiece,
    denied: Mapping[str, str] = NONE_DENIED,
) -> tuple[Body, ...]:
    """Run the calls and return one message per call, in call order.

    The results are noted in `attempt` and shown. Calls in `denied`, by id, are not run but answered
    in these words.
    """
    show_piece = partial(show, Role.TOOL)
    callings = [ToolInvocation(chat, call, history, show_piece) for call in calls]
    batch = _Batch(callings, tools, deps, at_stake, denied)
    try:
        await batch.run()
    finally:  # cut short, too: nothing is awaited here
        _keep(batch.in_order(), chat, attempt, show)
    return attempt.results


def _keep(ended: Sequence[EndedCall], chat: Chat, attempt: Attempt, show: ShowPiece) -> None:
    """Note the results in the attempt, and show them."""
    attempt.results = tool_rows(ended, model_config_id=chat.last_model_config_id)
    for end in ended:
        for file in end.output.shown:
            show(Role.ASSISTANT, file)
        show(Role.TOOL, result_of(end))


class _Batch:
    def __init__(
        self,
        callings: Sequence[ToolInvocation],
        tools: Toolset,
        deps: TurnDeps,
        at_stake: AtStake,
        denied: Mapping[str, str],
    ) -> None:
        self._chat = callings[0].chat
        self._callings = {calling.call.id: calling for calling in callings}
        self._calls = [calling.call for calling in callings]
        self._toolset = tools
        self._tools = tools_by_name(tools.offered.local)
        self._bytes_max = result_bytes_max(window_of(callings[0].history))
        self._deps = deps
        self._at_stake = at_stake
        self._denied = denied
        self._ended: dict[str, EndedCall] = {}

    async def run(self) -> None:
        self._refuse()
        await self._recall_what_may_not_run()
        runnable = [call for call in self._calls if call.id not in self._ended]
        if not runnable:
            return
        self._at_stake.add(*[c.id for c in runnable if not self._tools[c.name].repeatable])
        begin = partial(self._deps.journal.begin, self._chat, runnable)
        for entry in await retry_store(self._chat.id, "journal", begin):
            self._recall(entry)
        waiting = [call for call in runnable if call.id not in self._ended]
        self._at_stake.settle(self._ended)
        async with trio.open_nursery() as together:
            for call in waiting:
                if not self._tools[call.name].serial:
                    together.start_soon(self._run_one, call)
        for call in waiting:
            if self._tools[call.name].serial:
                await self._run_one(call)

    def in_order(self) -> tuple[EndedCall, ...]:
        return tuple(self._ended[call.id] for call in self._calls if call.id in self._ended)

    def _end(self, call: ToolCallPart, output: ToolOutput, at: datetime) -> None:
        self._ended[call.id] = EndedCall(call, output, at)
        if len(self._ended) == len(self._callings):
            self._at_stake.add(WholeStep.RESULTS)

    def _refuse(self) -> None:
        """Answer the calls that are not run at all."""
        at = wall()
        denied = {call: self._denied[call.id] for call in self._calls if call.id in self._denied}
        for call, why in (denied | refusals(self._calls, self._tools)).items():
            self._end(call, error_output(why), at)

    async def _recall_what_may_not_run(self) -> None:
        """Look up calls whose tool is not there now, because its server is away, or is not allowed
        any more: they may have run before that."""
        unrun = [c for c in self._calls if c.name not in self._tools or c.id in self._denied]
        if unrun:
            look = partial(self._deps.journal.look, self._chat, unrun)
            for entry in await retry_store(self._chat.id, "journal", look):
                self._recall(entry)

    def _recall(self, entry: JournalEntry) -> None:
        """Take up a call that was begun before, by this process or by one that is gone."""
        call = next(call for call in self._calls if call.id == entry.tool_call_id)
        tool = self._tools.get(call.name)
        if entry.output is not None:
            self._end(call, entry.output, entry.ended_at or wall())
        elif tool is None or not tool.repeatable:
            self._end(call, error_output(MAY_HAVE_RUN), wall())
        else:
            calling = self._callings[call.id]
            self._callings[call.id] = replace(calling, age_seconds=entry.age_seconds)

    async def _run_one(self, call: ToolCallPart) -> None:
        tool, calling = self._tools[call.name], self._callings[call.id]
        telemetry = self._deps.telemetry
        if not tool.only_waits:
            self._at_stake.add(call.id)
        limit = CausedScope(seconds=tool.deadline_seconds)
        said: ToolOutput | None = None
        output = error_output(f"the tool did not finish within {tool.deadline_seconds:g} s")
        try:
            with limit:
                said = await self._toolset.run(calling)
        except Exception as error:  # noqa: BLE001  # a bug in a tool is that tool's result
            telemetry.tool_crashed(calling)
            await trio.lowlevel.checkpoint_if_cancelled()  # unless it is how it took its end
            if limit.requested is None:
                chat = chat_name(self._chat.id)
                emit("tool.crashed", "error", chat=chat, tool=call.name, error=error)
                output = error_output("the tool failed unexpectedly")
        if said is not None:
            output = cut_to(said, self._bytes_max)
            telemetry.tool_ended(calling, said, is_cut=output is not said)
        self._end(call, output, wall())
        try:
            await self._deps.journal.end(self._chat, call.id, output)
        except Exception as error:  # noqa: BLE001  # the step's own commit will keep the result
            chat = chat_name(self._chat.id)
            emit("journal.missed", "warning", chat=chat, tool=call.name, error=error)
        else:
            self._at_stake.settle([call.id])


MAY_HAVE_RUN = (
    "the tool was running when the process that ran it ended; it may have done its work,"
    " or a part of it. Look at the state of things before you call it again"
)
