"""The endpoints of servers of tools, all of them, with what they need."""

from collections.abc import Sequence
from uuid import UUID

from adapters.access.acl import AccessLists, ReaderStore
from adapters.http.endpoints import Routes
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault
from adapters.tools.mcp.routes.oauth import OAuthRoutes
from adapters.tools.mcp.routes.servers import ReaderRoutes, ServerRoutes
from adapters.tools.mcp.wiring import Mcp


def mcp_routes(
    mcp: Mcp,
    vault: Vault,
    pool: Pool,
    *,
    organization: UUID,
    organization_name: str,
) -> Sequence[Routes]:
    servers = ServerRoutes(mcp, vault, organization=organization)
    lists = AccessLists(ReaderStore(pool), organization, organization_name)
    return (servers, ReaderRoutes(mcp, lists, servers), OAuthRoutes(mcp, vault, servers))
