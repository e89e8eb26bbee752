"""Servers of tools as clients write and see them. Pure; no secret is ever in an answer."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType, structs

from adapters.models.routes.checks import Faults, text_faults
from adapters.tools.mcp.servers import (
    AUTH_TYPES,
    AVAILABILITIES,
    TRANSPORTS,
    McpServer,
    ServerConfig,
    ServerSecrets,
)


class MCPServerConfig(Struct, frozen=True, kw_only=True):
    """A server as clients get it. `fault` says why this process could not use it the last time."""

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
    """A server to set up, or changes of one: then what is left out stays."""

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


def server_document(
    server: McpServer, *, organization: UUID, is_admin: bool, is_connected: bool, fault: str
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


SLUG = re.compile(r"[a-z0-9]+([-_][a-z0-9]+)*")
SLUG_CHARACTERS_MAX = 32  # half of a tool's name
TOOLS_MAX = 1_000  # names in a list; more are refused
HEADERS_MAX = 50  # likewise
SECRET_CHARACTERS_MAX = 10_240

REQUIRED = ("display_name", "slug", "transport", "url", "auth_type", "availability")
OAUTH_FIELDS = (
    "oauth2_client_id",
    "oauth2_auth_url",
    "oauth2_token_url",
    "oauth2_revocation_url",
    "oauth2_scopes",
)
MANUAL = ("oauth2_client_id", "oauth2_auth_url", "oauth2_token_url")
_ENDPOINTS = ("oauth2_auth_url", "oauth2_token_url", "oauth2_revocation_url")
NO_OIDC = "user_oidc: users here have no identity token of their own that could be sent"

_URLS = ("url", "icon_url", "oauth2_auth_url", "oauth2_token_url", "oauth2_revocation_url")
_SECRETS = ("oauth2_client_secret", "api_key_value", "custom_headers")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What a session sets by itself: with another value it would not be one any more.
_RESERVED = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept"}
)


def written_faults(asked: WriteMCPServerConfigRequest, *, is_new: bool) -> Faults:
    """Yield what is wrong with the fields that are there."""
    if is_new:
        yield from ((name, "is required") for name in REQUIRED if not getattr(asked, name))
    elif all(getattr(asked, name) is None for name in asked.__struct_fields__):
        yield "", "names nothing to change"
    for name in ("display_name", "description", *_URLS, *OAUTH_FIELDS, "api_key_header"):
        yield from text_faults(name, getattr(asked, name))
    yield from _choice_faults(asked)
    if asked.slug and not (len(asked.slug) <= SLUG_CHARACTERS_MAX and SLUG.fullmatch(asked.slug)):
        yield "slug", f"must be lowercase words joined by - or _, {SLUG_CHARACTERS_MAX} at most"
    for name in _URLS:
        if (url := getattr(asked, name)) and not _is_url(url):
            yield name, "must be an absolute http or https URL"
    for name in ("tool_allow_list", "tool_deny_list"):
        if len(getattr(asked, name) or ()) > TOOLS_MAX:
            yield name, f"may have {TOOLS_MAX} names"
    yield from _header_faults(asked)


def _choice_faults(asked: WriteMCPServerConfigRequest) -> Faults:
    choices = (
        ("transport", TRANSPORTS),
        ("auth_type", AUTH_TYPES),
        ("availability", AVAILABILITIES),
    )
    for name, allowed in choices:
        value = getattr(asked, name)
        if value and value not in allowed:
            yield name, f"must be one of {', '.join(allowed)}"
    for name in REQUIRED:
        if getattr(asked, name) == "":
            yield name, "must not be empty"


def _header_faults(asked: WriteMCPServerConfigRequest) -> Faults:
    """Never says anything of a value."""
    headers = dict(asked.custom_headers or {})
    if asked.api_key_header:
        headers[asked.api_key_header] = asked.api_key_value or ""
    if len(headers) > HEADERS_MAX:
        yield "custom_headers", f"may be {HEADERS_MAX}"
    for name, value in headers.items():
        field = "api_key_header" if name == asked.api_key_header else "custom_headers"
        if not _TOKEN.fullmatch(name) or name.lower() in _RESERVED:
            yield field, f"{name[:80]!r} cannot be set"
        if not (value.isascii() and (value.isprintable() or not value)):
            yield field, f"{name[:80]!r} has a value that no header can have"
        if len(value) > SECRET_CHARACTERS_MAX:
            yield field, f"{name[:80]!r} has a value longer than {SECRET_CHARACTERS_MAX}"


def whole_faults(config: ServerConfig, secrets: ServerSecrets) -> Faults:
    """Yield what is wrong with the server as a whole."""
    match config.auth_type:
        case "api_key" if not (config.api_key_header and secrets.api_key_value):
            yield "api_key_header", "comes together with api_key_value"
        case "custom_headers" if not secrets.custom_headers:
            yield "custom_headers", "is required"
        case "oauth2":
            missing = [name for name in MANUAL if not getattr(config, name)]
            if missing and not needs_discovery(config):
                yield ", ".join(missing), "is missing; without both addresses they are found out"
        case _:
            pass


def needs_discovery(config: ServerConfig) -> bool:
    """Return whether the endpoints are to be found out. A client id may be there already."""
    return config.auth_type == "oauth2" and not (config.oauth2_auth_url or config.oauth2_token_url)


NOT_FOUND_OUT: Mapping[str, Any] = {
    "oauth2_issuer": "",
    "oauth2_iss_promised": False,
    "oauth2_resource": "",
    "oauth2_auth_method": "",
}


def unregistered(config: ServerConfig) -> ServerConfig:
    """Return the settings without what an authorization server has said and given."""
    empty = dict.fromkeys((*MANUAL, "oauth2_revocation_url"), "")
    return structs.replace(config, oauth2_registered=False, **empty, **NOT_FOUND_OUT)


def changed(config: ServerConfig, asked: WriteMCPServerConfigRequest) -> ServerConfig:
    """Return the settings with these changes. What belongs to another kind of authorization is
    dropped."""
    said = {
        name: tuple(value) if name in ("tool_allow_list", "tool_deny_list") else value
        for name in config.__struct_fields__
        if (value := getattr(asked, name, None)) is not None
    }
    found = structs.replace(config, **said)
    if found.auth_type != "oauth2" or any(said.get(name) for name in _ENDPOINTS):
        found = structs.replace(found, discovered=False, **NOT_FOUND_OUT)
    if found.url != config.url:  # what the former called itself
        found = structs.replace(found, oauth2_resource="")
    is_another = found.oauth2_client_id not in ("", config.oauth2_client_id)
    if is_another or asked.oauth2_client_secret:
        found = structs.replace(found, oauth2_auth_method="", oauth2_registered=False)
    if found.oauth2_registered and needs_discovery(found):  # where they are found, we register anew
        found = structs.replace(found, oauth2_client_id="", oauth2_registered=False)
    dropped: tuple[str, ...] = () if found.auth_type == "oauth2" else OAUTH_FIELDS
    dropped += () if found.auth_type == "api_key" else ("api_key_header",)
    is_registered = found.oauth2_registered and found.auth_type == "oauth2"
    return structs.replace(found, oauth2_registered=is_registered, **dict.fromkeys(dropped, ""))


def changed_secrets(
    secrets: ServerSecrets,
    asked: WriteMCPServerConfigRequest,
    before: ServerConfig,
    after: ServerConfig,
) -> ServerSecrets:
    """Return the secrets with these changes. One that we were registered with goes with its
    client id."""
    if before.oauth2_registered and not after.oauth2_registered:
        secrets = structs.replace(secrets, oauth2_client_secret="")
    said = {name: value for name in _SECRETS if (value := getattr(asked, name)) is not None}
    found = structs.replace(secrets, **said)
    match after.auth_type:
        case "oauth2":
            return ServerSecrets(oauth2_client_secret=found.oauth2_client_secret)
        case "api_key":
            return ServerSecrets(api_key_value=found.api_key_value)
        case "custom_headers":
            return ServerSecrets(custom_headers=found.custom_headers)
        case _:
            return ServerSecrets()


def is_different_server(before: ServerConfig, after: ServerConfig) -> bool:
    """Return whether it is another server now, to which users' tokens for the former must not be
    shown."""
    names = (
        "url",
        "auth_type",
        "oauth2_client_id",
        "oauth2_auth_url",
        "oauth2_token_url",
        "oauth2_revocation_url",
    )
    return any(getattr(before, name) != getattr(after, name) for name in names)


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
