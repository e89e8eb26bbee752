"""Files that chats make by their tools: kept and linked to the chat in one transaction."""

from actors.law.chat import FILES_PER_CHAT_MAX, Chat
from actors.prompts.context.ports import Document
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


class KeptFiles:
    """Fulfils `actors.prompts.context.ports.ChatFiles`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def keep(self, chat: Chat, document: Document) -> bool:
        keeping = {
            "chat": chat.id,
            "owner": chat.owner_id,
            "id": document.id,
            "name": document.name,
            "media_type": document.media_type,
            "bytes": document.content,
            "most": FILES_PER_CHAT_MAX,
        }
        async with self._pool.connection() as connection:
            _, kept = await connection.commit(
                [(SQL["lock_files_of_chat"], {"chat": chat.id}), (SQL["keep_file"], keeping)]
            )
        return kept == [(True,)]
