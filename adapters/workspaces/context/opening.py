"""What chats know of their workspaces, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

from actors.law.ids import ChatId
from adapters.postgres.bus import Switchboard
from adapters.postgres.driver.pool import Pool
from adapters.workspaces.context.pinned import PinnedContexts
from adapters.workspaces.context.pins import Pins
from adapters.workspaces.context.watching import WorkspaceWatch
from adapters.workspaces.local import LocalWorkspaces
from runtime.children import Child, open_children
from runtime.restart import Restart


@dataclass(frozen=True, slots=True)
class LocalPlaces:
    """Fulfils `adapters.workspaces.context.pinned.Places`."""

    workspaces: LocalWorkspaces

    async def workspace_of(self, chat: ChatId) -> UUID | None:
        row = await self.workspaces.registry.of(chat)
        return None if row is None else row.id

    def home(self, workspace: UUID) -> str:
        return self.workspaces.home(workspace)


@asynccontextmanager
async def open_contexts(
    workspaces: LocalWorkspaces, pool: Pool, bus: Switchboard
) -> AsyncIterator[PinnedContexts]:
    """Workspaces are watched as long as the block is."""
    pins = Pins(pool, tell=bus.tell)
    watch = WorkspaceWatch(workspaces.home, pins)
    async with open_children("contexts", capacity=1) as children:
        children.start(Child(name="workspace watch", body=watch.run, restart=Restart()))
        contexts = PinnedContexts(LocalPlaces(workspaces), workspaces, pins=pins, watch=watch)
        with contexts.follow(bus):
            yield contexts
