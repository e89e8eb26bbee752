"""Wiring of the durable store: connections, the committer, hints to other processes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import trio

from actors.chat.histories import KnownHistories
from actors.law.store.hints import Hint
from actors.streams.previews import RETENTION_SECONDS, Previews
from adapters.chats.files.store import PromptFiles
from adapters.chats.upkeep_stores import TitleStorage
from adapters.daemon.kept_memory import kept_bytes, memory_bytes
from adapters.postgres.bus import Switchboard
from adapters.postgres.committing import WRITERS, Committer
from adapters.postgres.driver.pool import Pool
from adapters.postgres.hints import Hints
from adapters.postgres.journal import Journal
from adapters.postgres.leases import PostgresLeases
from adapters.postgres.ledger import PostgresLedger
from adapters.postgres.reading import Reading
from adapters.settings import Config
from runtime.children import Child, open_children
from runtime.restart import Restart

# Connections that no load of readers keeps busy: the committer's writers, the lease, the hints.
OWN_CONNECTIONS = WRITERS + 2
POOL_DRAIN_SECONDS = 5.0  # for connections in use; then their statements are cut off
FLUSH_SECONDS = 2.0  # for the last hints; then other processes find out by polling
ONCE = Restart(times=0)  # a part that cannot be restarted ends the process; others go on


@dataclass(frozen=True, slots=True)
class Store:
    """The durable store, and the bus that tells of its changes."""

    pool: Pool
    own_pool: Pool  # of the committer, the lease and the hints
    ledger: PostgresLedger
    reading: Reading
    leases: PostgresLeases
    journal: Journal
    titles: TitleStorage
    files: PromptFiles
    bus: Switchboard
    hints: Hints
    histories: KnownHistories


def kept_bytes_of(config: Config) -> int:
    """Return how much this process keeps: half of it histories, and half what models are told."""
    return kept_bytes(config.kept_mb, memory_bytes(), processes=config.processes)


@asynccontextmanager
async def open_store(
    config: Config, conninfo: str, previews: Previews, *, url: str
) -> AsyncIterator[Store]:
    """Open the store for the length of the block. `url` is where other processes find this one."""
    async with (
        open_pool(conninfo, size=config.pool_size) as pool,
        open_pool(conninfo, size=OWN_CONNECTIONS) as own,
        open_children("store", capacity=3) as children,
    ):

        def beyond(hint: Hint) -> None:
            hints.tell(hint)

        bus, histories = Switchboard(beyond), KnownHistories(kept_bytes_of(config) // 2)
        hints = Hints(own, conninfo, heard=bus.hear)
        committer = Committer(own, tell=bus.tell, on_commit=bus.tell_commit)
        lease_seconds = config.lease_seconds
        journal = Journal(pool)
        children.start(Child(name="committer", body=committer.run, restart=ONCE))
        children.start(Child(name="hints", body=hints.run, restart=Restart()))
        children.start(Child(name="previews", body=partial(sweep, previews), restart=Restart()))
        with bus.follow_commits(histories.note_commit):
            yield Store(
                pool,
                own,
                PostgresLedger(
                    pool,
                    committer,
                    tell=bus.tell,
                    lease_seconds=lease_seconds,
                    on_commit=bus.tell_commit,
                ),
                Reading(pool, lease_seconds=lease_seconds),
                PostgresLeases(own, lease_seconds=lease_seconds, tell=bus.tell, url=url),
                journal,
                TitleStorage(pool, tell=bus.tell),
                PromptFiles(pool),
                bus,
                hints,
                histories,
            )
        await hints.flush(FLUSH_SECONDS)


@asynccontextmanager
async def open_pool(conninfo: str, *, size: int) -> AsyncIterator[Pool]:
    pool = Pool(conninfo, size=size)
    try:
        yield pool
    finally:
        with trio.move_on_after(2 * POOL_DRAIN_SECONDS, shield=True):
            await pool.drain(POOL_DRAIN_SECONDS)


async def sweep(previews: Previews) -> NoReturn:
    """Forget old previews until cancelled."""
    while True:
        await trio.sleep(RETENTION_SECONDS)
        previews.sweep()
