"""A store with the world around it that a test may arrange; here the one in memory.

A world has a store (`ledger`, `leases`, `reading`), the hints it has told, and what no port offers:
files, time that passes, writes past the law, and all rows, to be compared. The other one is
tests/adapters/postgres/stores.py.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from actors.law.chat import Chat, Message, QueuedMessage
from actors.law.requests import NewChat
from tests.fakes.store import MemoryStore


@dataclass(frozen=True)
class Rows:
    """Everything that is stored of one chat, in our words."""

    new: NewChat
    chat: Chat
    times: tuple  # created_at, updated_at
    messages: tuple[Message, ...]  # deleted ones too
    queue: tuple[QueuedMessage, ...]
    files: frozenset
    decided: tuple = ()


@dataclass
class Telling:
    """Where hints go. `failing(hint)`: this one cannot be told."""

    told: list = field(default_factory=list)
    tried: list = field(default_factory=list)
    failing: object = None

    def __call__(self, hint):
        self.tried.append(hint)
        if self.failing is not None and self.failing(hint):
            raise ConnectionError("nobody hears")
        self.told.append(hint)


class MemoryWorld:
    def __init__(self):
        self.telling = Telling()
        self.store = MemoryStore(tell=self.telling)
        self.ledger = self.leases = self.reading = self.store

    @property
    def told(self):
        return self.telling.told

    async def add_files(self, *ids):
        self.store.files |= set(ids)

    async def pass_time(self, seconds):
        self.store.clock.now += timedelta(seconds=seconds)

    async def write_past_the_law(self, chat, **columns):
        kept = self.store.chats[chat]
        kept.chat = replace(kept.chat, **columns)

    async def workers(self):
        return set(self.store.workers)

    async def rows(self, chat):
        return (await self.all_rows()).get(chat)

    async def all_rows(self):
        return {
            id: Rows(
                _as_it_is(kept.new, kept.chat),
                kept.chat,
                (kept.created_at, kept.updated_at),
                tuple(kept.messages),
                kept.queue,
                kept.files,
                kept.decided,
            )
            for id, kept in self.store.chats.items()
        }


def _as_it_is(new, chat):
    """How a chat began, as its row says it later: what a message has changed of it, too."""
    return replace(new, plan_mode=chat.plan_mode, mcp_server_ids=chat.mcp_server_ids)
