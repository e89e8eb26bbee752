"""News of a commit: ids and versions, never content. A hint may be lost, doubled or late. Pure.

Whoever gets one reads again; whoever has seen a snapshot at least as new ignores it.
"""

from dataclasses import dataclass

from actors.ids import ChatId, RunnerId, UserId, WorkerId
from actors.machine.chat import Chat
from actors.machine.states import RUNNABLE, Status


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


@dataclass(frozen=True, slots=True)
class WorkWaits:
    """The chat has work to do and nobody who does it: supervisors, look for work."""

    chat: ChatId
    snapshot_version: int


@dataclass(frozen=True, slots=True)
class TitleChanged:
    """The chat is called otherwise. No snapshot moves with a title: whoever shows it reads it."""

    chat: ChatId
    owner_id: UserId


@dataclass(frozen=True, slots=True)
class CatalogueChanged:
    """Providers, models or settings were changed: those of one user, or of the deployment."""

    user: UserId | None


@dataclass(frozen=True, slots=True)
class PersonChanged:
    """A user is called otherwise, may do other things, or has lost a token."""

    user: UserId


Hint = ChatMoved | WorkWaits | TitleChanged | CatalogueChanged | PersonChanged


@dataclass(frozen=True, slots=True)
class LookAtEverything:
    """Hints may have been lost: whoever acts on them reads anew all that he follows."""


News = Hint | LookAtEverything


def hints_of(chat: Chat, *, holder_is_fresh: bool, by_holder: bool = False) -> tuple[Hint, ...]:
    """What is to be told once `chat` has been committed."""
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
    )
    waits = chat.status in RUNNABLE and not (holder is not None and holder_is_fresh)
    return (moved, WorkWaits(chat.id, chat.snapshot_version)) if waits else (moved,)
