"""Reading of chats and pages of histories from PostgreSQL: each answer is one trip and one
snapshot."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from actors.law.chat import Message, StoredChat
from actors.law.ids import ChatId, MessageId, ModelConfigId, QueuedId
from actors.law.parts.message import TextPart
from actors.law.refusals import ChatNotFound
from actors.law.requests import DynamicTool
from adapters.postgres.codec import rows, statements
from adapters.postgres.codec.parts import from_json
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL


class Reading:
    """Reads chats. Fulfils `actors.law.store.ports.StoredChats`."""

    def __init__(self, pool: Pool, *, lease_seconds: float) -> None:
        self._pool = pool
        self._lease_seconds = lease_seconds

    async def view(self, chat: ChatId) -> StoredChat | ChatNotFound:
        found, queue, tail, files = await self._read(
            self._chat(chat),
            statements.queue(chat),
            statements.tail(chat),
            (SQL["linked_files"], {"chat": chat}),
        )
        if not found:
            return ChatNotFound(chat)
        row = rows.ChatRow.of(found[0])
        return StoredChat(
            rows.chat_of(row),
            row.now,
            queue=tuple(rows.queued_of(rows.QueuedRow.of(each)) for each in queue),
            tail=rows.tail_of([rows.TailRow.of(each) for each in tail]),
            files=rows.files_of(files),
        )

    async def history(self, chat: ChatId) -> tuple[Message, ...]:
        [found] = await self._read((SQL["history"], {"chat": chat}))
        return tuple(rows.message_of(rows.MessageRow.of(row)) for row in found)

    async def dynamic_tools(self, chat: ChatId) -> tuple[DynamicTool, ...]:
        """Return the tools that the chat was created with; none if there is no such chat."""
        [found] = await self._read((SQL["dynamic_tools"], {"chat": chat}))
        return tuple(tool for [tools] in found for tool in rows.dynamic_tools_of(tools))

    def _chat(self, chat: ChatId) -> Statement:
        return SQL["chat"], {"chat": chat, "lease_seconds": self._lease_seconds}

    async def _read(self, *asked: Statement) -> list[list[Row]]:
        async with self._pool.connection() as connection:
            if len(asked) == 1:  # one statement sees one snapshot by itself
                return await connection.run(asked)
            return await connection.read(asked)


NEWEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class MessageModel:
    """The model and effort that a message names."""

    model: ModelConfigId | None
    effort: str | None


class MessagePages:
    """Reads pages of histories, as users see them."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def newest(self, chat: ChatId, *, limit: int) -> rows.MessagePage:
        """Read the end of the history, the newest first, and what waits behind it."""
        asked = {"chat": chat, "before": NEWEST, "after": 0, "limit": limit + 1}
        return await self._page(asked, SQL["page_backward"], statements.queue(chat))

    async def before(
        self, chat: ChatId, before: int, *, after: int, limit: int
    ) -> rows.MessagePage:
        """Read the newest messages between `after` and `before`, the newest first."""
        asked = {"chat": chat, "before": before, "after": after, "limit": limit + 1}
        return await self._page(asked, SQL["page_backward"])

    async def after(self, chat: ChatId, after: int, *, limit: int) -> rows.MessagePage:
        """Read the oldest messages behind `after`, the oldest first."""
        asked = {"chat": chat, "after": after, "limit": limit + 1}
        return await self._page(asked, SQL["page_forward"])

    async def some(
        self, chat: ChatId, messages: Sequence[MessageId], queued: Sequence[QueuedId]
    ) -> rows.MessagePage:
        """Read those of these messages that still stand, and those that still wait."""
        asked = {"chat": chat, "wanted": list(messages)}
        async with self._pool.connection() as connection:
            found, queue = await connection.read(
                [(SQL["some_messages"], asked), statements.queue(chat)]
            )
        page = _page(found, len(found), queue=queue)
        return replace(page, queue=tuple(row for row in page.queue if row.id in queued))

    async def prompts(self, chat: ChatId, *, limit: int) -> list[tuple[MessageId, str]]:
        """Read what users said in words, the newest first."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["prompts"], {"chat": chat, "limit": limit})
        return [(MessageId(id), _words(id, content, version)) for id, content, version in found]

    async def choice_of(self, chat: ChatId, message: MessageId) -> MessageModel | None:
        """Read the model and effort of a message, or None if it is not in this chat."""
        asked = {"chat": chat, "message": message}
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["model_of_message"], asked)
        return MessageModel(*found[0]) if found else None

    async def _page(self, asked: Mapping[str, Any], sql: str, *more: Statement) -> rows.MessagePage:
        """Read a page together with the version of the history that it shows."""
        version = SQL["history_version"], {"chat": asked["chat"]}
        async with self._pool.connection() as connection:
            found, versions, *queue = await connection.read([(sql, asked), version, *more])
        history_version = versions[0][0] if versions else 0
        return _page(found, asked["limit"] - 1, history_version, *queue)


def _words(id: int, content: bytes, version: int) -> str:
    parts = from_json(content, version=version, where=f"message {id}")
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def _page(
    found: Sequence[Row], limit: int, history_version: int = 0, queue: Sequence[Row] = ()
) -> rows.MessagePage:
    shown = [rows.ShownRow.of(row) for row in found[:limit]]
    return rows.MessagePage(
        tuple(map(rows.message_of, shown)),
        len(found) > limit,
        history_version,
        tuple(rows.queued_of(rows.QueuedRow.of(row)) for row in queue),
        frozenset(row.id for row in shown if row.edited),
    )
