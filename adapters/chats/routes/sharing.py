"""The routes of sharing: who may read a chat besides its owner."""

from collections.abc import Sequence
from uuid import UUID

from actors.law.ids import UserId
from actors.law.store.hints import ReadersChanged, Tell, tell_all
from adapters.access.acl import (
    AccessLists,
    ChatACL,
    ReaderStore,
    RoleChanges,
    UpdateChatACL,
    role_changes_of,
)
from adapters.access.admission import Admission, VisibleChat
from adapters.http.endpoints import Call, Endpoint, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, forbidden

ACL = "/api/v2/chats/{chat}/acl"


class SharingRoutes:
    """Handlers of the readers of a chat."""

    def __init__(
        self,
        admission: Admission,
        readers: ReaderStore,
        *,
        organization: UUID,
        organization_name: str,
        tell: Tell,
        sharing: bool = True,
    ) -> None:
        """Make the handlers. `tell` is told of each reader that comes or goes."""
        self._admission = admission
        self._readers = readers
        self._lists = AccessLists(readers, organization, organization_name)
        self._tell = tell
        self._sharing = sharing

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=ACL,
                handle=self.get,
                summary="Who may read the chat besides its owner.",
                tag="sharing",
                answers={200: ChatACL},
            ),
            Endpoint(
                method="PATCH",
                path=ACL,
                handle=self.change,
                summary="Let others read it, or take that back.",
                tag="sharing",
                body=UpdateChatACL,
                answers={204: None},
            ),
        )

    async def get(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_read(call)
        self._check(chat)
        return json_response(200, self._lists.document(*await self._readers.of(chat.id)))

    async def change(self, call: Call) -> HttpResponse:
        chat = await self._admission.to_read(call)
        if not self._sharing or not (chat.by_owner or call.user.is_admin):
            raise forbidden("you cannot share this chat")
        self._check(chat)
        roles = role_changes_of(call)
        if call.user.id in roles.users:
            raise HttpError(400, "You cannot change your own role.")
        await self._lists.check_known(roles)
        await self._readers.change(chat.id, added=roles.added, dropped=roles.dropped)
        tell_all(readers_changed(chat, roles), self._tell)
        return no_content()

    def _check(self, chat: VisibleChat) -> None:
        if not self._sharing:
            raise forbidden("sharing is switched off here")
        if not chat.is_root:
            raise HttpError(
                400,
                "A child chat is shared with its root.",
                detail=f"share {chat.root_id} instead",
            )


def readers_changed(chat: VisibleChat, roles: RoleChanges) -> Sequence[ReadersChanged]:
    """Return a hint for each reader who came or went. None stands for the group of all users."""
    users: Sequence[UserId | None] = [UserId(user) for user in roles.users]
    everybody = [None] if roles.groups else []
    return [ReadersChanged(chat.id, chat.owner_id, user) for user in (*users, *everybody)]
