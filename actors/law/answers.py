"""Answers to a chat that waits: a client's results for its own tools, a person's decisions. Pure.

It is checked here which answers fit, and what follows from them.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from actors.law import requests as ask
from actors.law.change import Change, change, no_change, resume
from actors.law.chat import Approval, ApprovalDecision, Body, Chat, Role, StoredChat, Verdict
from actors.law.closing import (
    denials,
    dynamic_cancellations,
    unanswered_calls,
    unanswered_dynamic_calls,
    waits_for_others,
)
from actors.law.ids import UserId
from actors.law.parts.json_text import is_json
from actors.law.parts.message import JsonText, ToolCallPart, ToolResultPart
from actors.law.refusals import (
    DuplicateResult,
    InvalidResult,
    MissingResult,
    NotAllowed,
    NotAwaitingDecision,
    ResultFault,
    UnexpectedResult,
)

DENIED = "the user did not allow this call, and it was not run"
LATE = "nobody allowed this call in time, and it was not run; go on without it"


def complete_requires_action(
    stored: StoredChat, request: ask.CompleteRequiresAction
) -> Change | NotAllowed:
    pending = unanswered_dynamic_calls(stored)
    fault = find_fault(request.results, pending)
    if fault is not None:
        rule = "the results do not fit the pending calls"
        return NotAllowed("CompleteRequiresAction", stored.state, rule, fault)
    return resume_if_answered(
        stored, (*result_messages(request, pending, now=stored.now), *request.then)
    )


def cancel_requires_action(
    stored: StoredChat, request: ask.CancelRequiresAction
) -> Change | NotAllowed:
    closed = dynamic_cancellations(stored, request.reason)
    if not closed:
        return NotAllowed("CancelRequiresAction", stored.state, "no call waits for the client")
    return resume_if_answered(stored, closed)


def find_fault(
    results: tuple[ask.DynamicResult, ...], pending: tuple[ToolCallPart, ...]
) -> ResultFault | None:
    """Return the first fault of the results, or None.

    What is wrong with a result by itself comes before a result that is missing, and that comes
    before one that was not asked for.
    """
    submitted: set[str] = set()
    for result in results:
        if result.tool_call_id in submitted:
            return DuplicateResult(result.tool_call_id)
        if not is_json(result.output):
            return InvalidResult(result.tool_call_id)
        submitted.add(result.tool_call_id)
    wanted = {call.id: None for call in pending}
    missing = next((id for id in wanted if id not in submitted), None)
    if missing is not None:
        return MissingResult(missing)
    unexpected = next((r.tool_call_id for r in results if r.tool_call_id not in wanted), None)
    return None if unexpected is None else UnexpectedResult(unexpected)


def result_messages(
    request: ask.CompleteRequiresAction, pending: tuple[ToolCallPart, ...], *, now: datetime
) -> tuple[Body, ...]:
    """Return one tool message for each result, in the order in which they were submitted."""
    calls = {call.id: call for call in pending}
    return tuple(
        Body(
            Role.TOOL,
            (
                ToolResultPart(
                    result.tool_call_id,
                    calls[result.tool_call_id].name,
                    JsonText(result.output),
                    is_error=result.is_error,
                    mcp_server_config_id=calls[result.tool_call_id].mcp_server_config_id,
                    created_at=now,
                ),
            ),
            created_by=request.submitted_by,
            model_config_id=request.model_config_id,
        )
        for result in request.results
    )


@dataclass(frozen=True, slots=True)
class ApprovalOutcome:
    """The outcome of decisions: results of denied calls, and the approvals that are left."""

    added: tuple[Body, ...]
    approvals: tuple[Approval, ...]
    decisions: tuple[ApprovalDecision, ...]


def decide_approval(stored: StoredChat, request: ask.DecideApproval) -> Change | NotAllowed:
    settled = decide(stored, request)
    if settled is None:
        rule, fault = "nobody is asked about this call", NotAwaitingDecision(request.tool_call_id)
        return NotAllowed("DecideApproval", stored.state, rule, fault)
    return _with(stored, settled)


def expire_approvals(stored: StoredChat, request: ask.ExpireApprovals) -> Change:
    """Deny what was not decided in time. Calls that were allowed meanwhile are left alone."""
    settled = expire(stored)
    return no_change(stored) if settled is None else _with(stored, settled)


def resume_if_answered(stored: StoredChat, added: tuple[Body, ...], **columns: Any) -> Change:
    """Add answers; the turn goes on when no client and no person is waited for any more."""
    waits = change(
        stored, added=added, compaction_requested_at=stored.chat.compaction_requested_at, **columns
    )
    if not waits_for_others(waits.after):
        return resume(stored, added, **columns)
    deadline = stored.chat.requires_action_deadline_at
    kept = deadline if unanswered_dynamic_calls(waits.after) else None
    return replace(waits, chat=replace(waits.chat, requires_action_deadline_at=kept))


def approvals_after(
    stored: StoredChat, request: ask.EnterRequiresAction
) -> tuple[Approval, ...] | None:
    """Return the approvals of a chat that asks, or None if a call is named that has a result."""
    wanted = {one.tool_call_id for one in request.calls_to_approve}
    if not wanted <= {call.id for call in unanswered_calls(stored.tail)}:
        return None
    seconds = request.approval_seconds
    until = stored.now + timedelta(seconds=seconds) if seconds else None
    kept = (known for known in stored.chat.approvals if known.tool_call_id not in wanted)
    return (
        *kept,
        *(
            Approval(a.tool_call_id, a.tool, a.args, stored.now, until)
            for a in request.calls_to_approve
        ),
    )


def decide(stored: StoredChat, request: ask.DecideApproval) -> ApprovalOutcome | None:
    """Return what follows from a decision, or None if that call does not wait for one (any more).

    Consent to a tool, or to calls like this one, is kept for calls to come. Other calls that wait
    are decided one by one: a rule may ask about each of them, which is not known here.
    """
    approval = _open(stored.chat, request)
    if approval is None:
        return None
    if request.verdict is Verdict.DENY:
        words = f"{DENIED}. They say: {request.words}" if request.words else DENIED
        return _denied(stored, (approval,), words, by=request.decided_by, words_said=request.words)
    id, by = approval.tool_call_id, request.decided_by
    # The decision on the call is the last one of its id, which is what people are told of it.
    decisions = (
        *(ApprovalDecision(id, rule, Verdict.ALLOW_ALWAYS, by) for rule in request.grants),
        ApprovalDecision(id, approval.tool, request.verdict, by),
    )
    approvals = (
        replace(one, allowed_by=by) if one is approval else one for one in stored.chat.approvals
    )
    return ApprovalOutcome((), tuple(approvals), decisions)


def expire(stored: StoredChat) -> ApprovalOutcome | None:
    """Return what follows for approvals whose time is over, or None if there are none."""
    late = tuple(
        a for a in stored.chat.open_approvals if a.until is not None and a.until <= stored.now
    )
    return _denied(stored, late, LATE) if late else None


def _denied(
    stored: StoredChat,
    approvals: tuple[Approval, ...],
    words: str,
    *,
    by: UserId | None = None,
    words_said: str = "",
) -> ApprovalOutcome:
    ids = {approval.tool_call_id for approval in approvals}
    return ApprovalOutcome(
        denials(stored, ids, words, by=by),
        tuple(a for a in stored.chat.approvals if a not in approvals),
        tuple(
            ApprovalDecision(a.tool_call_id, a.tool, Verdict.DENY, by, words_said)
            for a in approvals
        ),
    )


def _open(chat: Chat, request: ask.DecideApproval) -> Approval | None:
    """Find the approval that a decision is about.

    A model may give a later call the id of an earlier one. A decision about the earlier call
    decides nothing about the later.
    """
    return next(
        (
            one
            for one in chat.open_approvals
            if one.tool_call_id == request.tool_call_id and request.asked_at in (None, one.asked_at)
        ),
        None,
    )


def _with(stored: StoredChat, settled: ApprovalOutcome) -> Change:
    made = resume_if_answered(stored, settled.added, approvals=settled.approvals)
    return replace(made, decisions=settled.decisions)
