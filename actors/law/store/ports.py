"""The store as the actors see it: what they ask, in their own words. Adapters fulfil it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from actors.law.chat import Message, Stored
from actors.law.ids import ChatId, RunnerId, WorkerId
from actors.law.refusals import ChatNotFound, Refusal
from actors.law.requests import CreateChat, Request
from actors.law.store.answers import Applied
from actors.law.store.fences import Fence, MovedOn
from actors.law.store.hints import ChatMoved
from actors.law.store.receipts import Receipt


class Ledger(Protocol):
    """Changes chats. A bundle of requests is one transaction and one snapshot: all or nothing.

    A receipt is kept in the same transaction; if there is one of its name already, the answer is
    `Repeated`.
    """

    async def create(
        self, request: CreateChat, then: Sequence[Request] = (), *, receipt: Receipt | None = None
    ) -> Applied | Refusal:
        """A new chat, and at once what else is asked of it."""

    async def apply(
        self,
        chat: ChatId,
        requests: Sequence[Request],
        *,
        fence: Fence | None = None,
        receipt: Receipt | None = None,
    ) -> Applied | Refusal | MovedOn:
        """Lock the chat, ask the law, write what it decides. No requests: only a new snapshot."""

    async def commit(
        self, held: Stored, requests: Sequence[Request], *, fence: Fence
    ) -> Applied | Refusal | MovedOn:
        """As `apply`, for whoever holds the chat and knows what is stored: one statement, shared
        with whoever else commits at the moment. If `held` is not the newest, it is an `apply`."""

    async def archive_family(
        self, root: ChatId, *, archived: bool
    ) -> tuple[Applied, ...] | Refusal:
        """A root and its children together, the root first; one refusal refuses all."""


@dataclass(frozen=True, slots=True)
class Beat:
    """The lease of a worker on all its chats holds from `at`, by the database's clock, on."""

    at: datetime
    expired: bool  # it had run out before this beat: others may have taken chats meanwhile
    gone: frozenset[WorkerId] = frozenset()  # others whose lease has run out, and who never left


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """How many chats may be taken: in all, and of those whose work begins, by kind. What is only
    to be ended (interrupted, or waiting for a client) is not limited by kind."""

    at_most: int
    roots: int
    children: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Taken, so that nobody else takes it; but what is stored of it cannot be read."""

    chat: ChatId
    runner: RunnerId
    error: Exception


class Leases(Protocol):
    """Who is at work. One row per process, however many chats it holds."""

    async def beat(self, worker: WorkerId) -> Beat: ...

    async def leave(self, worker: WorkerId) -> None:
        """The worker holds nothing any more, from now on."""

    async def sweep(self) -> int:
        """Forget workers whose lease ran out long ago; how many."""

    async def acquire(
        self, worker: WorkerId, room: Room, *, count_deaths: bool = True
    ) -> tuple[Stored | Unreadable, ...]:
        """Take chats that wait for a process, each for a new runner, the most urgent first. Where
        work is to begin, its attempt has been recorded; and if its holder's lease ran out in an
        attempt, a death has been counted, unless `count_deaths` is False. A worker without a lease
        takes nothing."""

    async def held(self, worker: WorkerId) -> tuple[ChatMoved, ...]:
        """Where the chats stand that this worker holds."""


class Reading(Protocol):
    """What holds. Each answer is one snapshot."""

    async def view(self, chat: ChatId) -> Stored | ChatNotFound:
        """All that the law looks at; what a holder commits from."""

    async def history(self, chat: ChatId) -> tuple[Message, ...]:
        """Every message that is not deleted, hidden ones too, by id."""
