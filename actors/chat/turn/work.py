"""The work of a chat actor: what its tasks are given, how they end, and why they are stopped.

A task does one thing (an attempt at a step; an interruption; a wait) and returns what the store
holds after it. Only the actor keeps state between tasks. While an attempt runs, it notes what would
be lost if it were stopped.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import Enum

from actors.law.chat import Body, Message, StoredChat
from actors.law.ids import EpisodeKey, Holder
from actors.law.parts.assemble import Assembly
from actors.law.parts.message import Cost
from runtime.ends import Cause


class WorkKind(Enum):
    GENERATE = "generate"
    INTERRUPT = "interrupt"
    AWAIT_CLIENT = "await_client"
    AWAIT_ATTEMPT = "await_attempt"
    GIVE_UP = "give_up"
    LEAVE = "leave"


@dataclass(frozen=True, slots=True)
class MessageTimes:
    """The moments of a user's message on its way, by the kernel's clock."""

    arrived: float  # the head of its request was read
    writing: float  # it was checked, and its transaction began
    committed: float


@dataclass(frozen=True, slots=True)
class HeldChat:
    """The chat as the actor knows it to be stored, with its history if that has been read.

    `attempt_begun` says that the attempt which the chat counts was begun for the work to come, in
    the transaction that led here. Otherwise the work begins by recording one.
    """

    stored: StoredChat
    history: tuple[Message, ...] | None = None
    attempt_begun: bool = False
    message: MessageTimes | None = None  # that has just put the chat to work here


@dataclass(eq=False, slots=True)
class Attempt:
    """One attempt at a step, and what there is of it if it is cut short."""

    key: EpisodeKey
    asked_model_at: float | None = None  # when a model began to be asked, by the kernel's clock
    answer: Assembly | None = None  # of that model, as far as it has come
    has_said: bool = False  # the model has said something, so something has to be paid for
    results: tuple[Body, ...] = ()  # of the tools that have ended, once their batch has
    unbooked: Cost | None = None  # was paid for in it, and is neither booked nor any message's yet
    is_booked: bool = False  # what its answer cost: whatever is kept of it costs nothing more


class WholeStep(Enum):
    """The part of a step that is lost as a whole if the step is not committed."""

    ANSWER = "answer"  # of a model, from the moment that it is asked
    RESULTS = "results"  # of all calls, once all of them are there


class AtStake:
    """The things that would be lost if the work were stopped now: the whole of a step, which is
    committed next, and calls, by id, that run here or whose results are kept nowhere else.

    Work with nothing at stake only waits: for the store, for servers of tools, for agents. When its
    process is told to stop, it gives the chat back at once, and another process goes on with it.
    `nothing_left` is called when the last of what was at stake is settled; it returns at once.
    """

    def __init__(self, nothing_left: Callable[[], object] = lambda: None) -> None:
        self._nothing_left = nothing_left
        self._things: set[WholeStep | str] = set()

    def __bool__(self) -> bool:
        return bool(self._things)

    def add(self, *things: WholeStep | str) -> None:
        self._things.update(things)

    def settle(self, calls: Iterable[str]) -> None:
        """Strike off these calls: their results are kept elsewhere by now."""
        was_empty = not self._things
        self._things.difference_update(calls)
        if not (was_empty or self._things):
            self._nothing_left()


@dataclass(frozen=True, slots=True)
class WorkAdvanced:
    """The work was committed, and this holds now."""

    held: HeldChat


@dataclass(frozen=True, slots=True)
class WorkObsolete:
    """The fence no longer stood and nothing was written: look again."""

    # A try before this one was not answered, and the history has moved: that try may have moved it.
    is_in_doubt: bool = False


@dataclass(frozen=True, slots=True)
class LetGo:
    """The chat was given back, or is not this process's any more: the actor ends."""


@dataclass(frozen=True, slots=True)
class WorkCutShort:
    """The task was told to stop before it could commit."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """Something around the work failed, the database mostly: look again, and do it again."""

    error: Exception


@dataclass(frozen=True, slots=True)
class WorkPoisoned:
    """An assertion failed on the way: the chat must not run again before an operator has looked."""

    error: Exception


Outcome = WorkAdvanced | WorkObsolete | LetGo | WorkCutShort | WorkFailed | WorkPoisoned


def without_attempt(held: HeldChat) -> HeldChat:
    """Return `held` after its attempt is over: the next one has to be counted."""
    return replace(held, attempt_begun=False)


def newest_of(known: HeldChat, other: HeldChat) -> HeldChat:
    """Return the newest snapshot of two, with what is still true of the older one."""
    older, newest = sorted((known, other), key=lambda held: held.stored.chat.snapshot_version)
    then, now = older.stored.chat, newest.stored.chat
    if then.history_version != now.history_version:
        return newest
    same_attempt = then.generation_attempt == now.generation_attempt
    return HeldChat(
        newest.stored,
        newest.history if newest.history is not None else older.history,
        attempt_begun=newest.attempt_begun or (older.attempt_begun and same_attempt),
    )


@dataclass(frozen=True, slots=True)
class UserInterrupted(Cause):
    """A user wants the turn to end: what was said so far is kept."""


@dataclass(frozen=True, slots=True)
class HistoryMoved(Cause):
    """An edit or another commit: the work answers a history that is not the chat's any more."""

    history_version: int


@dataclass(frozen=True, slots=True)
class StatusMoved(Cause):
    """The chat is in a state that this kind of work does not belong to."""

    status: str


@dataclass(frozen=True, slots=True)
class LeaseTaken(Cause):
    """Another actor holds the chat, or none does: this one may write nothing more."""

    holder: Holder | None


@dataclass(frozen=True, slots=True)
class LeaseExpired(Cause):
    """The process missed its beats: others may take its chats, so it lets go of them first."""


@dataclass(frozen=True, slots=True)
class Archived(Cause):
    pass


@dataclass(frozen=True, slots=True)
class Gone(Cause):
    """The chat was deleted."""


@dataclass(frozen=True, slots=True)
class SlowStart(Cause):
    """The provider said nothing at all in time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Silent(Cause):
    """The provider stopped in mid-answer and said nothing more in time."""

    seconds: float
