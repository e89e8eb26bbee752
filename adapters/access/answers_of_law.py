"""What the law refuses, as the API says it. Pure."""

from typing import assert_never

from actors.law.refusals import (
    NO_TRANSITION,
    AlreadyServed,
    ChatNotFound,
    FilesFull,
    FilesUnavailable,
    InvalidState,
    MessageNotFound,
    NotAllowed,
    NotAwaitingDecision,
    NotRoot,
    QueuedNotFound,
    QueueFull,
    QueueMoved,
    Refusal,
)
from actors.law.states import State, Status
from actors.law.store.ports import StaleFence
from adapters.http.refusals import HttpError, not_found

_ARCHIVED = frozenset({State.XW, State.XE0, State.XE1})
# What says something in a chat: that it is archived is then a fault of the request.
_SPEAKING = frozenset(
    {"SendMessage", "EditMessage", "PromoteQueued", "RequestCompaction", "CompleteRequiresAction"}
)
# As it says so to people, who do not know the letters of the states.
_STATES = {
    State.W: "it is waiting for a message, and nothing is queued",
    State.E0: "it has stopped with an error, and nothing is queued",
    State.E1: "it has stopped with an error",
    State.R0: "it is running, and nothing is queued",
    State.R1: "it is running",
    State.I0: "it is being interrupted, and nothing is queued",
    State.I1: "it is being interrupted",
    State.A0: "it waits for tool results or consent, and nothing is queued",
    State.A1: "it waits for tool results or consent",
    State.XW: "it is archived",
    State.XE0: "it is archived",
    State.XE1: "it is archived",
    State.INVALID: "it is in an invalid state",
}
_STATUSES = {
    State.W: Status.WAITING,
    **dict.fromkeys((State.E0, State.E1), Status.ERROR),
    **dict.fromkeys((State.R0, State.R1), Status.RUNNING),
    **dict.fromkeys((State.I0, State.I1), Status.INTERRUPTING),
}


def refused(answer: Refusal | StaleFence) -> HttpError:
    match answer:
        case ChatNotFound():
            return not_found()
        case MessageNotFound():
            return HttpError(404, "message not found", detail=str(answer))
        case QueuedNotFound():
            return HttpError(404, "queued message not found", detail=str(answer))
        case QueueFull():
            return HttpError(429, "message queue is full", detail=str(answer))
        case QueueMoved():
            return HttpError(409, "the queue has changed meanwhile", detail=str(answer))
        case FilesFull():
            return HttpError(400, "too many attachments", detail=str(answer))
        case FilesUnavailable():
            return HttpError(400, "attachment not available", detail=str(answer))
        case NotRoot():
            return HttpError(400, "only a root chat can be archived", detail=str(answer))
        case InvalidState():
            return HttpError(409, "chat is in an invalid state", detail=str(answer))
        case AlreadyServed():
            return HttpError(409, "request is being served", detail=str(answer))
        case NotAllowed():
            return _not_allowed(answer)
        case StaleFence():
            return HttpError(409, "the chat has changed meanwhile", detail=str(answer))
        case _:
            assert_never(answer)


def _not_allowed(answer: NotAllowed) -> HttpError:
    if isinstance(answer.fault, NotAwaitingDecision):
        return HttpError(409, "nothing to decide", detail=str(answer.fault))
    if answer.fault is not None:
        return HttpError(400, "invalid request for this chat", detail=str(answer.fault))
    if answer.state in _ARCHIVED and answer.transition in _SPEAKING:
        return archived()
    where = "" if answer.state is None else _STATES[answer.state]
    if answer.transition == "CompleteRequiresAction" and answer.state in _STATUSES:
        # Programs that answer for their tools want to know: somebody was faster.
        detail = f"its status is {_STATUSES[answer.state].value}: {where}"
        return HttpError(409, "chat does not wait for tool results", detail=detail)
    why = "" if answer.rule == NO_TRANSITION else answer.rule
    detail = ": ".join(filter(None, (where, why)))
    return HttpError(409, "chat state does not allow this operation", detail=detail)


def archived() -> HttpError:
    """Of whoever would speak in an archived chat."""
    return HttpError(400, "chat is archived", detail="unarchive it first")
