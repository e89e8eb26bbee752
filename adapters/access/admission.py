"""Admission to chats: one statement for each request, before anything else of it is looked at.

A caller who may not see a chat is told exactly what they are told of one that does not exist.
"""

from collections.abc import Collection, Mapping, Set
from uuid import UUID

from actors.law.ids import ChatId, ModelConfigId, UserId
from actors.law.states import Status
from adapters.http.endpoints import Call, Caller
from adapters.http.refusals import forbidden, not_found
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL, Record


class VisibleChat(Record, frozen=True):
    """A chat that the caller may see, as it was when the request came."""

    id: ChatId
    owner_id: UserId
    parent_id: ChatId | None
    root_id: ChatId  # its own id, if it is a root
    status: Status
    archived: bool
    title: str
    plan_mode: str
    mode: str  # what it was spawned for; "": anything
    pin_order: int
    mcp_server_ids: tuple[UUID, ...]
    last_model_config_id: ModelConfigId | None
    last_reasoning_effort: str | None
    by_owner: bool  # the caller is its owner

    @property
    def is_root(self) -> bool:
        return self.parent_id is None


class Admission:
    """The rules of who gets at which chat, asked of the store."""

    def __init__(self, pool: Pool, *, sharing: bool = True) -> None:
        self._pool = pool
        self._sharing = sharing  # False: what was shared once is seen by its owner and admins only

    async def to_read(self, call: Call) -> VisibleChat:
        """Return the chat of the path, if it is the caller's own or shared with them. An admin gets
        any."""
        return await self.visible(call.user, ChatId(call.uuid("chat")))

    async def to_update(self, call: Call) -> VisibleChat:
        """Return the chat of the path, if it is the caller's own. An admin gets any."""
        return checked_to_update(call, await self.to_read(call))

    async def as_owner(self, call: Call) -> VisibleChat:
        """Return the chat of the path, if it is the caller's own: not even admins speak in other
        people's names."""
        return checked_as_owner(call, await self.to_read(call))

    async def without_access(
        self, watching: Set[tuple[ChatId, UserId]]
    ) -> frozenset[tuple[ChatId, UserId]]:
        """Return those of these watchers who may see their chat no more."""
        asked = {
            "chats": [chat for chat, _ in watching],
            "watchers": [user for _, user in watching],
            "sharing": self._sharing,
        }
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["without_access"], asked)
        return frozenset((chat, user) for chat, user in found)

    async def readers_among(
        self, chats: Collection[ChatId], watchers: Collection[UserId]
    ) -> Mapping[ChatId, Collection[UserId]]:
        """Return those of these users with whom each of these chats is shared. Fulfils
        `actors.streams.feeds.shared_news.FindReaders`."""
        if not self._sharing:
            return {}
        asked = {"chats": list(chats), "watchers": list(watchers)}
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["readers_among"], asked)
        readers: dict[ChatId, list[UserId]] = {}
        for chat, user in found:
            readers.setdefault(chat, []).append(user)
        return readers

    async def visible(self, caller: Caller, chat: ChatId) -> VisibleChat:
        """Return the chat as this caller may see it. Refused as not found if they may not."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["admit"], self.access_parameters(caller, chat))
        if not found:
            raise not_found()
        return VisibleChat.of(found[0])

    def access_parameters(self, caller: Caller, chat: ChatId) -> dict[str, object]:
        """Return the parameters of statements that say who gets at a chat."""
        return {
            "chat": chat,
            "caller": caller.id,
            "is_admin": caller.is_admin,
            "sharing": self._sharing,
        }


def checked_to_update(call: Call, chat: VisibleChat) -> VisibleChat:
    """Return the chat if the caller may update it. Refused as not found if they may not."""
    if not (chat.by_owner or call.user.is_admin):
        raise not_found()
    return chat


def checked_as_owner(call: Call, chat: VisibleChat) -> VisibleChat:
    """Return the chat if it is the caller's own."""
    if not checked_to_update(call, chat).by_owner:
        raise forbidden("only the owner of the chat may do this")
    return chat
