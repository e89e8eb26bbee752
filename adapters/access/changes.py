"""Requests that change a chat: how they put it to work, and what the API says if one is refused.

A request puts its chat to work here, if there is room, in its own transaction. The place is claimed
before, so the chat is acquired by the same write that makes it `running`, and its actor begins with
what was written, without reading it. Without room, or if a process holds the chat already, the
commit's hints tell those whom it concerns.
"""

from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeVar, assert_never

from actors.chat.histories import NO_HISTORIES, KnownHistories
from actors.chat.turn.work import MessageTimes
from actors.law.chat import StoredChat
from actors.law.ids import ChatId, UserId
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
from actors.law.requests import CreateChat, Request
from actors.law.states import State, Status
from actors.law.store.ports import Applied, Ledger, Receipt, StaleFence
from actors.supervisor import api
from actors.supervisor.api import SupervisorMail
from actors.supervisor.slots import Claim, Slots
from adapters.access.hooked_requests import UNHOOKED, RequestHooks
from adapters.http.refusals import HttpError, not_found
from runtime.clock import now
from runtime.mailbox import Address

_Answer = TypeVar("_Answer", bound=Applied | Refusal | StaleFence | None)


class SupervisorEntry(Protocol):
    """A supervisor, or its intake, as far as requests need it."""

    address: Address[SupervisorMail]

    @property
    def slots(self) -> Slots: ...


class ChatSender:
    """Sends requests that may put a chat to work."""

    def __init__(
        self,
        ledger: Ledger,
        supervisor: SupervisorEntry,
        hooks: RequestHooks = UNHOOKED,
        histories: KnownHistories = NO_HISTORIES,
    ) -> None:
        self._ledger = ledger
        self._supervisor = supervisor
        self._hooks = hooks
        self._histories = histories

    async def create(
        self, request: CreateChat, *, receipt: Receipt | None = None, arrived: float | None = None
    ) -> Applied | Refusal:
        """Create a chat that is at work at once. `arrived` is when this was asked for."""
        if self._hooks.is_on:
            request = await self._hooks.of_creation(request)
        claim = self._claim(is_root=request.chat.parent_id is None)
        writing = self._ledger.create(request, _taking(claim), receipt=receipt)
        answer = await self._hand_over(claim, writing, arrived, is_new=True)
        assert not isinstance(answer, StaleFence), "nothing is fenced here"
        return answer

    async def apply(
        self,
        chat: ChatId,
        requests: Sequence[Request],
        *,
        is_root: bool,
        receipt: Receipt | None = None,
        arrived: float | None = None,
    ) -> Applied | Refusal:
        """Apply requests that may put the chat to work. A process that holds it already hears of
        them, and keeps it. `arrived` is when a message came that is sent."""
        requests = await self.hooked(chat, requests)
        claim = self._claim(is_root=is_root)
        writing = self._ledger.apply(chat, [*requests, *_taking(claim)], receipt=receipt)
        answer = await self._hand_over(claim, writing, arrived)
        assert not isinstance(answer, StaleFence), "nothing is fenced here"
        return answer

    def at_rest(self, chat: ChatId, owner: UserId) -> StoredChat | None:
        """Return what this process knows of a chat of this owner that it has left at rest, for a
        request that `wake` is to apply. None: it knows nothing, or a hook has to be asked.

        Whose a chat is never changes; all else may have.
        """
        resting = self._histories.at_rest(chat)
        if resting is None or resting.chat.owner_id != owner or self._hooks.is_on:
            return None
        return resting

    async def wake(
        self, resting: StoredChat, requests: Sequence[Request], *, arrived: float | None = None
    ) -> Applied | None:
        """Apply requests to a chat at rest in one trip, and put it to work here if there is room.
        None: nothing was written, because it is not as it was known. Then it is to be asked for,
        and the requests made anew."""
        claim = self._claim(is_root=resting.chat.is_root)
        writing = self._ledger.wake(resting, [*requests, *_taking(claim)])
        answer = await self._hand_over(claim, writing, arrived)
        assert answer is None or isinstance(answer, Applied), "what is refused is asked for anew"
        return answer

    async def hooked(self, chat: ChatId, requests: Sequence[Request]) -> Sequence[Request]:
        """Return the requests after the policy hook was asked, if there is one."""
        return await self._hooks.of_change(chat, requests) if self._hooks.is_on else requests

    def _claim(self, *, is_root: bool) -> Claim | None:
        return self._supervisor.slots.claim(is_root=is_root, now=now())

    async def _hand_over(
        self,
        claim: Claim | None,
        writing: Awaitable[_Answer],
        arrived: float | None,
        *,
        is_new: bool = False,
    ) -> _Answer:
        """Wait for the answer, and hand the chat to its actor. If this is cancelled while the
        commit is on its way, a comparison with the store finds the chat."""
        if claim is None:
            return await writing
        handed, began = False, now()
        try:
            answer = await writing
            if isinstance(answer, Applied) and answer.chat.holder == claim.holder:
                history = answer.messages if is_new else None  # of a new chat these are all
                times = None if arrived is None else MessageTimes(arrived, began, now())
                handed = api.hand_over(self._supervisor.address, answer.stored, history, times)
        finally:
            if not handed:
                self._supervisor.slots.release(claim)
        return answer


def _taking(claim: Claim | None) -> Sequence[Request]:
    return () if claim is None else claim.requests


# refusals


_ARCHIVED = frozenset({State.XW, State.XE0, State.XE1})
# Requests that say something in a chat. If it is archived, that is a fault of the request.
_SPEAKING = frozenset(
    {
        "SendMessage",
        "EditMessage",
        "PromoteQueued",
        "RequestCompaction",
        "RetryTurn",
        "CompleteRequiresAction",
    }
)
# What people are told, who do not know the letters of the states.
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


def refusal_response(answer: Refusal | StaleFence) -> HttpError:
    """Return what the API answers when the law refuses a request."""
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
        return archived_refusal()
    where = "" if answer.state is None else _STATES[answer.state]
    if answer.transition == "CompleteRequiresAction" and answer.state in _STATUSES:
        # Programs that answer for their tools want to know that another answer was faster.
        detail = f"its status is {_STATUSES[answer.state].value}: {where}"
        return HttpError(409, "chat does not wait for tool results", detail=detail)
    why = "" if answer.rule == NO_TRANSITION else answer.rule
    detail = ": ".join(filter(None, (where, why)))
    return HttpError(409, "chat state does not allow this operation", detail=detail)


def archived_refusal() -> HttpError:
    """Return the answer to a request that would say something in an archived chat."""
    return HttpError(400, "chat is archived", detail="unarchive it first")
