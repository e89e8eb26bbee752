"""The task that ends a turn which a user has interrupted: what was said is kept, open calls are
closed.

Text and thoughts are kept as far as they had come. A call is kept if its arguments are whole and
valid; what is left of any other call could not be executed, and is dropped. Calls that then still
lack a result are closed by the law when the interruption is finished.
"""

from datetime import datetime
from functools import partial

from actors.chat.turn.commits import Committed, commit
from actors.chat.turn.deps import TurnDeps
from actors.chat.turn.scribe import book_due
from actors.chat.turn.steps import EndedCall, tool_rows
from actors.chat.turn.work import Attempt, HeldChat
from actors.law.chat import Body, Chat, Role
from actors.law.closing import unanswered_calls
from actors.law.ids import EpisodeKey, ModelConfigId
from actors.law.parts.assemble import Assembly
from actors.law.parts.message import CUT_SHORT, FilePart, Part, ToolCallPart, ToolResultPart
from actors.law.requests import FinishInterruption
from actors.law.store.retry import retry_store
from runtime.clock import now, wall


async def interrupt(held: HeldChat, deps: TurnDeps) -> Committed:
    """Commit what was said and done, end the turn, and give the chat back."""
    chat = held.stored.chat
    key = EpisodeKey(chat.id, chat.history_version, chat.generation_attempt)
    preview = deps.previews.find(key)  # none: nothing was asked yet, or another process asked
    attempt = None if preview is None else preview.attempt
    kept: tuple[Body, ...] = ()
    if preview is not None and isinstance(attempt, Attempt):
        kept = _partial_bodies(attempt, chat, ended_at=preview.closed_at)
        await book_due(attempt, deps)
    kept += await _noted(held, kept, deps)
    return await commit(held, [FinishInterruption(kept, gives_back=True)], deps)


def _partial_bodies(attempt: Attempt, chat: Chat, *, ended_at: float | None) -> tuple[Body, ...]:
    """Return what a model had said, or the results of the tools that had ended."""
    if attempt.answer is None or attempt.asked_model_at is None:
        return attempt.results
    ended = now() if ended_at is None else ended_at
    return partial_rows(
        attempt.answer,
        now=wall(),
        runtime_ms=round((ended - attempt.asked_model_at) * 1000),
        model_config_id=chat.last_model_config_id,
        is_booked=attempt.is_booked,
    )


async def _noted(held: HeldChat, kept: tuple[Body, ...], deps: TurnDeps) -> tuple[Body, ...]:
    """Return the results of tools that had ended in an attempt before this one, or in a process
    that is gone: only the journal knows of them.

    The other calls are noted as begun, not only looked at. So a process that does not know yet that
    the chat was taken from it does not run them.
    """
    chat, calls = held.stored.chat, _unanswered(held, kept)
    if not calls:
        return ()
    entries = await retry_store(chat.id, "journal", partial(deps.journal.begin, chat, calls))
    noted = {entry.tool_call_id: entry for entry in entries}
    ended = [
        EndedCall(call, entry.output, entry.ended_at or wall())
        for call in calls
        if (entry := noted.get(call.id)) is not None and entry.output is not None
    ]
    return tool_rows(ended, model_config_id=chat.last_model_config_id)


def _unanswered(held: HeldChat, kept: tuple[Body, ...]) -> tuple[ToolCallPart, ...]:
    """Return the stored calls to which `kept` has no result.

    Calls under a name that the client has declared are among them: if a tool of ours has that name
    too, it is the one that runs.
    """
    parts = [part for body in kept for part in body.parts]
    answered = {part.id for part in parts if isinstance(part, ToolResultPart)}
    return tuple(call for call in unanswered_calls(held.stored.tail) if call.id not in answered)


def partial_rows(
    answer: Assembly,
    *,
    now: datetime,
    runtime_ms: int,
    model_config_id: ModelConfigId | None,
    is_booked: bool = False,
) -> tuple[Body, ...]:
    """Return one assistant message if there is anything to keep. `is_booked` says that its cost has
    been written down already."""
    parts = tuple(part for part in answer.cut_short(now) if _is_whole(part))
    if not parts:
        return ()
    is_billed = not all(isinstance(part, FilePart) for part in parts)
    body = Body(
        Role.ASSISTANT,
        parts,
        model_config_id=model_config_id,
        runtime_ms=(runtime_ms or None) if is_billed else None,
        cost=CUT_SHORT if is_billed and not is_booked else None,
    )
    return (body,)


def _is_whole(part: Part) -> bool:
    return not isinstance(part, ToolCallPart) or bool(part.id and part.args)
