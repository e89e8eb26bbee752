"""News of a commit: ids and versions, never content. A hint may be lost, doubled or late. Pure.

A receiver reads again what the hint is about, unless it has seen a snapshot at least as new.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from uuid import UUID

from actors.law.change import Change
from actors.law.chat import Chat
from actors.law.ids import ChatId, RunnerId, UserId, WorkerId
from actors.law.states import RUNNABLE, Status


class ListChange(Enum):
    """The kind of a change of which the watchers of a list of chats are told."""

    CREATED = "created"  # or taken out of the archive
    DELETED = "deleted"  # put into it
    STATUS = "status"
    ACTION = "action"  # its client has to do something
    TITLE = "title"
    TURN_SUMMARY = "turn_summary"
    SUMMARY = "summary"
    CONTEXT = "context"  # what it knows of its workspace was pinned, or the files have moved on
    DIFF = "diff"  # its pull request, or its branch
    SHARED = "shared"  # with the one who is told
    UNSHARED = "unshared"  # the one who is told may read it no more


@dataclass(frozen=True, slots=True)
class ChatMoved:
    """The stored chat is now at this snapshot."""

    chat: ChatId
    snapshot_version: int
    history_version: int
    queue_version: int
    retry_state_version: int
    generation_attempt: int
    status: Status
    archived: bool
    worker_id: WorkerId | None
    runner_id: RunnerId | None
    owner_id: UserId
    by_holder: bool = False  # who holds the chat wrote it, and need not be told
    became: ListChange | None = None  # None: watchers of lists are not told


@dataclass(frozen=True, slots=True)
class WorkWaits:
    """The chat has work to do and no process that does it: supervisors, look for work."""

    chat: ChatId
    snapshot_version: int


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The chat has another title. No snapshot moves with it: those who show the title read it."""

    chat: ChatId
    owner_id: UserId


@dataclass(frozen=True, slots=True)
class SummaryChanged:
    """The chat has another summary, of the whole or of its latest turn. No snapshot moves with
    it."""

    chat: ChatId
    owner_id: UserId
    of_chat: bool

    @property
    def became(self) -> ListChange:
        return ListChange.SUMMARY if self.of_chat else ListChange.TURN_SUMMARY


@dataclass(frozen=True, slots=True)
class ContextChanged:
    """The chat's context of its workspace was pinned, or its files have changed since."""

    chat: ChatId
    owner_id: UserId


@dataclass(frozen=True, slots=True)
class DiffStatusChanged:
    """The forge tells otherwise of the chat's branch, or the chat works on another one."""

    chat: ChatId
    owner_id: UserId


@dataclass(frozen=True, slots=True)
class ReadersChanged:
    """The user may read the family of this chat from now on, or may no more; None: so may all."""

    chat: ChatId
    owner_id: UserId
    user: UserId | None


@dataclass(frozen=True, slots=True)
class ReadStatusSet:
    """The chat's owner says that they have seen it, or not: what is open of it notes no more."""

    chat: ChatId
    is_seen: bool


@dataclass(frozen=True, slots=True)
class WorkspaceClosed:
    """The workspace was stopped or removed. What runs in it is to end."""

    workspace: UUID


@dataclass(frozen=True, slots=True)
class OpenApprovalsChanged:
    """People are asked for consent to other calls of this chat than before."""

    chat: ChatId
    root_id: ChatId


@dataclass(frozen=True, slots=True)
class InboxChanged:
    """A notice was filed for the user that no change of a chat has brought."""

    user: UserId


@dataclass(frozen=True, slots=True)
class CatalogueChanged:
    """Providers, models or settings were changed: those of one user, or of the deployment."""

    user: UserId | None


@dataclass(frozen=True, slots=True)
class ForgeTokenChanged:
    """The user has brought a token for a forge, or has taken one back."""

    user: UserId


@dataclass(frozen=True, slots=True)
class PersonChanged:
    """A user has another name, other rights, or one token less."""

    user: UserId


Hint = (
    ChatMoved
    | WorkWaits
    | TitleChanged
    | SummaryChanged
    | ContextChanged
    | DiffStatusChanged
    | ForgeTokenChanged
    | ReadersChanged
    | ReadStatusSet
    | WorkspaceClosed
    | OpenApprovalsChanged
    | InboxChanged
    | CatalogueChanged
    | PersonChanged
)


@dataclass(frozen=True, slots=True)
class HintsLost:
    """Hints may have been lost: every receiver reads anew all that it follows."""


News = Hint | HintsLost


def hints_of_change(
    change: Change, *, holder_is_fresh: bool, by_holder: bool = False
) -> tuple[Hint, ...]:
    """Return the hints to tell once `change` has been committed."""
    became = list_change_of(change, by_holder=by_holder)
    moved = hints_of_chat(
        change.chat, holder_is_fresh=holder_is_fresh, by_holder=by_holder, became=became
    )
    after = change.chat
    return (*moved, OpenApprovalsChanged(after.id, after.root)) if _asks_changed(change) else moved


def list_change_of(change: Change, *, by_holder: bool) -> ListChange | None:
    """Return what a list of chats shows of a change, or None.

    A step of a turn that goes on is no news in a list. What users do to a chat is.
    """
    before, after = change.before.chat, change.chat
    if after.snapshot_version == 1:
        return ListChange.CREATED
    if after.archived is not before.archived:
        return ListChange.DELETED if after.archived else ListChange.CREATED
    if after.status is not before.status:
        return ListChange.ACTION if after.status is Status.REQUIRES_ACTION else ListChange.STATUS
    if _asks_changed(change):
        return ListChange.ACTION
    was_queued = any(row.id < 0 for row in change.queue)
    moved = after.history_version == after.snapshot_version
    by_user = moved and (not by_holder or change.queue != change.before.queue)
    return ListChange.STATUS if was_queued or by_user else None


def _asks_changed(change: Change) -> bool:
    before, after = change.before.chat, change.chat
    return after.approvals != before.approvals and after.open_approvals != before.open_approvals


def hints_of_chat(
    chat: Chat,
    *,
    holder_is_fresh: bool,
    by_holder: bool = False,
    became: ListChange | None = None,
) -> tuple[Hint, ...]:
    """Return the hints to tell of a chat that has been committed like this."""
    holder = chat.holder
    moved = ChatMoved(
        chat.id,
        chat.snapshot_version,
        chat.history_version,
        chat.queue_version,
        chat.retry_state_version,
        chat.generation_attempt,
        chat.status,
        chat.archived,
        worker_id=None if holder is None else holder.worker,
        runner_id=None if holder is None else holder.runner,
        owner_id=chat.owner_id,
        by_holder=by_holder,
        became=became,
    )
    waits = chat.status in RUNNABLE and not (holder is not None and holder_is_fresh)
    return (moved, WorkWaits(chat.id, chat.snapshot_version)) if waits else (moved,)


@dataclass(frozen=True, slots=True)
class UntoldHint:
    """A hint of a commit that stands, but could not be told: the slow polls will find it."""

    hint: Hint
    error: Exception


Tell = Callable[[Hint], None]


def tell_all(hints: Iterable[Hint], tell: Tell) -> tuple[UntoldHint, ...]:
    """Tell every hint of a commit, in order, and return those that could not be told.

    Call it once the transaction has committed, never before. One hint that cannot be told does not
    hold up the others: the commit stands all the same.
    """
    untold = []
    for hint in hints:
        try:
            tell(hint)
        except Exception as error:  # noqa: BLE001  # whatever it was: the commit stands
            untold.append(UntoldHint(hint, error))
    return tuple(untold)
