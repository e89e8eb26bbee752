"""Whose chats may use a server: everybody's, unless administrators say otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from msgspec import UNSET

from actors.ids import UserId
from adapters.api.catalogue.checking import Faults, refuse_if
from adapters.api.endpoints import Access, Answer, Call, Endpoint, done, said
from adapters.api.routes.mcp.servers import PATH, ServerRoutes
from adapters.api.wire.sharing import ChatACL, ChatGroup, ChatUser, UpdateChatACL
from adapters.mcp.opening import Mcp
from adapters.postgres.mcp.stored import SUBJECTS_MAX
from adapters.postgres.shelves.readers import Everyone, Readers

ACL = PATH + "/{server}/acl"
READ, NOTHING = "read", ""
EVERYONE = "Everyone"


class ReaderRoutes:
    """`organization` is also the id of its only group, which holds everybody."""

    def __init__(
        self,
        mcp: Mcp,
        people: Readers,
        servers: ServerRoutes,
        *,
        organization: UUID,
        organization_name: str,
    ) -> None:
        self._mcp = mcp
        self._people = people
        self._servers = servers
        self._organization = organization
        self._organization_name = organization_name

    def endpoints(self) -> Sequence[Endpoint]:
        rows = (
            ("GET", self.list, "Whose chats may use it.", None, {200: ChatACL}),
            ("PATCH", self.change, "Say whose chats may.", UpdateChatACL, {204: None}),
        )
        return tuple(
            Endpoint(
                method=method,
                path=ACL,
                handle=handle,
                says=says,
                tag="MCP servers",
                access=Access.ADMIN,
                scope="settings",
                body=body,
                answers=answers,
            )
            for method, handle, says, body, answers in rows
        )

    async def list(self, call: Call) -> Answer:
        server = await self._servers.seen(call)
        readers, everyone = await self._mcp.stored.readers(server.id)
        users = [
            ChatUser(
                id=reader.id,
                username=reader.username,
                name=reader.name or UNSET,
                avatar_url=reader.avatar_url or UNSET,
                role=READ,
            )
            for reader in readers
        ]
        return said(200, ChatACL(users, [] if everyone is None else [self._group(everyone)]))

    async def change(self, call: Call) -> Answer:
        server = await self._servers.seen(call)
        asked = call.read(UpdateChatACL)
        given = {"user_roles": asked.user_roles or {}, "group_roles": asked.group_roles or {}}
        refuse_if((f for field, roles in given.items() for f in _faults(field, roles)), "Invalid.")
        users, groups = given["user_roles"], given["group_roles"]
        await self._check_known(users, groups)
        await self._mcp.stored.change_readers(
            server.id,
            added=({UserId(id) for id in _with(users, READ)}, set(_with(groups, READ))),
            dropped=({UserId(id) for id in _with(users, NOTHING)}, set(_with(groups, NOTHING))),
        )
        return done()

    async def _check_known(self, users: Mapping[str, str], groups: Mapping[str, str]) -> None:
        wanted = {UserId(id) for id in _with(users, READ)}
        strangers = wanted - (await self._people.known(wanted) if wanted else frozenset())
        others = [id for id in _with(groups, READ) if id != self._organization]
        faults = [("user_roles", f"there is no user {id}") for id in sorted(strangers)]
        refuse_if(
            [*faults, *(("group_roles", f"there is no group {id}") for id in others)], "Invalid."
        )

    def _group(self, everyone: Everyone) -> ChatGroup:
        return ChatGroup(
            id=everyone.id,
            name=EVERYONE,
            display_name="",
            organization_id=self._organization,
            members=(),
            total_member_count=everyone.members,
            avatar_url="",
            quota_allowance=0,
            source="user",
            organization_name=self._organization_name,
            organization_display_name=self._organization_name,
            role=READ,
        )


def _with(roles: Mapping[str, str], role: str) -> Iterator[UUID]:
    return (UUID(id) for id, given in roles.items() if given == role)


def _faults(field: str, roles: Mapping[str, str]) -> Faults:
    if len(roles) > SUBJECTS_MAX:
        yield field, f"names {len(roles)}, at most {SUBJECTS_MAX}"
    for id, role in roles.items():
        try:
            UUID(id)
        except ValueError:
            yield field, f"{id[:80]!r} is not a UUID"
        if role not in (READ, NOTHING):
            yield field, f"{role[:80]!r} is neither 'read' nor empty"
