"""What a request has to know of a stored chat besides its columns and its queue. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

from actors.ids import FileId, MessageId
from actors.machine import requests as ask
from actors.machine.change import referenced_files


@dataclass(frozen=True, slots=True)
class Needs:
    tail: bool  # the last assistant message and what answers it
    now: bool  # the database's time: something is dated or given a deadline
    edits: MessageId | None  # this message and all after it
    files: frozenset[FileId]  # whether these are there, and which are linked


# These look at calls that may be open.
_TAIL = (
    ask.SendMessage,
    ask.EditMessage,
    ask.PromoteQueued,
    ask.Interrupt,
    ask.CompleteRequiresAction,
    ask.ReconcileInvalidState,
    ask.CommitStep,
    ask.EnterRequiresAction,
    ask.CancelRequiresAction,
    ask.FinishInterruption,
    ask.FinishTurn,
)
_NOW = (
    ask.RequestCompaction,
    ask.CompleteRequiresAction,
    ask.EnterRequiresAction,
    ask.FinishInterruption,
)


def needs(requests: Iterable[ask.Request]) -> Needs:
    requests = tuple(requests)
    edited = [request.message_id for request in requests if isinstance(request, ask.EditMessage)]
    return Needs(
        tail=any(isinstance(request, _TAIL) for request in requests),
        now=any(isinstance(request, _NOW) for request in requests),
        edits=edited[0] if edited else None,
        files=frozenset().union(*map(_files, requests)),
    )


def files_of(request: ask.CreateChat) -> frozenset[FileId]:
    return frozenset().union(*(referenced_files(body.parts) for body in request.messages))


def _files(request: ask.Request) -> frozenset[FileId]:
    match request:
        case ask.SendMessage(message=message) | ask.EditQueued(message=message):
            return referenced_files(message.parts)
        case ask.EditMessage(message=message, then=then):
            bodies = (message.as_body(), *then)
        case ask.CommitStep(messages=messages):
            bodies = messages
        case ask.FinishInterruption(partials=partials):
            bodies = partials
        case ask.CompleteRequiresAction(then=then):
            bodies = then
        case (
            ask.SetArchived()
            | ask.RequestCompaction()
            | ask.DeleteQueued()
            | ask.PromoteQueued()
            | ask.ReorderQueued()
            | ask.Interrupt()
            | ask.ReconcileInvalidState()
            | ask.Acquire()
            | ask.Abandon()
            | ask.RecordGenerationAttempt()
            | ask.RecordRetryState()
            | ask.EnterRequiresAction()
            | ask.CancelRequiresAction()
            | ask.FinishTurn()
            | ask.FinishError()
        ):
            return frozenset()
        case _:
            assert_never(request)
    return frozenset().union(*(referenced_files(body.parts) for body in bodies))
