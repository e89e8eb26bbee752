"""What watchers read: each answer is one trip and one snapshot."""

from collections.abc import Mapping, Sequence

import trio

from actors.ids import ChatId
from actors.machine.chat import Message, Stored
from actors.machine.closing import outstanding_dynamic
from actors.machine.refusals import ChatNotFound
from actors.machine.states import Status
from actors.parts.model import ToolCallPart
from actors.subscribers.diff import Found, Have
from adapters.postgres.codec import rows, statements
from adapters.postgres.codec.rows import ChatRow
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

DECODED_AT_ONCE = 64  # messages; then other tasks run


class WatchersReading:
    """Fulfils `actors.subscribers.ports.Reading`."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def found(self, chat: ChatId, have: Have) -> Found | ChatNotFound:
        named = {"chat": chat, "lease_seconds": self._lease_seconds}
        since = named | {"message_id": have.message_id, "history_version": have.history_version}
        async with self._pool.connection() as connection:
            stored, standing, queue, tail = await connection.read(
                [
                    (SQL["watched_chat"], named),
                    (SQL["standing_messages"], since),
                    statements.queue(chat),
                    (SQL["open_tail"], named),
                ]
            )
        if not stored:
            return ChatNotFound(chat)
        [(gone_at, trail, *row)] = stored
        read = rows.chat_of(row)
        return Found(
            read.chat,
            await _messages_of(standing),
            gone_at,
            tuple(map(rows.queued_of, queue)),
            _statuses_of(trail),
            _calls_of(read, tail),
        )

    async def moved(self, known: Mapping[ChatId, int]) -> Mapping[ChatId, int]:
        asked = {"chats": list(known), "versions": list(known.values())}
        async with self._pool.connection() as connection:
            return dict(await connection.execute(SQL["moved_on"], asked))


async def _messages_of(found: Sequence[Row]) -> tuple[Message, ...]:
    """A long history is read while others go on."""
    messages: list[Message] = []
    for begin in range(0, len(found), DECODED_AT_ONCE):
        if begin:
            await trio.lowlevel.checkpoint()
        messages += map(rows.message_of, found[begin : begin + DECODED_AT_ONCE])
    return tuple(messages)


def _statuses_of(trail: Sequence[str]) -> tuple[tuple[int, Status], ...]:
    changes = (change.split(" ") for change in trail)
    return tuple([(int(version), Status(status)) for version, status in changes])


def _calls_of(read: ChatRow, tail: Sequence[Row]) -> tuple[ToolCallPart, ...]:
    if not tail:
        return ()
    bodies = tuple([rows.message_of(row).body for row in tail])
    return outstanding_dynamic(Stored(read.chat, read.now, tail=bodies))
