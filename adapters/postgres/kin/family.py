"""Families of chats, read from PostgreSQL."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from actors.agents.ports import Children, Household, Kin, Said
from actors.agents.rules import is_whole, report_in
from actors.law.chat import ChatError, Role
from actors.law.ids import ChatId
from actors.law.states import Status
from adapters.postgres.codec import rows
from adapters.postgres.codec.parts import from_json
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL

ANSWERS_READ = 20  # of a chat that has only called tools lately; before them there is no report


class PostgresFamily:
    """Fulfils `actors.agents.ports.Family`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def descendants(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[Kin]:
        found = await self._read(SQL["descendants"], of=of, wanted=list(wanted))
        return _in_order(wanted, map(_kin, found))

    async def standing(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[Kin]:
        found = await self._read(SQL["standing"], of=of, wanted=list(wanted), answers=ANSWERS_READ)
        return _in_order(wanted, map(_standing, found))

    async def children(self, of: ChatId, *, limit: int, offset: int) -> Children:
        found = await self._read(SQL["children_page"], of=of, limit=limit, offset=offset)
        if not found and offset:
            [[total]] = await self._read(SQL["children_count"], of=of)
            return Children((), total)
        return Children([_kin(row[1:]) for row in found], found[0][0] if found else 0)

    async def household(self, of: ChatId, *, besides: Sequence[ChatId]) -> Household:
        found = await self._read(SQL["household"], of=of, besides=list(besides))
        return Household(*found[0]) if found else Household("", 0, 0)

    async def _read(self, sql: str, **asked: object) -> Sequence[Row]:
        async with self._pool.connection() as connection:
            [found] = await connection.run([(sql, asked)])
        return found


def _in_order(wanted: Sequence[ChatId], found: Iterable[Kin]) -> Sequence[Kin]:
    kin = {each.id: each for each in found}
    return [kin[id] for id in wanted if id in kin]


def _kin(row: Row) -> Kin:
    id, parent, title, mode, status, archived, error, created_at, updated_at = row
    last_error = None if error is None else rows.record(error, ChatError)
    return Kin(
        id, parent, title, mode, Status(status), archived, last_error, created_at, updated_at
    )


def _standing(row: Row) -> Kin:
    *kin, role, cost_source, content, version = row
    report = ""
    if content is not None:
        report = report_in(from_json(content, version=version, where=f"chat {kin[0]}"))
    whole = role is not None and is_whole(Role(role), cost_source)
    return replace(_kin(tuple(kin)), said=Said(report, whole))
