"""Titles and summaries of chats on PostgreSQL, as upkeep writes them."""

from actors.law.chat import Chat
from actors.law.ids import ChatId
from actors.law.store.hints import SummaryChanged, Tell, TitleChanged
from actors.upkeep.summary_jobs import ListedChat
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


class TitleStorage:
    """The titles of chats. Fulfils `actors.upkeep.title_jobs.TitleStore`."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def is_called(self, chat: ChatId, title: str) -> bool:
        """Return whether this is the title of the chat."""
        async with self._pool.connection() as connection:
            [(is_called,)] = await connection.execute(
                SQL["is_called"], {"chat": chat, "title": title}
            )
        return bool(is_called)

    async def rename(self, chat: ChatId, title: str, *, was: str) -> bool:
        """Give a chat a title. Return False if its title is not `was` any more."""
        renaming = {"chat": chat, "title": title, "was": was}
        async with self._pool.connection() as connection:
            renamed = await connection.execute(SQL["rename"], renaming)
        for (owner,) in renamed:
            self._tell(TitleChanged(chat, owner))
        return bool(renamed)


class SummaryStorage:
    """The summaries of chats. Fulfils `actors.upkeep.summary_jobs.SummaryStore`."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def listed_chat(self, chat: ChatId) -> ListedChat | None:
        """Return the title of a chat and the counts of its turns, or None if it is gone."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["shown_of_chat"], {"chat": chat})
        return ListedChat(*found[0]) if found else None

    async def label(self, chat: Chat, label: str | None) -> bool:
        """Store how the latest turn ended. Return False if the chat has changed meanwhile, or has
        this label already."""
        return await self._write(SQL["label_turn"], chat, label)

    async def summarise(self, chat: Chat, summary: str, *, turns: int) -> bool:
        """Store what a chat is about, after so many turns. Return False as `label` does."""
        return await self._write(SQL["summarise_chat"], chat, summary, turns=turns)

    async def _write(self, sql: str, chat: Chat, words: str | None, **more: int) -> bool:
        version, of_chat = chat.history_version, bool(more)
        writing = {"chat": chat.id, "history_version": version, "words": words, **more}
        async with self._pool.connection() as connection:
            written = await connection.execute(sql, writing)
        for (owner,) in written:
            self._tell(SummaryChanged(chat.id, owner, of_chat))
        return bool(written)
