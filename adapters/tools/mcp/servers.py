"""A server of tools as it is set up, and whose chats use it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from msgspec import Struct

from actors.law.chat import Chat
from actors.law.ids import UserId
from actors.tools.gating import Kind, kind_of
from adapters.tools.mcp.store.stored import StoredServer

TRANSPORTS = ("streamable_http", "sse")
AUTH_TYPES = ("none", "oauth2", "api_key", "custom_headers", "user_oidc")
AVAILABILITIES = ("force_on", "default_on", "default_off")


class Configured(Struct, frozen=True, kw_only=True):
    """All of it that may be shown to administrators; stored as JSON."""

    display_name: str
    slug: str
    description: str = ""
    icon_url: str = ""
    transport: str = "streamable_http"
    url: str
    auth_type: str = "none"
    oauth2_client_id: str = ""
    oauth2_auth_url: str = ""
    oauth2_token_url: str = ""
    oauth2_revocation_url: str = ""
    oauth2_scopes: str = ""  # with blanks between
    discovered: bool = False  # strangers have named these endpoints: see oauth.guard
    api_key_header: str = ""
    tool_allow_list: tuple[str, ...] = ()
    tool_deny_list: tuple[str, ...] = ()
    availability: str = "default_off"
    enabled: bool = True
    model_intent: bool = False
    allow_in_plan_mode: bool = False
    forward_coder_headers: bool = False

    @property
    def bare_url(self) -> str:
        """Without what may be a secret in it: for logs."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path, "", ""))


class Secrets(Struct, frozen=True, kw_only=True):
    """All of it that may not be shown to anybody; stored sealed."""

    oauth2_client_secret: str = ""
    api_key_value: str = ""
    custom_headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return "Secrets()"


@dataclass(frozen=True, slots=True)
class Server:
    stored: StoredServer
    config: Configured
    secrets: Secrets = field(repr=False)
    fault: str = ""  # why its secrets cannot be opened

    @property
    def id(self) -> UUID:
        return self.stored.id

    @property
    def created_at(self) -> datetime:
        return self.stored.created_at

    @property
    def updated_at(self) -> datetime:
        return self.stored.updated_at

    def is_for(self, user: UserId) -> bool:
        """Whether his chats may be told to use it."""
        return self.config.enabled and (self.stored.everybody or user in self.stored.users)

    @property
    def is_forced(self) -> bool:
        return self.config.enabled and self.config.availability == "force_on"


def about_server(id: UUID) -> str:
    """What its sealed secrets are about."""
    return f"MCP server {id}"


def about_token(user: UserId, server: UUID) -> str:
    return f"token of user {user} for MCP server {server}"


def forced_on(servers: Iterable[Server], user: UserId) -> tuple[UUID, ...]:
    """Those that every chat of this user has."""
    return tuple(server.id for server in servers if server.is_forced and server.is_for(user))


def used_by(chat: Chat, servers: Mapping[UUID, Server]) -> Sequence[Server]:
    """Those that the chat's next step may use, by slug.

    What was chosen for a chat stays chosen, whoever may choose it now. A chat that explores has
    what its parent had when it was spawned, and nothing that was forced upon chats since.
    """
    kind = kind_of(chat)
    if kind is Kind.CHILD_PLAN or (kind is Kind.EXPLORE and chat.is_root):
        return ()
    wanted = set(chat.mcp_server_ids)
    if kind is not Kind.EXPLORE:
        wanted |= set(forced_on(servers.values(), chat.owner_id))
    found = [servers[id] for id in wanted if id in servers and servers[id].config.enabled]
    if kind is Kind.ROOT_PLAN:
        found = [server for server in found if server.config.allow_in_plan_mode]
    return sorted(found, key=lambda server: server.config.slug)
