"""The servers of tools that are set up, and the tokens of users, kept in memory by each process and
renewed in time.

What has changed is forgotten as soon as this process hears of it, and after a while in any case.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum, auto
from uuid import UUID

import msgspec
import trio
from msgspec import structs

from actors.law.chat import Chat
from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, HintsLost, News
from actors.law.store.ports import Bus
from adapters.settings.caching import Cache, CacheStatistics
from adapters.settings.secrets import CannotOpen, Vault
from adapters.tools.mcp.oauth.challenges import are_within, joined
from adapters.tools.mcp.oauth.token_endpoint import ANSWER_SECONDS, OAuthClients, renew_token
from adapters.tools.mcp.servers import (
    McpServer,
    OAuthToken,
    ServerConfig,
    ServerSecrets,
    TokenDenied,
    is_connected,
    is_expiring,
    server_purpose,
    token_purpose,
    used_by,
)
from adapters.tools.mcp.store import ServerStore, StoredServer, StoredToken
from runtime.clock import wall
from runtime.log import emit

KEEP_SECONDS = 10.0  # should news of a change have got lost unnoticed
KEEP_TOKENS_SECONDS = 60.0  # likewise
USERS_MAX = 16_384  # of whom tokens are kept; the one not asked about for longest is forgotten
_ALL = "all"

# For a renewal that has begun, and for what came of it to be kept; then the old one is shown.
RENEWAL_SECONDS = 2 * ANSWER_SECONDS + 5.0
REFUSED = "the server does not take the token that it was given"


@dataclass(frozen=True, slots=True)
class HeldToken:
    """A user's token as it is stored and opened; `token` is None if it cannot be opened."""

    stored: StoredToken
    token: OAuthToken | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class ServerRegistryStatistics:
    servers: CacheStatistics
    tokens: CacheStatistics


class ServerRegistry:
    """The servers and tokens that this process knows. It follows the bus as long as it is used."""

    def __init__(self, stored: ServerStore, vault: Vault) -> None:
        self._stored = stored
        self._vault = vault
        self._all: Cache[str, Mapping[UUID, McpServer]] = Cache(
            self._read, keep_seconds=KEEP_SECONDS, max_entries=1
        )
        self._tokens: Cache[UserId, Mapping[UUID, HeldToken]] = Cache(
            self._read_tokens, keep_seconds=KEEP_TOKENS_SECONDS, max_entries=USERS_MAX
        )

    @contextmanager
    def follow(self, bus: Bus) -> Iterator[None]:
        with bus.follow(self.hear, CatalogueChanged):
            yield

    def hear(self, news: News) -> None:
        match news:
            case CatalogueChanged(user=None):
                self._all.drop(_ALL)
                self._tokens.drop_all()
            case CatalogueChanged(user=UUID() as user):
                self._tokens.drop(UserId(user))
            case HintsLost():
                self._all.drop(_ALL)
                self._tokens.drop_all()
            case _:
                pass

    def statistics(self) -> ServerRegistryStatistics:
        return ServerRegistryStatistics(self._all.statistics(), self._tokens.statistics())

    async def servers(self) -> Mapping[UUID, McpServer]:
        return await self._all.get(_ALL)

    async def usable(self, chat: Chat) -> tuple[UUID, ...]:
        """Return the servers that the chat's next step may use."""
        return tuple(server.id for server in used_by(chat, await self.servers()))

    async def tokens(self, user: UserId) -> Mapping[UUID, HeldToken]:
        return await self._tokens.get(user)

    def forget_tokens(self, user: UserId) -> None:
        self._tokens.drop(user)

    async def is_connected(self, server: McpServer, user: UserId) -> bool:
        """Return whether the user need not do anything before their chats can use the server."""
        if server.config.auth_type != "oauth2":
            return True
        held = (await self.tokens(user)).get(server.id)
        return held is not None and is_connected(held.stored, held.token, wall())

    async def _read(self, _: str) -> Mapping[UUID, McpServer]:
        return {row.id: self._opened(row) for row in await self._stored.all()}

    def _opened(self, row: StoredServer) -> McpServer:
        config = msgspec.json.decode(row.config, type=ServerConfig)
        try:
            sealed = self._vault.open(row.sealed, server_purpose(row.id))
        except CannotOpen as closed:
            emit("mcp.locked", "error", server=row.slug, error=str(closed))
            return McpServer(row, config, ServerSecrets(), str(closed))
        return McpServer(row, config, msgspec.json.decode(sealed, type=ServerSecrets))

    async def _read_tokens(self, user: UserId) -> Mapping[UUID, HeldToken]:
        stored = await self._stored.tokens(user)
        return {id: HeldToken(row, self._token(user, id, row)) for id, row in stored.items()}

    def _token(self, user: UserId, server: UUID, row: StoredToken) -> OAuthToken | None:
        try:
            opened = self._vault.open(row.sealed, token_purpose(user, server))
        except CannotOpen as closed:
            emit("mcp.locked", "warning", server=str(server), error=str(closed))
            return None
        return msgspec.json.decode(opened, type=OAuthToken)


async def unknown_to(registry: ServerRegistry, user: UserId, wanted: Sequence[UUID]) -> list[UUID]:
    """Return those of these servers that this user's chats cannot be told to use."""
    servers = await registry.servers()
    return [id for id in wanted if id not in servers or not servers[id].is_for(user)]


class ScopeAnswer(Enum):
    """The outcome where a server wants more of a token than it allows."""

    ASKED = auto()  # the user has to log in again
    ANOTHER_TOKEN = auto()  # there is another token by now
    REFUSED = auto()  # to log in again would not help


@dataclass(frozen=True, slots=True)
class TokenRenewal:
    """Gives users' tokens, and renews those that expire soon or that a server has refused."""

    registry: ServerRegistry
    store: ServerStore
    vault: Vault
    clients: OAuthClients
    nursery: trio.Nursery
    _under_way: dict[tuple[UserId, UUID], trio.Event] = field(default_factory=dict)

    async def token(self, server: McpServer, user: UserId) -> OAuthToken | None:
        """Return the token to show to the server, or None if none is shown."""
        held = (await self.registry.tokens(user)).get(server.id)
        if held is None or held.stored.failure or held.token is None:
            return None
        if not is_expiring(held.stored, wall()):
            return held.token
        if held.token.refresh_token:
            await self._renewed(server, user, held)
            held = (await self.registry.tokens(user)).get(server.id)
        if held is None or held.stored.failure:
            return None
        if is_expiring(held.stored, wall()):
            emit("mcp.token_old", "warning", server=server.config.slug, user=str(user))
        return held.token

    async def replace_refused(
        self, server: McpServer, user: UserId, *, refused: str, is_new: bool
    ) -> bool:
        """Try to get another token in place of the one that the server has just refused. Return
        whether there is one.

        If the refused token was new, or cannot be renewed, its user has to log in there again: that
        is stored with the token, and shown to the user."""
        held = (await self.registry.tokens(user)).get(server.id)
        if held is None or held.token is None or held.stored.failure:
            return False
        if held.token.access_token != refused:
            return True
        if held.token.refresh_token and not is_new:
            await self._renewed(server, user, held)
            found = await self.token(server, user)
            return found is not None and found.access_token != refused
        await self.store.fail_token(user, server.id, seen=held.stored, failure=REFUSED)
        self.registry.forget_tokens(user)
        return False

    async def ask_for_scopes(
        self, server: McpServer, user: UserId, *, shown: str, wanted: str
    ) -> ScopeAnswer:
        """Have the user asked to log in again, because the server wants more of the token that it
        was shown. They are asked for each scope once: if a server is not content with what it has
        asked for, nothing that the user does would help."""
        held = (await self.registry.tokens(user)).get(server.id)
        if held is None or held.token is None or held.stored.failure:
            return ScopeAnswer.REFUSED
        if held.token.access_token != shown:
            return ScopeAnswer.ANOTHER_TOKEN
        if are_within(wanted, held.token.wanted):
            return ScopeAnswer.ASKED
        wider = joined(held.token.wanted, wanted)
        if are_within(wanted, held.token.scopes) or not wider:
            return ScopeAnswer.REFUSED
        noted = structs.replace(held.token, wanted=wider)
        sealed = self._sealed(noted, user, server)
        is_noted = await self.store.note_scopes(user, server.id, seen=held.stored, sealed=sealed)
        self.registry.forget_tokens(user)
        return ScopeAnswer.ASKED if is_noted else ScopeAnswer.ANOTHER_TOKEN

    async def _renewed(self, server: McpServer, user: UserId, held: HeldToken) -> None:
        key = user, server.id
        done = self._under_way.get(key)
        if done is None:
            done = self._under_way[key] = trio.Event()
            self.nursery.start_soon(self._renew, server, user, held)
        await done.wait()

    async def _renew(self, server: McpServer, user: UserId, held: HeldToken) -> None:
        assert held.token is not None, "only a token that was opened is renewed"
        try:
            with trio.fail_after(RENEWAL_SECONDS, shield=True):
                await self._ask_and_keep(server, user, held, held.token)
        except Exception as error:  # noqa: BLE001  the old one is shown, for what it is worth
            emit("mcp.token_kept", "warning", server=server.config.slug, error=error)
        finally:
            self.registry.forget_tokens(user)
            self._under_way.pop((user, server.id)).set()

    async def _ask_and_keep(
        self, server: McpServer, user: UserId, held: HeldToken, token: OAuthToken
    ) -> None:
        got = await renew_token(self.clients, server, token)
        if isinstance(got, TokenDenied):
            emit("mcp.token_kept", "warning", server=server.config.slug, error=got.why)
            if got.is_permanent:
                await self.store.fail_token(user, server.id, seen=held.stored, failure=got.why)
            return
        sealed = self._sealed(got.token, user, server)
        await self.store.renew_token(
            user, server.id, seen=held.stored, sealed=sealed, expires_at=got.expires_at
        )

    def _sealed(self, token: OAuthToken, user: UserId, server: McpServer) -> bytes:
        text = msgspec.json.encode(token).decode()
        return self.vault.seal(text, token_purpose(user, server.id))
