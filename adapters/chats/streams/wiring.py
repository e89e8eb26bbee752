"""The wiring of streams: feeds of chats and of lists, what they read, who watches."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.law.store.hints import ReadersChanged, ReadStatusSet
from actors.law.store.ports import Bus
from actors.streams.feeds.ports import RemotePreviews
from actors.streams.feeds.registry import ChatFeeds, OwnerFeeds, open_chat_feeds, open_owner_feeds
from actors.streams.previews import Previews
from adapters.access.admission import Admission
from adapters.chats.overviews import OverviewStore
from adapters.chats.streams.events import encode_event
from adapters.chats.streams.reading import ListReading, WatcherReading
from adapters.chats.streams.routes import StreamRoutes, WatchRoutes
from adapters.chats.streams.viewers import ReadCursors, SharedViewers
from adapters.chats.streams.working_trees import WorkingTreeRoutes
from adapters.http.endpoints import Routes
from adapters.postgres.driver.pool import Pool
from adapters.workspaces.git.watching import WorkingTrees, open_working_trees
from adapters.workspaces.local import LocalWorkspaces
from runtime.children import Child, open_children
from runtime.restart import Restart


@dataclass(frozen=True, slots=True)
class StreamParts:
    """The parts of streams. Call `leave` first when the process ends: watchers go elsewhere."""

    routes: Sequence[Routes]
    feeds: ChatFeeds
    owners: OwnerFeeds
    shared_lists: OwnerFeeds  # likewise, with what others share with them
    viewers: SharedViewers
    trees: WorkingTrees

    def leave(self) -> None:
        """End all watchers, so that they go on at another process."""
        self.feeds.leave()
        self.owners.leave()
        self.shared_lists.leave()
        self.trees.leave()

    def statistics(self) -> Mapping[str, Any]:
        return {
            "feeds": self.feeds.statistics(),
            "owners": self.owners.statistics(),
            "shared_lists": self.shared_lists.statistics(),
            "guests": self.viewers.statistics(),
            "working_trees": self.trees.statistics(),
        }


@asynccontextmanager
async def open_streaming(
    pool: Pool,
    bus: Bus,
    previews: Previews,
    workspaces: LocalWorkspaces,
    *,
    admission: Admission,
    overviews: OverviewStore,
    organization: UUID,
    lease_seconds: float,
    elsewhere: RemotePreviews | None = None,
) -> AsyncIterator[StreamParts]:
    """Let chats be watched, as long as the block runs."""
    reading = WatcherReading(pool, lease_seconds=lease_seconds)
    listing = ListReading(overviews, organization=organization)
    cursors, viewers = ReadCursors(overviews), SharedViewers(admission)
    async with (
        open_children("streams", capacity=2) as children,
        open_chat_feeds(reading, encode_event, previews, bus, elsewhere=elsewhere) as feeds,
        open_owner_feeds(listing, bus) as owners,
        open_owner_feeds(listing, bus, admission.readers_among) as shared_lists,
        open_working_trees(workspaces, bus) as trees,
    ):
        children.start(Child(name="read cursors", body=cursors.run, restart=Restart()))
        children.start(Child(name="shared viewers", body=viewers.run, restart=Restart()))
        streams = StreamRoutes(feeds, admission, read_cursors=cursors, viewers=viewers)
        routes = (
            streams,
            WatchRoutes(owners, shared_lists),
            WorkingTreeRoutes(admission, trees),
        )
        with (
            bus.follow(lambda _: viewers.look_soon(), ReadersChanged),
            bus.follow(cursors.note_set, ReadStatusSet),
        ):
            yield StreamParts(routes, feeds, owners, shared_lists, viewers, trees)
