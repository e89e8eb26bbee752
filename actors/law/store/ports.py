"""The ports of the store, in the words of the actors. Adapters fulfil them.

The bus never waits. A listener is called in the teller's task, so it does next to nothing: it hints
at an actor, or sets an event. What it raises is written down and counted, and the teller never
knows of it. Every listener hears `HintsLost`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from actors.law.change import Change
from actors.law.chat import Chat, Message, StoredChat
from actors.law.ids import ChatId, Holder, MessageId, QueuedId, RunnerId, UserId, WorkerId
from actors.law.refusals import ChatNotFound, Refusal
from actors.law.requests import CreateChat, Request
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, Hint, News, UntoldHint


class StoreUnavailable(Exception):
    """The store is away, busy, or has no room.

    What it was asked is not at fault, so no chat is stopped because of it, however long it lasts.
    """


@dataclass(frozen=True, slots=True)
class Applied:
    """A bundle that is committed. The ids are those of `change.added`, and of the rows it
    queued."""

    change: Change
    at: datetime  # the database's time of it
    message_ids: tuple[MessageId, ...]
    queued_ids: tuple[QueuedId, ...]
    untold: tuple[UntoldHint, ...] = ()
    deliveries_count: int = 0  # to webhooks and devices, that wait because of it

    @property
    def chat(self) -> Chat:
        return self.change.chat

    @property
    def stored(self) -> StoredChat:
        """Return what the store holds now, as far as the bundle knew of it.

        The next bundle can start from it without reading, as long as no other snapshot comes
        between.
        """
        after = self.change.after
        fresh = iter(self.queued_ids)
        queue = tuple(
            row if row.id > 0 else replace(row, id=next(fresh), created_at=self.at)
            for row in after.queue
        )
        return replace(after, queue=queue, suffix=None, now=self.at)

    @property
    def messages(self) -> tuple[Message, ...]:
        """Return the messages that the bundle has added, as they are stored; all, if it is new."""
        change = self.change
        revision = change.chat.snapshot_version
        return tuple(
            Message(id, revision, self.at, False, body)
            for id, body in zip(self.message_ids, change.added, strict=True)
        )


@dataclass(frozen=True, slots=True)
class Fence:
    """The facts that a worker's write must still find: the chat is its own, its work not obsolete.

    They are compared inside the write's own transaction. `attempt` is for writes of one attempt
    only.
    """

    holder: Holder
    status: Status
    history_version: int
    attempt: int | None = None
    archived: bool = False  # only giving a chat back is done to an archived one


@dataclass(frozen=True, slots=True)
class StaleFence:
    """A fence that no longer holds: nothing was written, and nothing is to be tried again."""

    fence: Fence
    found: Chat

    def __str__(self) -> str:
        return f"{self.fence} no longer stands: found {fence_of(self.found)}"


def fence_of(chat: Chat) -> Fence | None:
    """Return the fence that holds for `chat` as it is now; None while no process holds the chat."""
    if chat.holder is None:
        return None
    return Fence(
        chat.holder,
        chat.status,
        chat.history_version,
        attempt=chat.generation_attempt,
        archived=chat.archived,
    )


def fence_holds(fence: Fence, chat: Chat) -> bool:
    """Return whether the chat is still as the fence says."""
    return (
        chat.holder == fence.holder
        and chat.status is fence.status
        and chat.history_version == fence.history_version
        and (fence.archived or not chat.archived)
        and fence.attempt in (None, chat.generation_attempt)
    )


@dataclass(frozen=True, slots=True)
class Receipt:
    """The record that a user's request was served, by the key that the user gave it.

    It is kept with what the request did. A second request with the key is `AlreadyServed`.
    """

    user: UserId
    key: str
    request: bytes  # a digest: whether what comes again is the same


class Ledger(Protocol):
    """Changes chats. A bundle of requests is one transaction and one snapshot: all or nothing.

    A receipt is kept in the same transaction. If the user has one with the same key already, the
    answer is `AlreadyServed`.
    """

    async def create(
        self, request: CreateChat, then: Sequence[Request] = (), *, receipt: Receipt | None = None
    ) -> Applied | Refusal:
        """Create a chat, and apply at once what else is requested of it."""

    async def apply(
        self,
        chat: ChatId,
        requests: Sequence[Request],
        *,
        fence: Fence | None = None,
        receipt: Receipt | None = None,
    ) -> Applied | Refusal | StaleFence:
        """Lock the chat, ask the law, write what it decides. No requests: only a new snapshot."""

    async def commit(
        self, held: StoredChat, requests: Sequence[Request], *, fence: Fence
    ) -> Applied | Refusal | StaleFence:
        """Apply requests for the holder of a chat, who knows what is stored.

        It is one statement, shared with the other commits of the moment. If `held` is not the
        newest, it is an `apply`.
        """

    async def wake(self, resting: StoredChat, requests: Sequence[Request]) -> Applied | None:
        """Apply requests to a chat at rest, for who knows what was stored of it last, and may take
        it up with them.

        It is one statement, shared with the other commits of the moment. None: nothing was written,
        because `resting` is not the newest, or the law refuses. Then `apply` finds out why. Once it
        is on its way this is not cancelled.
        """

    async def archive_family(
        self, root: ChatId, *, archived: bool, at_snapshot: int | None = None
    ) -> tuple[Applied, ...] | Refusal:
        """Archive a root and its children together, the root first. One refusal refuses all.

        With `at_snapshot` it is done by a rule and not by a user: it is refused if the root has
        moved on from that snapshot, or is pinned.
        """


@dataclass(frozen=True, slots=True)
class Beat:
    """The answer to a beat: the lease of a worker on all its chats holds from `at`, by the
    database's clock."""

    at: datetime
    expired: bool  # it had run out before this beat: others may have taken chats meanwhile
    gone: frozenset[WorkerId] = frozenset()  # others whose lease has run out, and who never left


@dataclass(frozen=True, slots=True, kw_only=True)
class AcquireLimits:
    """The number of chats that may be taken: in all, and by kind of those whose work begins.

    Chats that are only to be ended (interrupted, or waiting for a client) are not limited by kind.
    """

    at_most: int
    roots: int
    children: int


@dataclass(frozen=True, slots=True)
class UnreadableChat:
    """A chat that was taken, so that no other process takes it, but cannot be read."""

    chat: ChatId
    runner: RunnerId
    error: Exception


class Leases(Protocol):
    """The leases of the workers. There is one row per process, however many chats it holds."""

    async def beat(self, worker: WorkerId) -> Beat: ...

    async def leave(self, worker: WorkerId) -> None:
        """Give up the lease: from now on the worker holds nothing."""

    async def sweep(self) -> int:
        """Forget workers whose lease ran out long ago, and return how many."""

    async def acquire(
        self, worker: WorkerId, room: AcquireLimits, *, count_deaths: bool = True
    ) -> tuple[StoredChat | UnreadableChat, ...]:
        """Take chats that wait for a process, each for a new runner, the most urgent first.

        Where work is to begin, its attempt has been recorded. If the holder's lease ran out in an
        attempt, a death has been counted, unless `count_deaths` is False. A worker without a lease
        takes nothing.
        """

    async def held(self, worker: WorkerId) -> tuple[ChatMoved, ...]:
        """Return the versions of the chats that this worker holds."""


class StoredChats(Protocol):
    """A port to what is stored. Each answer is one snapshot."""

    async def view(self, chat: ChatId) -> StoredChat | ChatNotFound:
        """Return all that the law looks at: what a holder commits from."""

    async def history(self, chat: ChatId) -> tuple[Message, ...]:
        """Return every message that is not deleted, hidden ones too, by id."""


NewsListener = Callable[[News], None]
CommitListener = Callable[[Applied], None]


class Bus(Protocol):
    """Carries the news of commits to those who follow them, here and in other processes."""

    def tell(self, hint: Hint) -> None:
        """Tell all that follow, here and in other processes. A hint may get lost on the way."""

    def hear(self, news: News) -> None:
        """Tell all that follow here what another process told, or would have told."""

    def follow(self, listener: NewsListener, *kinds: type[News]) -> AbstractContextManager[None]:
        """Call the listener with all news of these kinds, as long as the block runs."""

    def follow_chat(self, chat: ChatId, listener: NewsListener) -> AbstractContextManager[None]:
        """Call the listener with all news of this chat, as long as the block runs."""

    def follow_commits(self, listener: CommitListener) -> AbstractContextManager[None]:
        """Call the listener with all that this process commits, before it is told as hints."""
