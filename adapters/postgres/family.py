"""Families of chats, read from PostgreSQL."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from actors.agents.ports import ChildPage, ChildReport, FamilyCounts, FamilyMember
from actors.agents.rules import is_whole, report_in
from actors.law.chat import ChatError, Role
from actors.law.ids import ChatId
from actors.law.states import Status
from adapters.postgres.codec import rows
from adapters.postgres.codec.parts import from_json
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL, Record

ANSWERS_READ = 20  # of a chat that has only called tools lately; before them there is no report


class KinRow(Record, frozen=True):
    """A member of a family."""

    id: ChatId
    parent_id: ChatId | None
    title: str
    mode: str
    status: Status
    archived: bool
    last_error: bytes | None
    created_at: datetime
    updated_at: datetime


class SettledRow(KinRow, frozen=True):
    """A member of a family, and how what it has said ends if it has settled."""

    role: Role | None
    cost_source: str | None
    content: bytes | None
    content_version: int | None


class ChildRow(KinRow, frozen=True):
    """A child in a page of them."""

    total: int


class PostgresFamily:
    """Families on PostgreSQL. Fulfils `actors.agents.ports.FamilyReader`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def descendants(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[FamilyMember]:
        found = await self._read(SQL["descendants"], of=of, wanted=list(wanted))
        return _in_order(wanted, [_kin(KinRow.of(row)) for row in found])

    async def with_reports(self, of: ChatId, wanted: Sequence[ChatId]) -> Sequence[FamilyMember]:
        found = await self._read(
            SQL["family_reports"], of=of, wanted=list(wanted), answers=ANSWERS_READ
        )
        return _in_order(wanted, [_standing(SettledRow.of(row)) for row in found])

    async def children(self, of: ChatId, *, limit: int, offset: int) -> ChildPage:
        found = await self._read(SQL["children_page"], of=of, limit=limit, offset=offset)
        if not found and offset:
            [[total]] = await self._read(SQL["children_count"], of=of)
            return ChildPage((), total)
        page = [ChildRow.of(row) for row in found]
        return ChildPage([_kin(row) for row in page], page[0].total if page else 0)

    async def family_counts(self, of: ChatId, *, besides: Sequence[ChatId]) -> FamilyCounts:
        found = await self._read(SQL["family_counts"], of=of, besides=list(besides))
        return FamilyCounts(*found[0]) if found else FamilyCounts("", 0, 0)

    async def _read(self, sql: str, **asked: object) -> Sequence[Row]:
        async with self._pool.connection() as connection:
            [found] = await connection.run([(sql, asked)])
        return found


def _in_order(wanted: Sequence[ChatId], found: Iterable[FamilyMember]) -> Sequence[FamilyMember]:
    kin = {each.id: each for each in found}
    return [kin[id] for id in wanted if id in kin]


def _kin(row: KinRow) -> FamilyMember:
    return FamilyMember(
        id=row.id,
        parent_id=row.parent_id,
        title=row.title,
        mode=row.mode,
        status=row.status,
        archived=row.archived,
        last_error=None
        if row.last_error is None
        else rows.decode_column(row.last_error, ChatError),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _standing(row: SettledRow) -> FamilyMember:
    report = ""
    if row.content is not None and row.content_version is not None:
        parts = from_json(row.content, version=row.content_version, where=f"chat {row.id}")
        report = report_in(parts)
    whole = row.role is not None and is_whole(row.role, row.cost_source)
    return replace(_kin(row), last_report=ChildReport(report, whole))
