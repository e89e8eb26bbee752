"""What holds, read from PostgreSQL: each answer is one trip and one snapshot."""

from actors.law.chat import Message, StoredChat
from actors.law.ids import ChatId
from actors.law.refusals import ChatNotFound
from actors.law.requests import DynamicTool
from adapters.postgres.codec import rows, statements
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL


class Reading:
    """Fulfils `actors.law.store.ports.Reading`."""

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
        """As the chat was born with them; none if there is no such chat."""
        [found] = await self._read((SQL["dynamic_tools"], {"chat": chat}))
        return tuple(tool for [tools] in found for tool in rows.dynamic_tools_of(tools))

    def _chat(self, chat: ChatId) -> Statement:
        return SQL["chat"], {"chat": chat, "lease_seconds": self._lease_seconds}

    async def _read(self, *asked: Statement) -> list[list[Row]]:
        async with self._pool.connection() as connection:
            if len(asked) == 1:  # one statement sees one snapshot by itself
                return await connection.run(asked)
            return await connection.read(asked)
