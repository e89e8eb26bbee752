"""All that streams consist of, put together: feeds of chats and of owners, and what is read."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.law.store.ports import Bus
from actors.streams.feeds.ports import RemotePreviews
from actors.streams.feeds.registry import ChatFeeds, OwnerFeeds, open_chat_feeds, open_owner_feeds
from actors.streams.previews import Previews
from adapters.access.admission import Admission
from adapters.chats.shelf.shelf import Shelf
from adapters.chats.streams.encoding import encoded
from adapters.chats.streams.guests import Guests
from adapters.chats.streams.read_cursors import ReadCursors
from adapters.chats.streams.reading import WatchersReading
from adapters.chats.streams.routes import Streams, Watch
from adapters.chats.streams.watching import Listing
from adapters.http.endpoints import Routes
from adapters.postgres.driver.pool import Pool
from runtime.children import Child, open_children
from runtime.restart import Restart


@dataclass(frozen=True, slots=True)
class Streaming:
    """`leave` first when the process ends: watchers are told to go elsewhere."""

    routes: Sequence[Routes]
    feeds: ChatFeeds
    owners: OwnerFeeds
    guests: Guests

    def leave(self) -> None:
        self.feeds.leave()
        self.owners.leave()

    def statistics(self) -> Mapping[str, Any]:
        return {
            "feeds": self.feeds.statistics(),
            "owners": self.owners.statistics(),
            "guests": self.guests.statistics(),
        }


@asynccontextmanager
async def open_streaming(
    pool: Pool,
    bus: Bus,
    previews: Previews,
    *,
    admission: Admission,
    shelf: Shelf,
    organization: UUID,
    lease_seconds: float,
    elsewhere: RemotePreviews | None = None,
) -> AsyncIterator[Streaming]:
    """Watchers are told what becomes of chats, as long as the block runs."""
    reading = WatchersReading(pool, lease_seconds=lease_seconds)
    cursors, guests = ReadCursors(shelf), Guests(admission)
    async with (
        open_children("streams", capacity=2) as children,
        open_chat_feeds(reading, encoded, previews, bus, elsewhere=elsewhere) as feeds,
        open_owner_feeds(Listing(shelf, organization=organization), bus) as owners,
    ):
        children.start(Child(name="read cursors", body=cursors.run, restart=Restart()))
        children.start(Child(name="guests", body=guests.run, restart=Restart()))
        streams = Streams(feeds, admission, read_cursors=cursors, guests=guests)
        yield Streaming((streams, Watch(owners)), feeds, owners, guests)
