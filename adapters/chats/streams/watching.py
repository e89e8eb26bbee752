"""An owner's chats as he watches them: news of them, each with the chat as it is in a list."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec import Raw

from actors.law.ids import ChatId
from actors.law.store.hints import Became
from adapters.chats.shelf.shelf import Shelf
from adapters.chats.wire.chats import watched
from adapters.chats.wire.streams import ChatWatchEvent, WatchKind, encoded

_KINDS: Mapping[Became, WatchKind] = {
    Became.CREATED: "created",
    Became.DELETED: "deleted",
    Became.STATUS: "status_change",
    Became.ACTION: "action_required",
    Became.TITLE: "title_change",
    Became.TURN_SUMMARY: "summary_change",
    Became.SUMMARY: "chat_summary_change",
    Became.CONTEXT: "context_dirty",
}


class Listing:
    """Fulfils `actors.streams.feeds.owner_feed.Listing`."""

    def __init__(self, shelf: Shelf, *, organization: UUID) -> None:
        self._shelf = shelf
        self._organization = organization

    async def events(self, news: Sequence[tuple[Became, ChatId]]) -> Sequence[bytes]:
        chats = {chat: await self._chat(chat) for chat in dict.fromkeys(chat for _, chat in news)}
        return [
            encoded(ChatWatchEvent(_KINDS[became], shown))
            for became, chat in news
            if (shown := chats[chat]) is not None
        ]

    async def _chat(self, chat: ChatId) -> Raw | None:
        found = await self._shelf.chat(chat)
        if found is None:
            return None
        return Raw(encoded(watched(found, organization=self._organization)))
