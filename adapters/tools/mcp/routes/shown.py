"""What is seen of a server: all but its secrets by administrators, less by others. Pure."""

from uuid import UUID

from msgspec import UNSET, UnsetType

from adapters.tools.mcp.routes.wire import MCPServerConfig
from adapters.tools.mcp.servers import Server

UNUSABLE = "it could not be used the last time; an administrator sees why"


def shown(
    server: Server, *, organization: UUID, is_admin: bool, is_connected: bool, fault: str
) -> MCPServerConfig:
    config, secrets = server.config, server.secrets
    oauth = is_admin and config.auth_type == "oauth2"
    return MCPServerConfig(
        id=server.id,
        organization_id=organization,
        display_name=config.display_name,
        slug=config.slug,
        description=config.description,
        icon_url=config.icon_url,
        transport=config.transport if is_admin else "",
        url=config.url if is_admin else "",
        auth_type=config.auth_type,
        oauth2_client_id=config.oauth2_client_id if oauth else UNSET,
        has_oauth2_secret=bool(secrets.oauth2_client_secret),
        oauth2_auth_url=config.oauth2_auth_url if oauth else UNSET,
        oauth2_token_url=config.oauth2_token_url if oauth else UNSET,
        oauth2_revocation_url=config.oauth2_revocation_url if oauth else UNSET,
        oauth2_scopes=config.oauth2_scopes if oauth else UNSET,
        api_key_header=config.api_key_header if is_admin and config.api_key_header else UNSET,
        has_api_key=bool(secrets.api_key_value),
        has_custom_headers=bool(secrets.custom_headers),
        tool_allow_list=config.tool_allow_list,
        tool_deny_list=config.tool_deny_list,
        availability=config.availability,
        enabled=config.enabled,
        model_intent=config.model_intent,
        allow_in_plan_mode=config.allow_in_plan_mode,
        forward_coder_headers=config.forward_coder_headers,
        created_at=server.created_at,
        updated_at=server.updated_at,
        auth_connected=is_connected,
        fault=_fault(server.fault or fault, is_admin=is_admin),
    )


def _fault(why: str, *, is_admin: bool) -> str | UnsetType:
    """Others learn that there is one: what it is may say where the server stands."""
    if not why:
        return UNSET
    return why if is_admin else UNUSABLE
