"""Requests that were served under a name, on PostgreSQL. They are kept by the ledger, in the
transaction of what they did; here they are found again, answered and forgotten."""

from dataclasses import dataclass

from actors.law.ids import ChatId, MessageId, QueuedId, UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

KEPT_SECONDS = 24 * 3600.0  # then a name means nothing any more


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request was served: what it made, and the answer if one was given."""

    request: bytes
    chat: ChatId
    message_ids: tuple[MessageId, ...]
    queued_ids: tuple[QueuedId, ...]
    answer: tuple[int, bytes] | None  # None: whoever served it did not come so far


class Receipts:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def find(self, user: UserId, key: str) -> ServedRequest | None:
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["receipt"], {"user": user, "key": key})
        if not found:
            return None
        [(request, chat, messages, queued, status, answer)] = found
        return ServedRequest(
            request,
            chat,
            tuple(messages or ()),
            tuple(queued or ()),
            None if status is None else (status, answer),
        )

    async def answered(self, user: UserId, key: str, *, status: int, answer: bytes) -> None:
        answering = {"user": user, "key": key, "status": status, "answer": answer}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["answer_receipt"], answering)

    async def forget(self) -> None:
        """Those that are older than KEPT_SECONDS."""
        async with self._pool.connection() as connection:
            await connection.execute(SQL["forget_receipts"], {"keep_seconds": KEPT_SECONDS})
