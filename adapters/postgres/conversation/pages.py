"""Pages of a history, read from PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from actors.law.chat import Message, QueuedMessage
from actors.law.ids import ChatId, MessageId, ModelConfigId, QueuedId
from actors.law.parts.message import TextPart
from adapters.postgres.codec import rows, statements
from adapters.postgres.codec.parts import from_json
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

NEWEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Page:
    messages: tuple[Message, ...]
    has_more: bool  # in the direction of the page
    queue: tuple[QueuedMessage, ...] = ()  # in the order in which it will be taken


@dataclass(frozen=True, slots=True)
class Choice:
    """The model and effort that a message names."""

    model: ModelConfigId | None
    effort: str | None


class Pages:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def newest(self, chat: ChatId, *, limit: int) -> Page:
        """The end of the history, the newest first, and what waits behind it."""
        asked = {"chat": chat, "before": NEWEST, "after": 0, "limit": limit + 1}
        async with self._pool.connection() as connection:
            found, queue = await connection.read(
                [(SQL["page_backward"], asked), statements.queue(chat)]
            )
        return _page(found, limit, queue)

    async def before(self, chat: ChatId, before: int, *, after: int, limit: int) -> Page:
        """The newest between `after` and `before`, the newest first."""
        asked = {"chat": chat, "before": before, "after": after, "limit": limit + 1}
        async with self._pool.connection() as connection:
            return _page(await connection.execute(SQL["page_backward"], asked), limit)

    async def after(self, chat: ChatId, after: int, *, limit: int) -> Page:
        """The oldest behind `after`, the oldest first."""
        asked = {"chat": chat, "after": after, "limit": limit + 1}
        async with self._pool.connection() as connection:
            return _page(await connection.execute(SQL["page_forward"], asked), limit)

    async def some(
        self, chat: ChatId, messages: Sequence[MessageId], queued: Sequence[QueuedId]
    ) -> Page:
        """Those of these that still stand, and still wait."""
        asked = {"chat": chat, "wanted": list(messages)}
        async with self._pool.connection() as connection:
            found, queue = await connection.read(
                [(SQL["some_messages"], asked), statements.queue(chat)]
            )
        page = _page(found, len(found), queue)
        return replace(page, queue=tuple(row for row in page.queue if row.id in queued))

    async def prompts(self, chat: ChatId, *, limit: int) -> list[tuple[MessageId, str]]:
        """What users said in words, the newest first."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["prompts"], {"chat": chat, "limit": limit})
        return [(MessageId(id), _words(id, content, version)) for id, content, version in found]

    async def choice_of(self, chat: ChatId, message: MessageId) -> Choice | None:
        """None: there is no such message in this chat."""
        asked = {"chat": chat, "message": message}
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["model_of_message"], asked)
        return Choice(*found[0]) if found else None


def _words(id: int, content: bytes, version: int) -> str:
    parts = from_json(content, version=version, where=f"message {id}")
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def _page(found: Sequence[rows.Row], limit: int, queue: Sequence[rows.Row] = ()) -> Page:
    return Page(
        tuple(rows.message_of(rows.MessageRow.of(row)) for row in found[:limit]),
        len(found) > limit,
        tuple(rows.queued_of(rows.QueuedRow.of(row)) for row in queue),
    )
