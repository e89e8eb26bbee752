"""All that streams consist of, put together: feeds of chats and of owners, and what is read."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.episodes.buffer import Episodes
from actors.store.bus import Bus
from actors.subscribers.feeds import Feeds, open_feeds
from actors.subscribers.owners import Owners, open_owners
from actors.subscribers.ports import Elsewhere
from adapters.api.admission import Admission
from adapters.api.endpoints import Routes
from adapters.api.streams.encoding import encoded
from adapters.api.streams.guests import Guests
from adapters.api.streams.read_cursors import ReadCursors
from adapters.api.streams.routes import Streams, Watch
from adapters.api.streams.watching import Listing
from adapters.postgres.driver.pool import Pool
from adapters.postgres.shelves.shelf import Shelf
from adapters.postgres.streams.reading import WatchersReading
from runtime.children import Child, open_children
from runtime.restart import Restart


@dataclass(frozen=True, slots=True)
class Streaming:
    """`leave` first when the process ends: watchers are told to go elsewhere."""

    routes: Sequence[Routes]
    feeds: Feeds
    owners: Owners
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
    episodes: Episodes,
    *,
    admission: Admission,
    shelf: Shelf,
    organization: UUID,
    lease_seconds: float,
    elsewhere: Elsewhere | None = None,
) -> AsyncIterator[Streaming]:
    """Watchers are told what becomes of chats, as long as the block runs."""
    reading = WatchersReading(pool, lease_seconds=lease_seconds)
    cursors, guests = ReadCursors(shelf), Guests(admission)
    async with (
        open_children("streams", capacity=2) as children,
        open_feeds(reading, encoded, episodes, bus, elsewhere=elsewhere) as feeds,
        open_owners(Listing(shelf, organization=organization), bus) as owners,
    ):
        children.start(Child(name="read cursors", body=cursors.run, restart=Restart()))
        children.start(Child(name="guests", body=guests.run, restart=Restart()))
        streams = Streams(feeds, admission, read_cursors=cursors, guests=guests)
        yield Streaming((streams, Watch(owners)), feeds, owners, guests)
