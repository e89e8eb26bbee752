"""Leases on PostgreSQL: one row per process, fresh as long as it beats, and the chats it holds.

A chat is taken in one statement that writes what the law's `Acquire` and `RecordGenerationAttempt`
would; a test compares the two.
"""

import msgspec

from actors.law.chat import KnownFiles, StoredChat
from actors.law.ids import WorkerId
from actors.law.store.hints import ChatMoved, Tell, hints_of_chat, tell_all
from actors.law.store.ports import AcquireLimits, Beat, UnreadableChat
from adapters.postgres.codec import parts, rows
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

FORGET_LEASES = 10  # a worker is forgotten when it has missed this many leases in a row

_queue_of = msgspec.json.Decoder(tuple[rows.QueuedRow, ...]).decode
_tail_of = msgspec.json.Decoder(tuple[rows.TailRow, ...]).decode


class PostgresLeases:
    """Leases of processes. Fulfils `actors.law.store.ports.Leases`."""

    def __init__(self, pool: Pool, *, lease_seconds: float, tell: Tell, url: str = "") -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds
        self._tell = tell
        self._url = url

    async def beat(self, worker: WorkerId) -> Beat:
        parameters = {"worker": worker, "url": self._url, "lease_seconds": self._lease_seconds}
        async with self._pool.connection() as connection:
            [(at, expired, gone)] = await connection.execute(SQL["beat"], parameters)
        return Beat(at, expired, frozenset(gone))

    async def leave(self, worker: WorkerId) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(SQL["leave"], {"worker": worker})

    async def sweep(self) -> int:
        forget_seconds = FORGET_LEASES * self._lease_seconds
        async with self._pool.connection() as connection:
            return len(await connection.execute(SQL["sweep"], {"forget_seconds": forget_seconds}))

    async def acquire(
        self, worker: WorkerId, room: AcquireLimits, *, count_deaths: bool = True
    ) -> tuple[StoredChat | UnreadableChat, ...]:
        wanted = {
            "worker": worker,
            "lease_seconds": self._lease_seconds,
            "at_most": room.at_most,
            "roots": room.roots,
            "children": room.children,
            "count_deaths": count_deaths,
        }
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["acquire"], wanted)
        taken = tuple(_acquired_chat(rows.AcquiredRow.of(row)) for row in found)
        for stored in taken:
            if isinstance(stored, StoredChat):
                tell_all(hints_of_chat(stored.chat, holder_is_fresh=True), self._tell)
        return taken

    async def held(self, worker: WorkerId) -> tuple[ChatMoved, ...]:
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["held"], {"worker": worker})
        return tuple(rows.moved_of(rows.HeldRow.of(row)) for row in found)


def _acquired_chat(row: rows.AcquiredRow) -> StoredChat | UnreadableChat:
    """Read a chat that was taken. One that cannot be read must not take the others with it: all
    of them are ours now."""
    try:
        return StoredChat(
            rows.chat_of(row),
            row.now,
            queue=tuple(map(rows.queued_of, _queue_of(row.queue or b"[]"))),
            tail=rows.tail_of(_tail_of(row.tail or b"[]")),
            files=KnownFiles(row.files or frozenset()),
        )
    except (parts.Unreadable, msgspec.DecodeError) as error:
        assert row.runner_id is not None, "it was taken for a runner"
        return UnreadableChat(row.id, row.runner_id, error)
