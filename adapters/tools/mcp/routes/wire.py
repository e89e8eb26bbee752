"""Servers of tools as clients write and see them. Pure; no secret is ever in an answer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType


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
