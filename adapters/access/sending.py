"""How a request puts a chat to work: here, if there is room, in the sender's own transaction.

The place is claimed before, so the chat is acquired by what makes it `running`, and its actor
begins with what was written, without reading it. Without room, or if somebody holds the chat
already, the commit's hints tell whom it concerns.
"""

from collections.abc import Awaitable, Sequence
from typing import Protocol

from actors.law.ids import ChatId
from actors.law.refusals import Refusal
from actors.law.requests import CreateChat, Request
from actors.law.store.ports import Applied, Ledger, Receipt, StaleFence
from actors.supervisor import api
from actors.supervisor.api import SupervisorMail
from actors.supervisor.slots import Claim, Slots
from runtime.clock import now
from runtime.mailbox import Address


class Supervised(Protocol):
    """A supervisor, or its intake, as senders know it."""

    address: Address[SupervisorMail]

    @property
    def slots(self) -> Slots: ...


class Sending:
    def __init__(self, ledger: Ledger, supervisor: Supervised) -> None:
        self._ledger = ledger
        self._supervisor = supervisor

    async def create(
        self, request: CreateChat, *, receipt: Receipt | None = None
    ) -> Applied | Refusal:
        """A new chat, at work at once."""
        claim = self._claim(is_root=request.chat.parent_id is None)
        writing = self._ledger.create(request, _taking(claim), receipt=receipt)
        answer = await self._handed(claim, writing, is_new=True)
        assert not isinstance(answer, StaleFence), "nothing is fenced here"
        return answer

    async def apply(
        self,
        chat: ChatId,
        requests: Sequence[Request],
        *,
        is_root: bool,
        receipt: Receipt | None = None,
    ) -> Applied | Refusal:
        """What may put the chat to work. Whoever holds it hears of it, and keeps it."""
        claim = self._claim(is_root=is_root)
        writing = self._ledger.apply(chat, [*requests, *_taking(claim)], receipt=receipt)
        answer = await self._handed(claim, writing)
        assert not isinstance(answer, StaleFence), "nothing is fenced here"
        return answer

    def _claim(self, *, is_root: bool) -> Claim | None:
        return self._supervisor.slots.claim(is_root=is_root, now=now())

    async def _handed(
        self,
        claim: Claim | None,
        writing: Awaitable[Applied | Refusal | StaleFence],
        *,
        is_new: bool = False,
    ) -> Applied | Refusal | StaleFence:
        """The answer, when its chat has been handed to its actor. If the sender is cancelled
        with his commit on its way, a comparison with the store finds the chat."""
        if claim is None:
            return await writing
        handed = False
        try:
            answer = await writing
            if isinstance(answer, Applied) and answer.chat.holder == claim.holder:
                history = answer.messages if is_new else None  # of a new chat these are all
                handed = api.hand_over(self._supervisor.address, answer.stored, history)
        finally:
            if not handed:
                self._supervisor.slots.release(claim)
        return answer


def _taking(claim: Claim | None) -> Sequence[Request]:
    return () if claim is None else claim.requests
