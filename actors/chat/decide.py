"""What a new view of the stored chat means for the work in flight. Pure.

The actor has at most one piece of work. Whatever comes in (a view of the store, the end of its
work) is answered by one of four decisions:

    Go(kind)      nothing is in flight: begin this
    Cancel(cause) what is in flight is obsolete: stop it; its end brings us back here
    Carry()       what is in flight is still right, or there is nothing to do yet
    End(cause)    we have no business with this chat any more
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
    """The work that runs, what it was begun for, and whether it would lose anything by stopping."""

    kind: WorkKind
    history_version: int
    status: Status
    archived: bool
    at_stake: bool = False

    @property
    def may_go_on_elsewhere(self) -> bool:
        """Whether it only waits. Other work can be finished here alone."""
        return self.kind in _WAITS or (self.kind is WorkKind.GENERATE and not self.at_stake)


@dataclass(frozen=True, slots=True)
class Begin:
    kind: WorkKind


@dataclass(frozen=True, slots=True)
class Cancel:
    cause: Cause


@dataclass(frozen=True, slots=True)
class KeepGoing:
    pass


@dataclass(frozen=True, slots=True)
class LeaveChat:
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
    """`keeps_failing`: attempts have failed here too often, and not because of the provider."""
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
    if draining and kind is not WorkKind.INTERRUPT:  # only here is it known what was said
        return WorkKind.LEAVE
    if kind is WorkKind.GENERATE and chat.retry_state is not None:
        return WorkKind.AWAIT_ATTEMPT
    return kind


def why_obsolete(work: InFlight, chat: Chat) -> Cause:
    """What the work in flight is stopped for. A user's interrupt keeps what was said."""
    if chat.archived != work.archived:
        return Archived()
    if chat.history_version != work.history_version:
        return HistoryMoved(chat.history_version)
    if chat.status is Status.INTERRUPTING:
        return UserInterrupted()
    return StatusMoved(chat.status.value)


def _belongs(work: InFlight, chat: Chat) -> bool:
    """Attempts, retries and the queue move under a piece of work without making it obsolete."""
    return (
        work.history_version == chat.history_version
        and work.status is chat.status
        and work.archived == chat.archived
    )
