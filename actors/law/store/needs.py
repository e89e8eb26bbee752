"""The facts that a request needs beside a chat's columns, its queue and its tail. Pure.

Those three are read for every request, because the next bundle builds on the answer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from actors.law import requests as ask
from actors.law.change import referenced_files
from actors.law.chat import StoredChat
from actors.law.closing import advance_tail, unanswered_calls
from actors.law.ids import FileId, MessageId
from actors.law.parts.message import Part


@dataclass(frozen=True, slots=True)
class Needs:
    """Facts to read for some requests."""

    edits: MessageId | None  # this message and all after it
    files: frozenset[FileId]  # whether these are there, and which are linked


# What these write is dated, or given a deadline, by the database's clock.
_DATED: frozenset[type[ask.Request]] = frozenset(
    {
        ask.RequestCompaction,
        ask.CompleteRequiresAction,
        ask.DecideApproval,
        ask.EnterRequiresAction,
        ask.ExpireApprovals,
        ask.FinishInterruption,
        ask.RetryTurn,
    }
)


def needs_the_time(held: StoredChat, requests: Sequence[ask.Request]) -> bool:
    """Return whether what `requests` make of `held` depends on the time at which it is written."""
    match requests:
        case [ask.FinishInterruption(partials)]:  # only the results that it makes up are dated
            return bool(unanswered_calls(advance_tail(held.tail, partials)))
        case _:
            return any(type(request) in _DATED for request in requests)


def ends_work(requests: Sequence[ask.Request]) -> bool:
    """Return whether these requests stop what is under way, so that they go before others."""
    return any(isinstance(request, ask.Interrupt) for request in requests)


def needs(requests: Sequence[ask.Request]) -> Needs:
    """Return what has to be read before the law is asked about these requests."""
    edits = None
    files: frozenset[FileId] = frozenset()
    for request in requests:
        kind = type(request)
        if isinstance(request, ask.EditMessage):
            edits = request.message_id
        parts_of = _PARTS_BROUGHT.get(kind)
        if parts_of is not None:
            files |= referenced_files(parts_of(request))
    return Needs(edits, files)


def files_of(request: ask.CreateChat) -> frozenset[FileId]:
    """Return the files that the first messages of a new chat refer to."""
    return referenced_files([body.parts for body in request.messages])


# The parts of messages that these requests bring; the others bring none.
_PARTS_BROUGHT: dict[type[ask.Request], Callable[[Any], list[tuple[Part, ...]]]] = {
    ask.SendMessage: lambda r: [r.message.parts],
    ask.EditQueued: lambda r: [r.message.parts],
    ask.EditMessage: lambda r: [r.message.parts, *(body.parts for body in r.then)],
    ask.CommitStep: lambda r: [body.parts for body in r.messages],
    ask.FinishInterruption: lambda r: [body.parts for body in r.partials],
    ask.CompleteRequiresAction: lambda r: [body.parts for body in r.then],
}
