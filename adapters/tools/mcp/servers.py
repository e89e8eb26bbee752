"""A server of tools as it is set up, and whose chats use it. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from msgspec import Struct

from actors.law.chat import Chat
from actors.law.ids import UserId
from actors.tools.gating import ChatKind, kind_of
from adapters.tools.mcp.store import StoredServer, StoredToken

RENEW_SECONDS = 10.0  # before it runs out
SAID_CHARACTERS_MAX = 400  # of why it was refused; what is longer is cut
LIFE_SECONDS_MAX = 10 * 365 * 86_400.0  # who says more means it for ever
PERMANENT = ("invalid_grant", "bad_refresh_token")  # asking again would not help
WORKSPACE_HEADER = "X-Promptcorner-Workspace-Id"
TRANSPORTS = ("streamable_http", "sse")
AUTH_TYPES = ("none", "oauth2", "api_key", "custom_headers", "user_oidc")
AVAILABILITIES = ("force_on", "default_on", "default_off")


class OAuthToken(Struct, frozen=True, kw_only=True):
    """A user's token at a server; stored as JSON that is sealed."""

    access_token: str
    refresh_token: str = ""
    token_type: str = "Bearer"
    scopes: str = ""  # that the user was asked for
    wanted: str = ""  # that the server misses in it; the user has to log in again for them

    def __repr__(self) -> str:
        return "Token()"

    @property
    def scheme(self) -> str:
        return "Bearer" if self.token_type.lower() in ("", "bearer") else self.token_type


@dataclass(frozen=True, slots=True)
class TokenGranted:
    """A token that an authorization server has given."""

    token: OAuthToken
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class TokenDenied:
    """A refusal. `why` is shown to those who may see it, and never has a token in it."""

    why: str
    is_permanent: bool = False


def read_token_answer(
    status: int, document: Any, *, now: datetime, former: OAuthToken | None = None
) -> TokenGranted | TokenDenied:
    """Return the meaning of a token endpoint's answer. A refresh token that is not given anew
    stays."""
    said: Mapping[str, Any] = document if isinstance(document, dict) else {}
    if status != 200 or "error" in said:
        return _denied(status, said)
    access, kind = said.get("access_token"), said.get("token_type", "Bearer")
    if not isinstance(access, str) or not access or not isinstance(kind, str):
        return TokenDenied(f"the authorization server answered {status} without an access token")
    refresh = said.get("refresh_token") or (former.refresh_token if former else "")
    token = OAuthToken(
        access_token=access,
        refresh_token=str(refresh),
        token_type=kind,
        scopes=former.scopes if former else "",
        wanted=former.wanted if former else "",
    )
    return TokenGranted(token, _expiry(said.get("expires_in"), now))


def is_expiring(stored: StoredToken, now: datetime) -> bool:
    expires_at = stored.expires_at
    return expires_at is not None and expires_at - now < timedelta(seconds=RENEW_SECONDS)


def is_connected(stored: StoredToken, token: OAuthToken | None, now: datetime) -> bool:
    """Return whether the token's user need not log in there again."""
    if token is None or not token.access_token or token.wanted or stored.failure:
        return False
    return bool(token.refresh_token) or not is_expiring(stored, now)


def _denied(status: int, said: Mapping[str, Any]) -> TokenDenied:
    code, described = said.get("error"), said.get("error_description")
    words = [word for word in (code, described) if isinstance(word, str) and word]
    why = ": ".join(words) or f"the authorization server answered {status}"
    return TokenDenied(why[:SAID_CHARACTERS_MAX], is_permanent=code in PERMANENT)


def _expiry(seconds: Any, now: datetime) -> datetime | None:
    try:
        life = float(seconds)
    except (TypeError, ValueError, OverflowError):  # the last of hundreds of digits
        return None
    if not 0 < life < LIFE_SECONDS_MAX:
        return None
    return now + timedelta(seconds=life)


class ServerConfig(Struct, frozen=True, kw_only=True):
    """The settings of a server that may be shown to administrators; stored as JSON."""

    display_name: str
    slug: str
    description: str = ""
    icon_url: str = ""
    transport: str = "streamable_http"
    url: str
    auth_type: str = "none"
    oauth2_client_id: str = ""
    oauth2_registered: bool = False  # the authorization server has given this client id
    oauth2_auth_url: str = ""
    oauth2_token_url: str = ""
    oauth2_revocation_url: str = ""
    oauth2_scopes: str = ""  # with blanks between
    oauth2_auth_method: str = ""  # at the token endpoint; empty: not known
    oauth2_issuer: str = ""  # of the endpoints that were discovered; empty: it is not known
    oauth2_iss_promised: bool = False  # it says with each code that the code is its own
    oauth2_resource: str = ""  # the server's name for itself; empty: it has none but its address
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
    def resource(self) -> str:
        """Return for whom a token is to be, as the authorization server knows it."""
        return self.oauth2_resource or self.url

    @property
    def bare_url(self) -> str:
        """Return the address without what may be a secret in it, for logs."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path, "", ""))


class ServerSecrets(Struct, frozen=True, kw_only=True):
    """The settings of a server that are never shown; stored sealed."""

    oauth2_client_secret: str = ""
    api_key_value: str = ""
    custom_headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return "Secrets()"


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server that is set up: its row, opened."""

    stored: StoredServer
    config: ServerConfig
    secrets: ServerSecrets = field(repr=False)
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
        """Return whether this user's chats may be told to use it."""
        return self.config.enabled and (self.stored.everybody or user in self.stored.users)

    @property
    def is_forced(self) -> bool:
        return self.config.enabled and self.config.availability == "force_on"


def server_purpose(id: UUID) -> str:
    """Return what a server's secrets are sealed for."""
    return f"MCP server {id}"


def token_purpose(user: UserId, server: UUID) -> str:
    return f"token of user {user} for MCP server {server}"


def forced_on(servers: Iterable[McpServer], user: UserId) -> tuple[UUID, ...]:
    """Return the servers that every chat of this user has."""
    return tuple(server.id for server in servers if server.is_forced and server.is_for(user))


def used_by(chat: Chat, servers: Mapping[UUID, McpServer]) -> Sequence[McpServer]:
    """Return the servers that the chat's next step may use, by slug.

    What was chosen for a chat stays chosen, even if it could not be chosen now. A chat that
    explores has what its parent had when it was spawned, and nothing that was forced upon chats
    since.
    """
    kind = kind_of(chat)
    if kind is ChatKind.CHILD_PLAN or (kind is ChatKind.EXPLORE and chat.is_root):
        return ()
    wanted = set(chat.mcp_server_ids)
    if kind is not ChatKind.EXPLORE:
        wanted |= set(forced_on(servers.values(), chat.owner_id))
    found = [servers[id] for id in wanted if id in servers and servers[id].config.enabled]
    if kind is ChatKind.ROOT_PLAN:
        found = [server for server in found if server.config.allow_in_plan_mode]
    return sorted(found, key=lambda server: server.config.slug)


def headers_for(server: McpServer, chat: Chat, token: OAuthToken | None) -> Mapping[str, str]:
    """Return the headers for a request of this chat. Those that show who we are come first, and
    nothing takes their place."""
    headers = dict(credentials(server, token))
    taken = {name.lower() for name in headers}
    if server.config.forward_coder_headers:
        headers |= {k: v for k, v in _identity(chat).items() if k.lower() not in taken}
    return headers


def credentials(server: McpServer, token: OAuthToken | None) -> Mapping[str, str]:
    config, secrets = server.config, server.secrets
    match config.auth_type:
        case "api_key" if config.api_key_header and secrets.api_key_value:
            return {config.api_key_header: secrets.api_key_value}
        case "custom_headers":
            return secrets.custom_headers
        case "oauth2" if token is not None and token.access_token:
            return {"Authorization": f"{token.scheme} {token.access_token}"}
        case _:
            return {}


def _identity(chat: Chat) -> Mapping[str, str]:
    headers = {
        "X-Promptcorner-Owner-Id": str(chat.owner_id),
        "X-Promptcorner-Chat-Id": str(chat.root),
    }
    if not chat.is_root:
        headers["X-Promptcorner-Subchat-Id"] = str(chat.id)
    if chat.workspace_id is not None:
        headers[WORKSPACE_HEADER] = str(chat.workspace_id)
    return headers
