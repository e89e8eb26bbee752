"""The ports that the supervisor asks for, and the limits it keeps. Pure."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from actors.chat.api import ChatMail
from actors.chat.turn.work import HeldChat
from actors.law.ids import Holder
from actors.law.store.ports import Bus, Leases, Ledger, StoredChats
from runtime.mailbox import Address, Mailbox


class RunnableChat(Protocol):
    """A chat actor that has not been started. Once its run is over, it holds nothing any more."""

    address: Address[ChatMail]
    mailbox: Mailbox[ChatMail]

    async def run(self) -> object: ...


@dataclass(frozen=True, slots=True)
class SupervisorLimits:
    """The bounds of the supervisor: how many chats at once, and how often it looks. The length of
    the lease is the same wherever it is asked for."""

    roots: int = 5_000  # chats at work that have no parent; more wait until one has ended
    children: int = 10_000  # chats at work that have a parent
    ending: int = 1_000  # over both: chats that are only to be ended; more wait likewise
    # Beside all of these: chats that have no work before a client or a person has answered. Those
    # beyond it keep the slots that they had while they were at work, until others were answered.
    waiting: int = 10_000
    batch: int = 100  # taken by one statement; what is over, by the next
    poll_seconds: float = 1.0  # between searches that no hint asked for
    sync_seconds: float = 15.0  # between comparisons with what the store says this process holds
    claim_seconds: float = 30.0  # a slot promised to a sender; then it is free again
    lease_seconds: float = 30.0
    drain_seconds: float = 30.0  # for steps in flight when the process stops; then they are cut

    @property
    def total(self) -> int:
        return self.roots + self.children + self.ending

    @property
    def held(self) -> int:
        return self.total + self.waiting


@dataclass(frozen=True, slots=True)
class SupervisorDeps:
    """The ports and limits of the supervisor."""

    leases: Leases
    ledger: Ledger
    reading: StoredChats
    bus: Bus
    make_chat: Callable[[Holder, HeldChat], RunnableChat]  # the actor of a chat that has been taken
    new_id: Callable[[], UUID]
    limits: SupervisorLimits = SupervisorLimits()
