"""All servers of tools that are set up, and the tokens of users, kept in memory by each process.

What has changed is forgotten as soon as this process hears of it, and after a while in any case.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

import msgspec

from actors.law.chat import Chat
from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, HintsLost, News
from actors.law.store.ports import Bus
from adapters.settings.caching import Cache, CacheStatistics
from adapters.settings.secrets import CannotOpen, Vault
from adapters.tools.mcp.servers import (
    Configured,
    Secrets,
    Server,
    Token,
    about_server,
    about_token,
    connects,
    used_by,
)
from adapters.tools.mcp.store import Servers, StoredServer, StoredToken
from runtime.clock import wall
from runtime.log import emit

KEEP_SECONDS = 10.0  # should news of a change have got lost unnoticed
KEEP_TOKENS_SECONDS = 60.0  # likewise
USERS_MAX = 16_384  # of whom tokens are kept; the one not asked about for longest is forgotten
_ALL = "all"


@dataclass(frozen=True, slots=True)
class HeldToken:
    """`token` is None if it cannot be opened."""

    stored: StoredToken
    token: Token | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class KnownStatistics:
    servers: CacheStatistics
    tokens: CacheStatistics


class Known:
    """It `follow`s the bus as long as it is used."""

    def __init__(self, stored: Servers, vault: Vault) -> None:
        self._stored = stored
        self._vault = vault
        self._all: Cache[str, Mapping[UUID, Server]] = Cache(
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

    def statistics(self) -> KnownStatistics:
        return KnownStatistics(self._all.statistics(), self._tokens.statistics())

    async def servers(self) -> Mapping[UUID, Server]:
        return await self._all.get(_ALL)

    async def usable(self, chat: Chat) -> tuple[UUID, ...]:
        """Those that the chat's next step may use."""
        return tuple(server.id for server in used_by(chat, await self.servers()))

    async def tokens(self, user: UserId) -> Mapping[UUID, HeldToken]:
        return await self._tokens.get(user)

    def forget_tokens(self, user: UserId) -> None:
        self._tokens.drop(user)

    async def is_connected(self, server: Server, user: UserId) -> bool:
        """Whether this user need not do anything for his chats to use it."""
        if server.config.auth_type != "oauth2":
            return True
        held = (await self.tokens(user)).get(server.id)
        return held is not None and connects(held.stored, held.token, wall())

    async def _read(self, _: str) -> Mapping[UUID, Server]:
        return {row.id: self._opened(row) for row in await self._stored.all()}

    def _opened(self, row: StoredServer) -> Server:
        config = msgspec.json.decode(row.config, type=Configured)
        try:
            sealed = self._vault.open(row.sealed, about_server(row.id))
        except CannotOpen as closed:
            emit("mcp.locked", "error", server=row.slug, error=str(closed))
            return Server(row, config, Secrets(), str(closed))
        return Server(row, config, msgspec.json.decode(sealed, type=Secrets))

    async def _read_tokens(self, user: UserId) -> Mapping[UUID, HeldToken]:
        stored = await self._stored.tokens(user)
        return {id: HeldToken(row, self._token(user, id, row)) for id, row in stored.items()}

    def _token(self, user: UserId, server: UUID, row: StoredToken) -> Token | None:
        try:
            opened = self._vault.open(row.sealed, about_token(user, server))
        except CannotOpen as closed:
            emit("mcp.locked", "warning", server=str(server), error=str(closed))
            return None
        return msgspec.json.decode(opened, type=Token)


async def unknown_to(known: Known, user: UserId, wanted: Sequence[UUID]) -> list[UUID]:
    """Which of these this user's chats cannot be told to use."""
    servers = await known.servers()
    return [id for id in wanted if id not in servers or not servers[id].is_for(user)]
