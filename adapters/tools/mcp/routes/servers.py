"""Servers of tools: listed, set up, changed, removed."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import msgspec
from msgspec import structs

from adapters.access.acl import AccessLists, ChatACL, UpdateChatACL, role_changes_of
from adapters.http.endpoints import (
    Access,
    Call,
    Caller,
    Endpoint,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, Validation, not_found
from adapters.models.routes.checks import refuse_if
from adapters.people.routes.schemas import is_organization
from adapters.settings.secrets import Vault
from adapters.tools.mcp.oauth.discovery import (
    ClientIdentity,
    NotDiscovered,
    discover,
    is_trusted,
)
from adapters.tools.mcp.routes.schemas import (
    NO_OIDC,
    MCPServerConfig,
    WriteMCPServerConfigRequest,
    changed,
    changed_secrets,
    is_different_server,
    needs_discovery,
    server_document,
    unregistered,
    whole_faults,
    written_faults,
)
from adapters.tools.mcp.servers import McpServer, ServerConfig, ServerSecrets, server_purpose
from adapters.tools.mcp.store import SERVERS_MAX
from adapters.tools.mcp.wiring import Mcp

PATH = "/api/v2/organizations/{organization}/mcp-servers"
CALLBACK = "/api/experimental/mcp/servers/{server}/oauth2/callback"
INVALID = "Invalid MCP server."
MOVED = "This MCP server trusts another authorization server now."
CLIENT_NAME = "promptcorner"  # by which authorization servers know us


class ServerRoutes:
    """Handlers of servers."""

    def __init__(self, mcp: Mcp, vault: Vault, *, organization: UUID) -> None:
        self._mcp = mcp
        self._vault = vault
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        one, written = PATH + "/{server}", WriteMCPServerConfigRequest
        list_of = Sequence[MCPServerConfig]
        user, admin = Access.USER, Access.ADMIN
        rows = (
            ("GET", PATH, self.list, "Servers of tools.", user, None, {200: list_of}),
            ("POST", PATH, self.add, "Set one up.", admin, written, {201: MCPServerConfig}),
            ("GET", one, self.show, "A server of tools.", user, None, {200: MCPServerConfig}),
            ("PATCH", one, self.change, "Change it.", admin, written, {200: MCPServerConfig}),
            ("DELETE", one, self.remove, "Remove it.", admin, None, {204: None}),
        )
        return tuple(
            Endpoint(
                method=method,
                path=path,
                handle=handle,
                summary=says,
                tag="MCP servers",
                access=access,
                scope="settings",
                body=body,
                answers=answers,
                refusals=(409,) if body else (),
            )
            for method, path, handle, says, access, body, answers in rows
        )

    async def list(self, call: Call) -> HttpResponse:
        self._check_place(call)
        servers = (await self._mcp.registry.servers()).values()
        seen = [server for server in servers if may_see(call.user, server)]
        seen.sort(key=lambda server: (server.config.display_name, server.config.slug))
        return json_response(200, [await self._document(server, call.user) for server in seen])

    async def show(self, call: Call) -> HttpResponse:
        return json_response(200, await self._document(await self.visible(call), call.user))

    async def add(self, call: Call) -> HttpResponse:
        self._check_place(call)
        asked = call.read(WriteMCPServerConfigRequest)
        refuse_if(written_faults(asked, is_new=True), INVALID)
        id = uuid4()
        empty = ServerConfig(display_name="", slug="", url="")
        config, secrets = await self._settled(call, id, asked, empty, ServerSecrets())
        if not await self._mcp.store.add(
            id,
            config.slug,
            config=msgspec.json.encode(config),
            sealed=self._sealed(id, secrets),
            group=self._organization,
        ):
            if await self._mcp.store.is_taken(config.slug, id):
                raise _slug_in_use(config.slug)
            raise HttpError(
                409, f"There are {SERVERS_MAX} MCP servers already, which is the limit."
            )
        return json_response(201, await self._document(await self._now(id), call.user))

    async def change(self, call: Call) -> HttpResponse:
        server = await self.visible(call)
        asked = call.read(WriteMCPServerConfigRequest)
        refuse_if(written_faults(asked, is_new=False), INVALID)
        config, secrets = await self._settled(call, server.id, asked, server.config, server.secrets)
        if not await self._mcp.store.change(
            server.stored,
            slug=config.slug,
            config=msgspec.json.encode(config),
            sealed=self._sealed(server.id, secrets),
            forget_tokens=is_different_server(server.config, config),
        ):
            if await self._mcp.store.is_taken(config.slug, server.id):
                raise _slug_in_use(config.slug)
            raise HttpError(
                409, "Another user has changed it meanwhile.", detail="look at it again"
            )
        self._mcp.calls.faults.pop(server.id, None)
        return json_response(200, await self._document(await self._now(server.id), call.user))

    async def remove(self, call: Call) -> HttpResponse:
        server = await self.visible(call)
        if not await self._mcp.store.remove(server.id):
            raise not_found()
        self._mcp.calls.faults.pop(server.id, None)
        return no_content()

    async def visible(self, call: Call) -> McpServer:
        """Return the server of the path. Refused as not found if the caller may not know of it."""
        self._check_place(call)
        found = (await self._mcp.registry.servers()).get(call.uuid("server"))
        if found is None or not may_see(call.user, found):
            raise not_found()
        return found

    async def looked_at_again(self, call: Call, server: McpServer) -> McpServer:
        """Return the server as it is to be logged in at. If it trusts another authorization server
        than it did, we are registered there, and tokens of the former are forgotten."""
        config = server.config
        if not (config.discovered and config.oauth2_issuer):
            return server
        if await is_trusted(self._mcp.clients.strangers, config.url, config.oauth2_issuer):
            return server
        if not config.oauth2_registered:  # a client id is good at one authorization server only
            raise HttpError(400, MOVED, detail="an administrator has to say how it is logged in at")
        moved = unregistered(config)
        config, secrets = await self._found_out(call, server.id, moved, ServerSecrets())
        await self._mcp.store.change(  # or another process has done it
            server.stored,
            slug=config.slug,
            config=msgspec.json.encode(config),
            sealed=self._sealed(server.id, secrets),
            forget_tokens=True,
        )
        return await self._now(server.id)

    def callback_url(self, call: Call, server: UUID) -> str:
        """Return the address to which a browser comes back from an authorization server."""
        return call.link(CALLBACK.replace("{server}", str(server)))

    def _check_place(self, call: Call) -> None:
        if not is_organization(call.path["organization"], self._organization):
            raise not_found()

    async def _now(self, id: UUID) -> McpServer:
        found = (await self._mcp.registry.servers()).get(id)
        if found is None:
            raise not_found()
        return found

    async def _document(self, server: McpServer, caller: Caller) -> MCPServerConfig:
        return server_document(
            server,
            organization=self._organization,
            is_admin=caller.is_admin,
            is_connected=await self._mcp.registry.is_connected(server, caller.id),
            fault=self._mcp.calls.faults.get(server.id, ""),
        )

    async def _settled(
        self,
        call: Call,
        id: UUID,
        asked: WriteMCPServerConfigRequest,
        before: ServerConfig,
        secrets: ServerSecrets,
    ) -> tuple[ServerConfig, ServerSecrets]:
        """Return the settings and secrets as they are to be, with what can be discovered."""
        if asked.auth_type == "user_oidc":
            raise HttpError(403, "Forbidden.", detail=NO_OIDC)
        config = changed(before, asked)
        kept = changed_secrets(secrets, asked, before, config)
        refuse_if(whole_faults(config, kept), INVALID)
        if needs_discovery(config):
            return await self._found_out(call, id, config, kept)
        return config, kept

    async def _found_out(
        self, call: Call, id: UUID, config: ServerConfig, secrets: ServerSecrets
    ) -> tuple[ServerConfig, ServerSecrets]:
        is_own = bool(config.oauth2_client_id)
        identity = ClientIdentity(
            CLIENT_NAME,
            self.callback_url(call, id),
            config.oauth2_client_id,
            has_secret=bool(secrets.oauth2_client_secret),
        )
        try:
            found = await discover(self._mcp.clients.strangers, config.url, identity)
        except NotDiscovered as error:
            raise HttpError(
                400,
                "The OAuth 2 endpoints could not be found out.",
                detail=f"{error}; give oauth2_client_id, oauth2_auth_url and oauth2_token_url",
            ) from error
        config = structs.replace(
            config,
            discovered=True,
            oauth2_issuer=found.issuer,
            oauth2_iss_promised=found.promises_issuer,
            oauth2_resource=found.resource,
            oauth2_auth_method=found.auth_method,
            oauth2_client_id=found.client_id,
            oauth2_registered=not is_own,
            oauth2_auth_url=found.auth_url,
            oauth2_token_url=found.token_url,
            oauth2_revocation_url=config.oauth2_revocation_url or found.revocation_url,
            oauth2_scopes=config.oauth2_scopes or found.scopes,
        )
        if is_own:
            return config, secrets
        return config, structs.replace(secrets, oauth2_client_secret=found.client_secret)

    def _sealed(self, id: UUID, secrets: ServerSecrets) -> bytes:
        return self._vault.seal(msgspec.json.encode(secrets).decode(), server_purpose(id))


def may_see(caller: Caller, server: McpServer) -> bool:
    """Return whether a caller may know of a server."""
    return caller.is_admin or server.is_for(caller.id)


def _slug_in_use(slug: str) -> HttpError:
    validation = Validation("slug", "is taken by another server")
    return HttpError(
        409, f"An MCP server called {slug!r} exists already.", validations=(validation,)
    )


ACL = PATH + "/{server}/acl"


class ReaderRoutes:
    """Handlers of the users who may use a server."""

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
        server = await self._servers.visible(call)
        return json_response(200, self._lists.document(*await self._mcp.store.readers(server.id)))

    async def change(self, call: Call) -> HttpResponse:
        server = await self._servers.visible(call)
        roles = role_changes_of(call)
        await self._lists.check_known(roles)
        await self._mcp.store.change_readers(server.id, added=roles.added, dropped=roles.dropped)
        return no_content()
