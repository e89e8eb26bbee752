"""Servers of tools as clients write and see them. Pure; no secret is ever in an answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from adapters.tools.mcp.servers import Server


class MCPServerConfig(Struct, frozen=True, kw_only=True):
    """`fault`: why it could not be used the last time this process tried."""

    id: UUID
    organization_id: UUID
    display_name: str
    slug: str
    description: str
    icon_url: str
    transport: str = ""
    url: str = ""
    auth_type: str
    oauth2_client_id: str | UnsetType = UNSET
    has_oauth2_secret: bool
    oauth2_auth_url: str | UnsetType = UNSET
    oauth2_token_url: str | UnsetType = UNSET
    oauth2_revocation_url: str | UnsetType = UNSET
    oauth2_scopes: str | UnsetType = UNSET
    api_key_header: str | UnsetType = UNSET
    has_api_key: bool
    has_custom_headers: bool
    tool_allow_list: Sequence[str]
    tool_deny_list: Sequence[str]
    availability: str
    enabled: bool
    model_intent: bool
    allow_in_plan_mode: bool
    forward_coder_headers: bool
    created_at: datetime
    updated_at: datetime
    auth_connected: bool
    fault: str | UnsetType = UNSET


class WriteMCPServerConfigRequest(Struct, frozen=True, kw_only=True):
    """To set one up, or to change one: then what is left out stays."""

    display_name: str | None = None
    slug: str | None = None
    description: str | None = None
    icon_url: str | None = None
    transport: str | None = None
    url: str | None = None
    auth_type: str | None = None
    oauth2_client_id: str | None = None
    oauth2_client_secret: str | None = None
    oauth2_auth_url: str | None = None
    oauth2_token_url: str | None = None
    oauth2_revocation_url: str | None = None
    oauth2_scopes: str | None = None
    api_key_header: str | None = None
    api_key_value: str | None = None
    custom_headers: Mapping[str, str] | None = None
    tool_allow_list: Sequence[str] | None = None
    tool_deny_list: Sequence[str] | None = None
    availability: str | None = None
    enabled: bool | None = None
    model_intent: bool | None = None
    allow_in_plan_mode: bool | None = None
    forward_coder_headers: bool | None = None

    def __repr__(self) -> str:
        return f"WriteMCPServerConfigRequest(slug={self.slug!r})"


class Disconnected(Struct, frozen=True):
    """A token is forgotten here in any case; whether it was revoked there is another matter."""

    token_revoked: bool
    token_revocation_error: str | UnsetType = UNSET


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
