"""The rule for what a new view of the stored chat means for the work in flight. Pure.

The actor has at most one piece of work. A view of the store and the end of its work are answered by
one of four decisions:

    Begin(kind)       nothing is in flight: begin this
    Cancel(cause)     what is in flight is obsolete: stop it; its end comes back here
    KeepGoing()       what is in flight is still right, or there is nothing to do yet
    LeaveChat(cause)  the chat is not this actor's any more
"""

from dataclasses import dataclass

from actors.chat.turn.work import (
    Archived,
    HistoryMoved,
    LeaseTaken,
    StatusMoved,
    UserInterrupted,
    WorkKind,
)
from actors.law.chat import Chat
from actors.law.ids import Holder
from actors.law.states import Status
from runtime.ends import Cause, Shutdown


@dataclass(frozen=True, slots=True)
class InFlight:
    """The work that runs, what it was begun for, and whether stopping it would lose anything."""

    kind: WorkKind
    history_version: int
    status: Status
    archived: bool
    at_stake: bool = False

    @property
    def may_go_on_elsewhere(self) -> bool:
        """Tell whether the work only waits. Other work can be finished only here."""
        return self.kind in _WAITS or (self.kind is WorkKind.GENERATE and not self.at_stake)


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin this kind of work: nothing is in flight."""

    kind: WorkKind


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop the work in flight, which is obsolete."""

    cause: Cause


@dataclass(frozen=True, slots=True)
class KeepGoing:
    """Do nothing: the work in flight is still right, or there is nothing to do yet."""


@dataclass(frozen=True, slots=True)
class LeaveChat:
    """End the actor: the chat is not its own any more."""

    cause: Cause


Decision = Begin | Cancel | KeepGoing | LeaveChat

_KIND = {
    Status.RUNNING: WorkKind.GENERATE,
    Status.INTERRUPTING: WorkKind.INTERRUPT,
    Status.REQUIRES_ACTION: WorkKind.AWAIT_CLIENT,
    Status.WAITING: WorkKind.LEAVE,
    Status.ERROR: WorkKind.LEAVE,
}
_WAITS = (WorkKind.AWAIT_CLIENT, WorkKind.AWAIT_ATTEMPT)


def decide(
    me: Holder,
    chat: Chat,
    in_flight: InFlight | None,
    *,
    draining: bool,
    keeps_failing: bool = False,
) -> Decision:
    """Return what to do about the chat.

    `keeps_failing` says that attempts have failed here too often, and not because of the provider.
    """
    if chat.holder != me:
        return LeaveChat(LeaseTaken(chat.holder))
    if in_flight is None:
        kind = _kind(chat, draining=draining)
        return Begin(WorkKind.GIVE_UP if keeps_failing and kind is WorkKind.GENERATE else kind)
    if draining and in_flight.may_go_on_elsewhere:
        return Cancel(Shutdown())
    if _belongs(in_flight, chat):
        return KeepGoing()
    return Cancel(why_obsolete(in_flight, chat))


def _kind(chat: Chat, *, draining: bool) -> WorkKind:
    kind = WorkKind.LEAVE if chat.archived else _KIND[chat.status]
    if draining and kind is not WorkKind.INTERRUPT:  # what was said is known only here
        return WorkKind.LEAVE
    if kind is WorkKind.GENERATE and chat.retry_state is not None:
        return WorkKind.AWAIT_ATTEMPT
    return kind


def why_obsolete(work: InFlight, chat: Chat) -> Cause:
    """Return why the work in flight has to stop. A user's interrupt keeps what was said."""
    if chat.archived != work.archived:
        return Archived()
    if chat.history_version != work.history_version:
        return HistoryMoved(chat.history_version)
    if chat.status is Status.INTERRUPTING:
        return UserInterrupted()
    return StatusMoved(chat.status.value)


def _belongs(work: InFlight, chat: Chat) -> bool:
    """Tell whether the work still fits the chat. Attempts, retries and the queue may change without
    making it obsolete."""
    return (
        work.history_version == chat.history_version
        and work.status is chat.status
        and work.archived == chat.archived
    )
