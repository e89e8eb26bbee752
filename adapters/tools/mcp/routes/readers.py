"""Whose chats may use a server: everybody's, unless administrators say otherwise."""

from collections.abc import Sequence

from adapters.access.acl import AccessLists, ChatACL, UpdateChatACL, role_changes_of
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, json_response, no_content
from adapters.tools.mcp.opening import Mcp
from adapters.tools.mcp.routes.servers import PATH, ServerRoutes

ACL = PATH + "/{server}/acl"


class ReaderRoutes:
    def __init__(self, mcp: Mcp, lists: AccessLists, servers: ServerRoutes) -> None:
        self._mcp = mcp
        self._lists = lists
        self._servers = servers

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
                summary=says,
                tag="MCP servers",
                access=Access.ADMIN,
                scope="settings",
                body=body,
                answers=answers,
            )
            for method, handle, says, body, answers in rows
        )

    async def list(self, call: Call) -> HttpResponse:
        server = await self._servers.seen(call)
        return json_response(200, self._lists.shown(*await self._mcp.stored.readers(server.id)))

    async def change(self, call: Call) -> HttpResponse:
        server = await self._servers.seen(call)
        roles = role_changes_of(call)
        await self._lists.check_known(roles)
        await self._mcp.stored.change_readers(server.id, added=roles.added, dropped=roles.dropped)
        return no_content()
