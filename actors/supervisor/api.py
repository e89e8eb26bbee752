"""The mail of the supervisor, the functions by which others send it, and how it fares.

Others put chats to work through an `Intake`: they claim a slot there, and hand the chat over.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from actors.chat.turn.work import MessageTimes
from actors.law.chat import Message, StoredChat
from actors.law.ids import RunnerId, WorkerId
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import UnreadableChat
from actors.supervisor.deps import SupervisorLimits
from actors.supervisor.heartbeat import HeartbeatStatistics
from actors.supervisor.slots import Slots, SlotsStatistics
from runtime.ends import End
from runtime.errors import ActorGone, MailboxFull
from runtime.mailbox import Address, Mailbox, open_mailbox
from runtime.statistics import CounterMetric, GaugeMetric, MailboxStatistics

SETTLING_MAX = 1_024  # chats being given back at once; what is over, a comparison finds later
SPARE_MAIL = 64  # mail that is not about a chat: ends of searches and comparisons, drains


@dataclass(frozen=True, slots=True)
class LookForWork:
    """A hint that there may be chats to take."""


@dataclass(frozen=True, slots=True)
class Compare:
    """A hint that hints may have been lost: compare what this process holds with the store."""


@dataclass(frozen=True, slots=True)
class LeaseBegun:
    """A lease: chats may be taken in the name of this worker."""

    worker: WorkerId


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The loss of a lease: other processes may take what was held in this name soon, or have done
    so. Let go of it."""

    worker: WorkerId


@dataclass(frozen=True, slots=True)
class SearchEnded:
    """The end of a search. None: the store did not answer."""

    worker: WorkerId
    taken: tuple[StoredChat | UnreadableChat, ...] | None

    @property
    def are_roots(self) -> list[bool] | None:
        """Tell of each chat whether it is a root; of one that cannot be read it is supposed."""
        if self.taken is None:
            return None
        return [isinstance(each, UnreadableChat) or each.chat.is_root for each in self.taken]


@dataclass(frozen=True, slots=True)
class ComparisonEnded:
    """The chats that this process holds by what the store says. `known` are the runners that were
    here when it was asked."""

    worker: WorkerId
    known: frozenset[RunnerId]
    held: tuple[ChatMoved, ...] | None  # None: the store did not answer


@dataclass(frozen=True, slots=True)
class HandOver:
    """A chat that a sender has acquired for this process."""

    stored: StoredChat
    history: tuple[Message, ...] | None  # None: the sender does not know all of it
    message: MessageTimes | None  # that the sender has written


@dataclass(frozen=True, slots=True)
class ChatEnded:
    """The end of a chat actor."""

    runner: RunnerId
    end: End


@dataclass(frozen=True, slots=True)
class ChatSettled:
    """The end of an attempt to give back, or to stop for good, a chat that no actor here runs.
    `is_settled` is False if the chat cannot be written."""

    runner: RunnerId
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Drain:
    """The process stops: give everything back. Told a second time: at once."""


@dataclass(frozen=True, slots=True)
class DrainEnded:
    """The end of draining: nothing runs any more, and the lease is given up."""


SupervisorMail = (
    LookForWork
    | Compare
    | LeaseBegun
    | LeaseLost
    | SearchEnded
    | ComparisonEnded
    | HandOver
    | ChatEnded
    | ChatSettled
    | Drain
    | DrainEnded
)


def look_for_work(supervisor: Address[SupervisorMail]) -> bool:
    """Hint that chats wait. May be lost; the poll behind it finds them."""
    return supervisor.hint(LookForWork())


def compare(supervisor: Address[SupervisorMail]) -> bool:
    """Hint that it may have missed something. May be lost; it compares every so often anyway."""
    return supervisor.hint(Compare())


def hand_over(
    supervisor: Address[SupervisorMail],
    stored: StoredChat,
    history: tuple[Message, ...] | None = None,
    message: MessageTimes | None = None,
) -> bool:
    """Hand over a chat that was acquired on a claim of a slot, with all its messages if they are
    known. Return False if that was lost: the supervisor finds the chat later."""
    try:
        supervisor.cast(HandOver(stored, history, message))
    except (ActorGone, MailboxFull):
        return False
    return True


def drain(supervisor: Address[SupervisorMail]) -> None:
    """Take nothing more, let steps in flight finish, give the chats back, end. Again: at once."""
    supervisor.cast(Drain())


class Intake:
    """The slots of a supervisor, and the mailbox by which chats are handed over to it.

    It is made before its supervisor, because tools of chats send to it: an agent is a new chat.
    """

    def __init__(self, limits: SupervisorLimits, new_id: Callable[[], UUID]) -> None:
        self.slots = Slots(limits, new_id)
        self.address: Address[SupervisorMail]
        self.mailbox: Mailbox[SupervisorMail]
        # Room for all that can happen to every chat at once: no end of an actor is ever refused.
        capacity = 3 * limits.held + SETTLING_MAX + SPARE_MAIL
        self.address, self.mailbox = open_mailbox("supervisor", capacity=capacity)


@dataclass(frozen=True, slots=True)
class SupervisorStatistics:
    draining: Annotated[bool, GaugeMetric("1 while chats are handed on because the process ends.")]
    search: str  # idle, looking, looking_again
    searches_count: Annotated[int, CounterMetric("Searches for chats that nobody runs.")]
    taken_count: Annotated[int, CounterMetric("Chats that got an actor here.")]
    failed_count: Annotated[
        int, CounterMetric("Questions of the supervisor that the store did not answer.")
    ]
    settling: Annotated[
        int, GaugeMetric("Chats that are held here, run by no actor, and are being given back.")
    ]
    kept_away: Annotated[int, GaugeMetric("Chats that are held here so that nobody runs them.")]
    slots: SlotsStatistics
    heartbeat: HeartbeatStatistics
    mailbox: MailboxStatistics
