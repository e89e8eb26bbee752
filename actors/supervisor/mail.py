"""What the supervisor can be told. Pure data."""

from dataclasses import dataclass

from actors.law.chat import Message, StoredChat
from actors.law.ids import RunnerId, WorkerId
from actors.law.store.hints import ChatMoved
from actors.law.store.ports import UnreadableChat
from runtime.ends import End


@dataclass(frozen=True, slots=True)
class LookForWork:
    """There may be chats to take. A hint."""


@dataclass(frozen=True, slots=True)
class Compare:
    """Hints may have been lost: compare what we hold with what the store says. A hint."""


@dataclass(frozen=True, slots=True)
class LeaseBegun:
    """Chats may be taken in this name."""

    worker: WorkerId


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """Others may take what was held in this name soon, or have done so: let go of it."""

    worker: WorkerId


@dataclass(frozen=True, slots=True)
class Searched:
    """A search is over. None: the store did not answer."""

    worker: WorkerId
    taken: tuple[StoredChat | UnreadableChat, ...] | None


@dataclass(frozen=True, slots=True)
class Compared:
    """What the store says we hold. `known`: the runners that were here when it was asked."""

    worker: WorkerId
    known: frozenset[RunnerId]
    held: tuple[ChatMoved, ...] | None  # None: the store did not answer


@dataclass(frozen=True, slots=True)
class Take:
    """A sender has acquired this chat for us."""

    stored: StoredChat
    history: tuple[Message, ...] | None  # None: the sender does not know all of it


@dataclass(frozen=True, slots=True)
class ChatEnded:
    runner: RunnerId
    end: End


@dataclass(frozen=True, slots=True)
class Settled:
    """A chat that nobody ran was given back, or stopped for good; or it cannot be written."""

    runner: RunnerId
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Drain:
    """The process stops: give everything back. Said twice: at once."""


@dataclass(frozen=True, slots=True)
class Drained:
    """Nothing runs any more, and our lease is given up."""


SupervisorMail = (
    LookForWork
    | Compare
    | LeaseBegun
    | LeaseLost
    | Searched
    | Compared
    | Take
    | ChatEnded
    | Settled
    | Drain
    | Drained
)
