"""Servers and tokens as they are stored, and as they are written. What is sealed comes sealed."""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.access.acl import EveryoneGroup, NamedReader
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Row, Statement
from adapters.postgres.queries import SQL

SERVERS_MAX = 200  # of a deployment; one more is refused


@dataclass(frozen=True, slots=True)
class StoredServer:
    """A server as it is stored. `config` is JSON without the secrets, and `sealed` holds these.

    `users` may use it; all users may if `everybody` is true.
    """

    id: UUID
    slug: str
    config: bytes
    sealed: bytes = field(repr=False)
    created_at: datetime
    updated_at: datetime
    users: frozenset[UserId] = frozenset()
    everybody: bool = False


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A user's token as it is stored; `failure` says why its user has to log in there again."""

    sealed: bytes = field(repr=False)
    expires_at: datetime | None
    failure: str
    updated_at: datetime


class ServerStore:
    """The rows of servers and tokens. Every change is told as `CatalogueChanged`, for those who
    keep what they have read."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def all(self) -> tuple[StoredServer, ...]:
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["mcp_servers"])
        return tuple(map(_server, rows))

    async def add(self, id: UUID, slug: str, *, config: bytes, sealed: bytes, group: UUID) -> bool:
        """Add a server for all users. Return False if the slug is taken, or there are SERVERS_MAX
        already."""
        columns = {"id": id, "slug": slug, "config": Json(config), "sealed": sealed}
        async with self._pool.connection() as connection:
            added, _ = await connection.commit(
                [
                    (SQL["add_mcp_server"], {**columns, "most": SERVERS_MAX}),
                    (SQL["share_mcp_server"], {"id": id, "group": group}),
                ]
            )
        if added:
            self._tell(CatalogueChanged(None))
        return bool(added)

    async def change(
        self,
        seen: StoredServer,
        *,
        slug: str,
        config: bytes,
        sealed: bytes,
        forget_tokens: bool,
    ) -> bool:
        """Change a server. Return False if it is not any more as it was `seen`, or another has this
        slug."""
        columns = {
            "id": seen.id,
            "seen": seen.updated_at,
            "slug": slug,
            "config": Json(config),
            "sealed": sealed,
            "forget_tokens": forget_tokens,
        }
        changed = await self._commit((SQL["change_mcp_server"], columns))
        if changed:
            self._changed_for_all()
        return bool(changed)

    async def is_taken(self, slug: str, id: UUID) -> bool:
        async with self._pool.connection() as connection:
            [(taken,)] = await connection.execute(
                SQL["mcp_slug_is_taken"], {"slug": slug, "id": id}
            )
        return bool(taken)

    async def remove(self, id: UUID) -> bool:
        """Remove a server. Return whether there was one."""
        removed = await self._commit((SQL["remove_mcp_server"], {"id": id}))
        self._changed_for_all()
        return bool(removed)

    # who may use it

    async def readers(self, id: UUID) -> tuple[list[NamedReader], EveryoneGroup | None]:
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["mcp_readers"], {"id": id})
        users = [NamedReader(*row[:-1]) for row in found if row[1] is not None]
        groups = [EveryoneGroup(row[0], row[-1]) for row in found if row[1] is None]
        return users, groups[0] if groups else None

    async def change_readers(
        self,
        id: UUID,
        *,
        added: tuple[Set[UserId], Set[UUID]],
        dropped: tuple[Set[UserId], Set[UUID]],
    ) -> None:
        changes = ((SQL["drop_mcp_readers"], dropped), (SQL["add_mcp_readers"], added))
        writing = [
            (sql, {"id": id, "users": list(users), "groups": list(groups)})
            for sql, (users, groups) in changes
        ]
        async with self._pool.connection() as connection:
            await connection.commit(writing)
        self._changed_for_all()

    # what users show there

    async def tokens(self, user: UserId) -> Mapping[UUID, StoredToken]:
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["mcp_tokens"], {"user": user})
        return {server: StoredToken(*columns) for server, *columns in rows}

    async def put_token(
        self, user: UserId, seen: StoredServer, *, sealed: bytes, expires_at: datetime | None
    ) -> bool:
        """Keep a user's token. Return False if the server is not any more as it was `seen`."""
        columns = {"user": user, "id": seen.id, "sealed": sealed, "expires_at": expires_at}
        return await self._write_token(user, "put", {**columns, "seen": seen.updated_at})

    async def renew_token(
        self,
        user: UserId,
        server: UUID,
        *,
        seen: StoredToken,
        sealed: bytes,
        expires_at: datetime | None,
    ) -> bool:
        """Put a new token in the place of the one that was `seen`. Return False if another process
        was faster."""
        columns = {"user": user, "id": server, "sealed": sealed, "expires_at": expires_at}
        return await self._write_token(user, "renew", {**columns, "seen": seen.updated_at})

    async def fail_token(
        self, user: UserId, server: UUID, *, seen: StoredToken, failure: str
    ) -> bool:
        """Note why a token is of no use any more, so that its user has to log in there again."""
        columns = {"user": user, "id": server, "failure": failure, "seen": seen.updated_at}
        return await self._write_token(user, "fail", columns)

    async def note_scopes(
        self, user: UserId, server: UUID, *, seen: StoredToken, sealed: bytes
    ) -> bool:
        """Keep the token that was `seen` with a note of what it lacks. Return False if it is not
        there any more."""
        columns = {"user": user, "id": server, "sealed": sealed, "seen": seen.updated_at}
        return await self._write_token(user, "note", columns)

    async def delete_token(self, user: UserId, server: UUID) -> bytes | None:
        """Forget a user's token. Return what it was, or None if there was none."""
        rows = await self._commit((SQL["delete_mcp_token"], {"user": user, "id": server}))
        self._tell(CatalogueChanged(user))
        return rows[0][0] if rows else None

    async def _write_token(self, user: UserId, how: str, columns: Mapping[str, object]) -> bool:
        statements = {
            "put": SQL["put_mcp_token"],
            "renew": SQL["renew_mcp_token"],
            "fail": SQL["fail_mcp_token"],
            "note": SQL["note_mcp_scopes"],
        }
        written = await self._commit((statements[how], columns))
        self._tell(CatalogueChanged(user))
        return bool(written)

    async def _commit(self, statement: Statement) -> list[Row]:
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([statement])
        return rows

    def _changed_for_all(self) -> None:
        self._tell(CatalogueChanged(None))


def _server(row: Row) -> StoredServer:
    id, slug, config, sealed, created_at, updated_at, users, everybody = row
    return StoredServer(
        id, slug, config, sealed, created_at, updated_at, frozenset(users), everybody
    )
