"""Titles of chats on PostgreSQL."""

from actors.law.ids import ChatId
from actors.law.store.hints import Tell, TitleChanged
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


class Titles:
    """Fulfils `actors.upkeep.title_jobs.TitleStore`."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def is_called(self, chat: ChatId, title: str) -> bool:
        async with self._pool.connection() as connection:
            [(is_called,)] = await connection.execute(
                SQL["is_called"], {"chat": chat, "title": title}
            )
        return bool(is_called)

    async def rename(self, chat: ChatId, title: str, *, was: str) -> bool:
        renaming = {"chat": chat, "title": title, "was": was}
        async with self._pool.connection() as connection:
            renamed = await connection.execute(SQL["rename"], renaming)
        for (owner,) in renamed:
            self._tell(TitleChanged(chat, owner))
        return bool(renamed)
