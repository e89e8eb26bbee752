"""A store, and what chats know of workspaces that are plain directories."""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from actors.law.ids import ChatId
from actors.law.requests import CreateChat, NewChat
from actors.prompts.ports import UnreadableFile
from adapters.postgres.bus import Switchboard
from adapters.workspaces.context.pinned_contexts import PinnedContexts
from adapters.workspaces.context.watch import WorkspaceWatch
from tests.actors.law.chats import ANN, BOB, user
from tests.adapters.conftest import fresh
from tests.adapters.postgres.stores import migrated_database, open_store
from tests.adapters.workspaces.context.ground import Disk, contexts_on
from tests.patience import PATIENCE_SECONDS

__all__ = ["fresh"]


@dataclass
class Process:
    """One process: what it knows, and the disk it works on, which others may share."""

    store: object
    bus: Switchboard
    contexts: PinnedContexts
    watch: WorkspaceWatch
    disk: Disk

    async def chat(self, *, parent=None, **columns):
        new = NewChat(
            ChatId(uuid4()),
            ANN,
            parent_id=None if parent is None else parent.id,
            root_id=None if parent is None else parent.root,
            **columns,
        )
        await self.store.ledger.create(CreateChat(new, (user("hello"),)))
        return await self.now(new)

    async def now(self, chat):
        """As its row is."""
        return (await self.store.reading.view(chat.id)).chat

    async def at_work(self, **files):
        """A chat in a workspace of its own, with these files; and where that is."""
        chat = await self.chat()
        home = await self.disk.make(self.store, chat.id, owner=ANN, **files)
        return await self.now(chat), home

    async def shown(self, chat):
        [row] = await self.store.execute(
            "SELECT dirty_since IS NOT NULL, error FROM chat_contexts WHERE chat_id = %(c)s",
            c=chat.id,
        )
        return tuple(row)

    async def until_shown(self, chat, *expected):
        with trio.fail_after(PATIENCE_SECONDS):
            while await self.shown(chat) != expected:
                await trio.sleep(0.005)

    async def refreshed(self, chat):
        done = await self.contexts.refresh(chat.id)
        assert not isinstance(done, UnreadableFile), done


@asynccontextmanager
async def a_process(store, top, *, watches=False):
    bus = Switchboard(store.telling)
    contexts, watch, disk = contexts_on(store.pool, bus.tell, top)
    async with trio.open_nursery() as nursery:
        if watches:
            nursery.start_soon(watch.run)
            await wait_all_tasks_blocked()
        with contexts.follow(bus):
            yield Process(store, bus, contexts, watch, disk)
        nursery.cancel_scope.cancel()


@pytest.fixture(scope="session")
def migrated(server):
    return migrated_database(server)


@pytest.fixture
async def store(migrated):
    async with open_store(migrated) as store:
        await store.add_users(ANN, BOB)
        yield store


@pytest.fixture
async def process(store, tmp_path):
    async with a_process(store, tmp_path) as process:
        yield process
