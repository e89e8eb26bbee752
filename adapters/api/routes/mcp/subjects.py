"""All rows about servers of tools, with what they need."""

from collections.abc import Sequence
from uuid import UUID

from adapters.api.acl import AccessLists
from adapters.api.endpoints import Routes
from adapters.api.routes.mcp.oauth import OAuthRoutes
from adapters.api.routes.mcp.readers import ReaderRoutes
from adapters.api.routes.mcp.servers import ServerRoutes
from adapters.mcp.opening import Mcp
from adapters.postgres.driver.pool import Pool
from adapters.postgres.shelves.readers import Readers
from adapters.secrets import Vault


def mcp_subjects(
    mcp: Mcp,
    vault: Vault,
    pool: Pool,
    *,
    organization: UUID,
    organization_name: str,
) -> Sequence[Routes]:
    servers = ServerRoutes(mcp, vault, organization=organization)
    lists = AccessLists(Readers(pool), organization, organization_name)
    return (servers, ReaderRoutes(mcp, lists, servers), OAuthRoutes(mcp, vault, servers))
