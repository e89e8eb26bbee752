"""The law: what each request does to a stored chat, or why it is refused. Pure.

`transition(stored, request) -> Change | Refusal` is the whole of it, `bundle` folds several into
one change, and `create` makes a chat where there is none. A refusal changes nothing. One function
per request, in the order of `requests.py`; those that deal with the queue alone stand in
`queueing.py`, those that answer a chat that waits in `answers.py`.

Unless a function says otherwise the holder stays, the deadline and the compaction marker go.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from actors.law import answers, queueing
from actors.law import requests as ask
from actors.law.change import Change, add_step, change, join, link_files, no_change, resume
from actors.law.chat import (
    NO_FILES,
    Chat,
    ChatError,
    HistoryRow,
    KnownFiles,
    QueuedMessage,
    Role,
    StoredChat,
)
from actors.law.closing import (
    INVALID_STATE,
    MESSAGE_EDITED,
    NEW_USER_MESSAGE,
    PROMOTION,
    USER_MESSAGE,
    awaited_cancellations,
    cancellations,
    has_new_answer,
    interruptions,
    unanswered_dynamic_calls,
    waits_for_others,
)
from actors.law.refusals import (
    NO_TRANSITION,
    InvalidState,
    MessageNotFound,
    NotAllowed,
    NotAUserMessage,
    Refusal,
    ResultFault,
)
from actors.law.states import State, Status
from actors.law.table import leads_to

REQUIRES_ACTION_SECONDS = 300  # then the calls are answered for the client: "timed out"

DEFAULT_INVALID_STATE_ERROR = ChatError(
    "The chat was in an invalid state and has been stopped. "
    "Send a message or edit the conversation to go on."
)


def transition(stored: StoredChat, request: ask.Request) -> Change | Refusal:
    """Return what `request` does to `stored`, or why it is refused."""
    state = stored.state
    allowed = leads_to(state, type(request))
    if not allowed:
        name = type(request).__name__
        if state is State.INVALID:
            return InvalidState(name)
        return NotAllowed(name, state, NO_TRANSITION)
    made = _RULES[type(request)](stored, request)
    if not isinstance(made, Change):
        return made
    assert made.state in allowed, f"{request} led to {made.state}"
    return link_files(made)


def bundle(stored: StoredChat, requests: Iterable[ask.Request]) -> Change | Refusal:
    """Fold several requests into one change; the first refusal refuses all of them."""
    made: Change | None = None
    for request in requests:
        following = transition(stored if made is None else made.after, request)
        if not isinstance(following, Change):
            return following
        made = following if made is None else join(made, following)
    return no_change(stored) if made is None else made


def create(
    request: ask.CreateChat, *, now: datetime, files: KnownFiles = NO_FILES
) -> Change | Refusal:
    """Create a chat. It is at work from the start, because its first message wants an answer."""
    new = request.chat
    if not request.messages:
        return NotAllowed("CreateChat", None, "a chat begins with a message")
    if new.id.int == 0:
        return NotAllowed("CreateChat", None, "the nil id names no chat")
    return link_files(
        change(StoredChat(new.initial_chat(), now, files=files), added=request.messages)
    )


def may_be_archived_by_rule(chat: Chat, *, at_snapshot: int) -> NotAllowed | None:
    """Return why a rule may not archive a root that it has looked at, or None."""
    if chat.snapshot_version != at_snapshot:
        return NotAllowed("SetArchived", None, "it has moved since it was looked at")
    return NotAllowed("SetArchived", None, "it is pinned") if chat.pin_order else None


def _set_archived(stored: StoredChat, request: ask.SetArchived) -> Change | Refusal:
    chat = stored.chat
    if chat.archived == request.archived:
        return _refuse(stored, request, f"archived is {str(chat.archived).lower()} already")
    return change(
        stored,
        archived=request.archived,
        pin_order=0 if request.archived else chat.pin_order,
        compaction_requested_at=chat.compaction_requested_at,
    )


def _send_message(stored: StoredChat, request: ask.SendMessage) -> Change | Refusal:
    made = _taken_or_queued(stored, request)
    if isinstance(made, Change) and request.options is not ask.SAME_OPTIONS:
        return replace(made, chat=request.options.of(made.chat))
    return made


def _taken_or_queued(stored: StoredChat, request: ask.SendMessage) -> Change | Refusal:
    if stored.state in (State.W, State.E0):
        closed = cancellations(stored, NEW_USER_MESSAGE)
        added = (*closed, request.message.as_body())
        return change(stored, status=Status.RUNNING, added=added, last_error=None)
    queue = queueing.append(stored, request)
    if not isinstance(queue, tuple):
        return queue
    chat = stored.chat
    if chat.status is Status.ERROR:
        return _take_head(stored, queue, last_error=None)
    marker = chat.compaction_requested_at
    interrupts = request.busy is ask.BusyBehaviour.INTERRUPT
    if interrupts and chat.status is Status.RUNNING:
        return change(
            stored, status=Status.INTERRUPTING, queue=queue, compaction_requested_at=marker
        )
    if interrupts and chat.status is Status.REQUIRES_ACTION:
        # The model first hears that its calls were cancelled; the message follows that answer.
        closed = awaited_cancellations(stored, USER_MESSAGE)
        return resume(stored, closed, queue=queue, compaction_requested_at=marker)
    return change(
        stored,
        queue=queue,
        compaction_requested_at=marker,
        requires_action_deadline_at=chat.requires_action_deadline_at,
    )


def _edit_message(stored: StoredChat, request: ask.EditMessage) -> Change | Refusal:
    suffix = stored.suffix
    if suffix is None or suffix.target.id != request.message_id:
        return MessageNotFound(request.message_id)
    old = suffix.target.body
    if old.role is not Role.USER:
        fault = NotAUserMessage(request.message_id)
        return _refuse(stored, request, "only a user's message can be edited", fault)
    new = request.message
    replacement = replace(
        new.as_body(),
        visibility=old.visibility,
        model_config_id=new.model_config_id or old.model_config_id,
        reasoning_effort=new.reasoning_effort or old.reasoning_effort,
    )
    return change(
        stored,
        status=Status.RUNNING,
        queue=(),
        added=(*cancellations(stored, MESSAGE_EDITED), replacement, *request.then),
        deleted=(HistoryRow(suffix.target.id, old.visibility), *suffix.later),
        last_error=None,
    )


def _request_compaction(stored: StoredChat, request: ask.RequestCompaction) -> Change | Refusal:
    """Put the chat to work without a holder: one that was there drops out, and a process takes
    it."""
    if not has_new_answer(stored.tail):
        return _refuse(stored, request, "no model has said anything since the last summary")
    return change(
        stored,
        status=Status.RUNNING,
        last_error=None,
        holder=None,
        compaction_requested_at=stored.now,
        new_epoch=True,
    )


def _retry_turn(stored: StoredChat, request: ask.RetryTurn) -> Change | Refusal:
    """Go on with the turn in a new epoch: what waits for the old one is obsolete, and failures are
    counted anew. A summary that had been asked for, and has failed, is asked for again."""
    chat = stored.chat
    is_of_compaction = chat.last_error is not None and chat.last_error.of_compaction
    if chat.status is Status.RUNNING and chat.retry_state is None:
        return _refuse(stored, request, "no attempt has failed that could be made again")
    return change(
        stored,
        status=Status.RUNNING,
        last_error=None,
        last_model_config_id=request.model_config_id or chat.last_model_config_id,
        last_reasoning_effort=request.reasoning_effort or chat.last_reasoning_effort,
        compaction_requested_at=stored.now if is_of_compaction else chat.compaction_requested_at,
        new_epoch=True,
    )


def _promote_queued(stored: StoredChat, request: ask.PromoteQueued) -> Change | Refusal:
    queue = queueing.promote(stored.queue, request.queued_id)
    if not isinstance(queue, tuple):
        return queue
    if stored.chat.status in (Status.RUNNING, Status.INTERRUPTING):
        return change(stored, status=Status.INTERRUPTING, queue=queue)
    return _take_head(stored, queue, last_error=None)


def _interrupt(stored: StoredChat, request: ask.Interrupt) -> Change:
    if stored.chat.status is Status.RUNNING:
        return change(stored, status=Status.INTERRUPTING)
    return resume(stored, awaited_cancellations(stored, request.reason))


def _reconcile(stored: StoredChat, request: ask.ReconcileInvalidState) -> Change:
    return change(
        stored,
        status=Status.ERROR,
        added=awaited_cancellations(stored, INVALID_STATE),
        archived=False,
        last_error=request.error or DEFAULT_INVALID_STATE_ERROR,
    )


def _acquire(stored: StoredChat, request: ask.Acquire) -> Change:
    """Take the chat. Whether the last holder may be passed over is the caller's fence, not the
    law's.

    A death is counted only if it cut an attempt short: in a pause the chat cannot have caused it.
    """
    chat, deaths = stored.chat, stored.chat.process_deaths_count
    is_at_work = stored.state in (State.R0, State.R1) and chat.retry_state is None
    if request.after_death and chat.holder is not None and is_at_work:
        deaths += 1
    return _same(stored, holder=request.holder, process_deaths_count=deaths)


def _take_up(stored: StoredChat, request: ask.TakeUp) -> Change:
    chat = stored.chat
    if chat.holder is not None or stored.state not in (State.R0, State.R1):
        return no_change(stored)
    if chat.retry_state is not None:  # a pause is not cut short by a new holder
        return _same(stored, holder=request.holder)
    return _same(stored, holder=request.holder, generation_attempt=chat.generation_attempt + 1)


def _abandon(stored: StoredChat, request: ask.Abandon) -> Change | Refusal:
    if stored.chat.holder is None:
        return _refuse(stored, request, "nobody holds the chat")
    return _same(stored, holder=None)


def _record_attempt(stored: StoredChat, request: ask.RecordGenerationAttempt) -> Change:
    return _same(stored, generation_attempt=stored.chat.generation_attempt + 1)


def _record_retry_state(stored: StoredChat, request: ask.RecordRetryState) -> Change | Refusal:
    retry = request.retry
    if retry.attempt < 1 or not retry.error.strip():
        return _refuse(stored, request, "a retry state names its attempt and its error")
    failures = stored.chat.provider_failures_count + 1
    return _same(stored, retry_state=retry, provider_failures_count=failures)


def _commit_step(stored: StoredChat, request: ask.CommitStep) -> Change | Refusal:
    if not request.messages:
        return _refuse(stored, request, "a step holds at least one message")
    marker = None if request.consumes_compaction else stored.chat.compaction_requested_at
    if request.ends_turn:
        return change(stored, added=request.messages, compaction_requested_at=marker)
    return add_step(stored, request.messages, compaction_requested_at=marker)


def _enter_requires_action(
    stored: StoredChat, request: ask.EnterRequiresAction
) -> Change | Refusal:
    approvals = answers.approvals_after(stored, request)
    if approvals is None:
        return _refuse(stored, request, "a call is asked about that is not open")
    waiting = replace(stored, chat=replace(stored.chat, approvals=approvals))
    if not waits_for_others(waiting):
        return _refuse(stored, request, "no call waits for the client")
    deadline = None
    if unanswered_dynamic_calls(waiting):
        deadline = stored.now + timedelta(seconds=REQUIRES_ACTION_SECONDS)
    return change(
        stored,
        status=Status.REQUIRES_ACTION,
        requires_action_deadline_at=deadline,
        approvals=approvals,
    )


def _finish_interruption(stored: StoredChat, request: ask.FinishInterruption) -> Change:
    """End an interruption, and close the calls that still wait, whoever should have answered them.

    A turn that was interrupted between a client's call and `requires_action` has to settle too.
    """
    partial = change(stored, added=request.partials).after
    added = (*request.partials, *interruptions(partial))
    if not stored.queue:
        return _rest(stored, request, added=added)
    head, *rest = stored.queue
    added = (*added, head.message.as_body())
    return change(stored, status=Status.RUNNING, added=added, queue=tuple(rest))


def _finish_turn(stored: StoredChat, request: ask.FinishTurn) -> Change:
    if stored.queue:
        return _take_head(stored, stored.queue)
    return _rest(stored, request)


def _finish_error(stored: StoredChat, request: ask.FinishError) -> Change:
    is_of_compaction = stored.chat.compaction_requested_at is not None
    error = replace(request.error, of_compaction=is_of_compaction)
    return change(stored, status=Status.ERROR, last_error=error)


def _refuse(
    stored: StoredChat,
    request: ask.Request,
    rule: str,
    fault: NotAUserMessage | ResultFault | None = None,
) -> NotAllowed:
    return NotAllowed(type(request).__name__, stored.state, rule, fault)


def _same(stored: StoredChat, **columns: Any) -> Change:
    """Change columns and keep the execution state, with the deadline and the mark of a
    compaction."""
    chat = stored.chat
    kept = {
        "requires_action_deadline_at": chat.requires_action_deadline_at,
        "compaction_requested_at": chat.compaction_requested_at,
    }
    return change(stored, **(kept | columns))


def _rest(
    stored: StoredChat, request: ask.FinishTurn | ask.FinishInterruption, **more: Any
) -> Change:
    holder = None if request.gives_back else stored.chat.holder
    return change(stored, status=Status.WAITING, holder=holder, **more)


def _take_head(stored: StoredChat, queue: tuple[QueuedMessage, ...], **columns: Any) -> Change:
    """Make the head of `queue` the next message, and close what the last turn left open."""
    head, *rest = queue
    added = (*cancellations(stored, PROMOTION), head.message.as_body())
    return change(stored, status=Status.RUNNING, added=added, queue=tuple(rest), **columns)


_RULES: dict[type[ask.Request], Callable[[StoredChat, Any], Change | Refusal]] = {
    ask.SetArchived: _set_archived,
    ask.SendMessage: _send_message,
    ask.EditMessage: _edit_message,
    ask.RequestCompaction: _request_compaction,
    ask.RetryTurn: _retry_turn,
    ask.DeleteQueued: queueing.delete,
    ask.PromoteQueued: _promote_queued,
    ask.EditQueued: queueing.edit,
    ask.ReorderQueued: queueing.reorder,
    ask.Interrupt: _interrupt,
    ask.CompleteRequiresAction: answers.complete_requires_action,
    ask.DecideApproval: answers.decide_approval,
    ask.ReconcileInvalidState: _reconcile,
    ask.Acquire: _acquire,
    ask.TakeUp: _take_up,
    ask.Abandon: _abandon,
    ask.RecordGenerationAttempt: _record_attempt,
    ask.RecordRetryState: _record_retry_state,
    ask.CommitStep: _commit_step,
    ask.EnterRequiresAction: _enter_requires_action,
    ask.CancelRequiresAction: answers.cancel_requires_action,
    ask.ExpireApprovals: answers.expire_approvals,
    ask.FinishInterruption: _finish_interruption,
    ask.FinishTurn: _finish_turn,
    ask.FinishError: _finish_error,
}
