"""Whether a caller gets at a chat: asked once for each request, one statement, before anything else
of the request is looked at.

Who may not see a chat is told exactly what he is told of one that does not exist.
"""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from actors.law.ids import ChatId, ModelConfigId, UserId
from actors.law.states import Status
from adapters.http.endpoints import Call, Caller
from adapters.http.refusals import forbidden, not_found
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

_STATUS = {status.value: status for status in Status}


@dataclass(frozen=True, slots=True)
class Visible:
    """A chat that this caller may see, as it was when he came."""

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
    def __init__(self, pool: Pool, *, sharing: bool = True) -> None:
        self._pool = pool
        self._sharing = sharing  # False: what was shared once is seen by nobody else

    async def to_read(self, call: Call) -> Visible:
        """The chat of the path: the caller's own, shared with him, or any if he is an admin."""
        return await self.visible(call.user, ChatId(call.uuid("chat")))

    async def to_update(self, call: Call) -> Visible:
        """His own, or any if he is an admin."""
        found = await self.to_read(call)
        if not (found.by_owner or call.user.is_admin):
            raise not_found()
        return found

    async def as_owner(self, call: Call) -> Visible:
        """His own: not even admins speak in other people's names."""
        found = await self.to_update(call)
        if not found.by_owner:
            raise forbidden("only the owner of the chat may do this")
        return found

    async def uninvited(
        self, watching: Set[tuple[ChatId, UserId]]
    ) -> frozenset[tuple[ChatId, UserId]]:
        """Of these, who may see his chat no more."""
        asked = {
            "chats": [chat for chat, _ in watching],
            "watchers": [user for _, user in watching],
            "sharing": self._sharing,
        }
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["uninvited"], asked)
        return frozenset((chat, user) for chat, user in found)

    async def visible(self, caller: Caller, chat: ChatId) -> Visible:
        asked = {
            "chat": chat,
            "caller": caller.id,
            "is_admin": caller.is_admin,
            "sharing": self._sharing,
        }
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["admit"], asked)
        if not found:
            raise not_found()
        [(id, owner, parent, root, status, archived, title, plan, mode, *rest)] = found
        pin, mcp, model, effort = rest
        return Visible(
            id,
            owner,
            parent,
            root,
            _STATUS[status],
            archived,
            title,
            plan,
            mode,
            pin,
            tuple(mcp),
            model,
            effort,
            owner == caller.id,
        )
