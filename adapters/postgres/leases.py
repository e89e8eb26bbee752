"""Leases on PostgreSQL: one row per process, fresh as long as it beats; who holds which chat.

A chat is taken in one statement that writes what the law's `Acquire` and `RecordGenerationAttempt`
would; a test compares the two.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from actors.law.chat import Files, Stored
from actors.law.ids import WorkerId
from actors.law.states import Status
from actors.law.store.hints import ChatMoved, Tell, hints_of, tell_all
from actors.law.store.ports import Beat, Room, Unreadable
from adapters.postgres.codec import parts, rows
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

FORGET_LEASES = 10  # a worker is forgotten when it has missed this many leases in a row

_ID, _RUNNER_ID = 0, 6  # in a chat_row

_QueuedRow = tuple[int, int, bool, msgspec.Raw, int, UUID, UUID | None, str | None, datetime]
_TailRow = tuple[int, str, msgspec.Raw, int, str]
_queue_of = msgspec.json.Decoder(tuple[_QueuedRow, ...]).decode
_tail_of = msgspec.json.Decoder(tuple[_TailRow, ...]).decode


class Leases:
    """Fulfils `actors.law.store.ports.Leases`."""

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
        self, worker: WorkerId, room: Room, *, count_deaths: bool = True
    ) -> tuple[Stored | Unreadable, ...]:
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
        taken = tuple(map(_taken, found))
        for stored in taken:
            if isinstance(stored, Stored):
                tell_all(hints_of(stored.chat, holder_is_fresh=True), self._tell)
        return taken

    async def held(self, worker: WorkerId) -> tuple[ChatMoved, ...]:
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["held"], {"worker": worker})
        return tuple(map(_moved, found))


def _taken(row: Row) -> Stored | Unreadable:
    """One that cannot be read must not take the others with it: all of them are ours now."""
    *chat, queue, tail, files = row
    try:
        return _stored(chat, queue, tail, files)
    except (parts.Unreadable, msgspec.DecodeError) as error:
        return Unreadable(row[_ID], row[_RUNNER_ID], error)


def _stored(chat: list[Any], queue: bytes | None, tail: bytes | None, files: Any) -> Stored:
    read = rows.chat_of(chat)
    return Stored(
        read.chat,
        read.now,
        queue=tuple(rows.queued_of(_bare(row)) for row in _queue_of(queue or b"[]")),
        tail=rows.tail_of([_bare(row) for row in _tail_of(tail or b"[]")]),
        files=Files(frozenset(files or ())),
    )


def _bare(row: tuple[Any, ...]) -> Row:
    return tuple(bytes(cell) if isinstance(cell, msgspec.Raw) else cell for cell in row)


def _moved(row: Row) -> ChatMoved:
    chat, *versions, status, archived, worker, runner, owner = row
    snapshot, history, queue, retry_state, attempt = versions
    return ChatMoved(
        chat,
        snapshot,
        history,
        queue,
        retry_state,
        attempt,
        Status(status),
        archived,
        worker_id=worker,
        runner_id=runner,
        owner_id=owner,
    )
