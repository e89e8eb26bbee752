"""Families of chats, read from PostgreSQL."""

from collections.abc import Sequence

from actors.ids import ChatId
from actors.machine.chat import ChatError
from actors.machine.states import Status
from actors.subagents.ports import Children, Kin
from actors.subagents.rules import report
from adapters.postgres.codec import rows
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL

ANSWERS_READ = 20  # of a chat that has only called tools lately; before them there is no report


class PostgresFamily:
    """Fulfils `actors.subagents.ports.Family`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def descendants(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[Kin]:
        found = await self._read((SQL["descendants"], {"of": of, "wanted": list(wanted)}))
        kin = {row[0]: _kin(row) for row in found}
        return [kin[id] for id in wanted if id in kin]

    async def children(self, of: ChatId, *, limit: int, offset: int) -> Children:
        page = {"of": of, "limit": limit, "offset": offset}
        found = await self._read((SQL["children_page"], page))
        if not found and offset:
            [[total]] = await self._read((SQL["children_count"], {"of": of}))
            return Children((), total)
        return Children([_kin(row[1:]) for row in found], found[0][0] if found else 0)

    async def report(self, chat: ChatId) -> str:
        asked = {"chat": chat, "limit": ANSWERS_READ}
        found = await self._read((SQL["latest_answers"], asked))
        return report([rows.message_of(row) for row in reversed(found)])

    async def _read(self, asked: Statement) -> Sequence[Row]:
        async with self._pool.connection() as connection:
            [found] = await connection.run([asked])
        return found


def _kin(row: Row) -> Kin:
    id, parent, title, mode, status, archived, error, created_at, updated_at = row
    last_error = None if error is None else rows.record(error, ChatError)
    return Kin(
        id, parent, title, mode, Status(status), archived, last_error, created_at, updated_at
    )
