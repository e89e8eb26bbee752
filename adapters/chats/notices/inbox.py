"""The inbox of a user, on PostgreSQL: notices that writes of chats have filed, and others.

What a write of a chat brings is filed by that write itself (`file_news` of the schema). This store
reads it, and files what comes of nothing of the kind: a digest of archived chats, a webhook that
was switched off.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

import msgspec

from actors.law.ids import ChatId, UserId
from actors.law.store.hints import InboxChanged, Tell
from actors.law.store.news import NewsKind
from adapters.chats.notices.wording import NAMED_MAX, NoticeRow
from adapters.postgres.codec.parts import escaped
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Statement
from adapters.postgres.queries import SQL

PAGE_NOTICES = 25  # of a page; the next one begins below its last
NEWS_SECONDS = 120.0  # how far back news is read; no transaction of ours takes as long
NEWS_MAX = 50  # in one reading; more in two minutes are found in the list
KEPT_MAX = 1_000  # of one user; the oldest go first
KEPT_DAYS = 90
FORGOTTEN_MAX = 2_000  # in one statement; what is over goes by the next one
INBOX_KINDS = tuple(kind for kind in NewsKind if kind is not NewsKind.STATUS)


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """The notices that a client wants."""

    targets: Collection[UUID] = ()  # all of these, or none
    kinds: Collection[NewsKind] = INBOX_KINDS
    is_read: bool | None = None  # None: both

    def wants(self, row: NoticeRow) -> bool:
        """Return whether it wants this one."""
        return (
            any(row.kind == kind.value for kind in self.kinds)
            and set(self.targets) <= ({row.chat_id} - {None})
            and self.is_read in (None, row.read_at is not None)
        )


class InboxStore:
    """The inboxes of all users."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def page(
        self, user: UserId, wanted: InboxFilter, *, before: UUID | None
    ) -> tuple[Sequence[NoticeRow], int]:
        """Return a page, the newest first, and how many the user has not read."""
        asked: dict[str, object] = {
            "user": user,
            "before": before,
            "targets": list(wanted.targets),
            "kinds": [kind.value for kind in wanted.kinds],
            "is_read": wanted.is_read,
            "count": PAGE_NOTICES,
        }
        return await self._with_count(user, (SQL["inbox_page"], asked))

    async def news(self, user: UserId) -> tuple[Sequence[NoticeRow], int]:
        """Return what came lately, the newest first, and how many the user has not read."""
        asked = {"user": user, "seconds": NEWS_SECONDS, "count": NEWS_MAX}
        return await self._with_count(user, (SQL["inbox_news"], asked))

    async def set_read(
        self, user: UserId, notice: UUID, *, is_read: bool
    ) -> tuple[NoticeRow | None, int]:
        """Note whether the user has read a notice. None: it is none of theirs."""
        named = {"id": notice, "user": user}
        async with self._pool.connection() as connection:
            _, rows, [(unread,)] = await connection.commit(
                [
                    (SQL["set_notice_read"], {**named, "is_read": is_read}),
                    (SQL["notice"], named),
                    (SQL["count_unread_notices"], {"user": user}),
                ]
            )
        return (NoticeRow.of(rows[0]) if rows else None), unread

    async def read_all(self, user: UserId) -> None:
        async with self._pool.connection() as connection:
            await connection.execute(SQL["read_all_notices"], {"user": user})

    async def file(
        self,
        user: UserId,
        kind: NewsKind,
        detail: dict[str, object],
        *,
        event: str,
        chat: ChatId | None = None,
    ) -> None:
        """File a notice that no write of a chat brings. `event` names what it tells: the same event
        stands once in an inbox, however often it is filed."""
        new = {
            "user": user,
            "kind": kind.value,
            "chat": chat,
            "event": event,
            "detail": Json(escaped(msgspec.json.encode(detail))),
        }
        async with self._pool.connection() as connection:
            await connection.execute(SQL["file_notice"], new)
        self._tell(InboxChanged(user))

    async def file_archive_digest(
        self, user: UserId, chats: Sequence[tuple[ChatId, str]], *, count: int, days: int, day: str
    ) -> None:
        """Tell a user which of their chats were archived because they did not use them.

        `chats` has ids and titles, of which the first NAMED_MAX are told; `count` is how many there
        were. One digest a user is filed for each `day`, an ISO date.
        """
        named = [{"id": str(id), "title": title} for id, title in chats[:NAMED_MAX]]
        detail = {"chats": named, "count": count, "days": days}
        await self.file(user, NewsKind.ARCHIVED, detail, event=f"archived/{user} {day}")

    async def forget(self, *, looked_seconds: float) -> int:
        """Delete what is old, or above the most that is kept. Return how many it were."""
        asked = {
            "days": KEPT_DAYS,
            "notices_max": KEPT_MAX,
            "count": FORGOTTEN_MAX,
            "looked_seconds": looked_seconds,
        }
        async with self._pool.connection() as connection:
            return len(await connection.execute(SQL["forget_notices"], asked))

    async def _with_count(
        self, user: UserId, reading: Statement
    ) -> tuple[Sequence[NoticeRow], int]:
        async with self._pool.connection() as connection:
            rows, [(unread,)] = await connection.run(
                [reading, (SQL["count_unread_notices"], {"user": user})]
            )
        return [NoticeRow.of(row) for row in rows], unread
