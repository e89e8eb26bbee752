"""Who may read a family of chats besides its owner, on PostgreSQL."""

from collections.abc import Set
from dataclasses import dataclass
from uuid import UUID

from actors.law.ids import ChatId, UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


@dataclass(frozen=True, slots=True)
class Reader:
    id: UserId
    username: str
    name: str
    avatar_url: str


@dataclass(frozen=True, slots=True)
class Everyone:
    """The group that holds all users."""

    id: UUID
    members: int


class Readers:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, root: ChatId) -> tuple[list[Reader], Everyone | None]:
        """By name. None: it is not shared with everybody."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["readers"], {"chat": root})
        users = [Reader(*row[:-1]) for row in found if row[1] is not None]
        groups = [Everyone(row[0], row[-1]) for row in found if row[1] is None]
        return users, groups[0] if groups else None

    async def known(self, wanted: Set[UserId]) -> frozenset[UserId]:
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["known_users"], {"wanted": list(wanted)})
        return frozenset(id for (id,) in found)

    async def change(
        self,
        root: ChatId,
        *,
        added: tuple[Set[UserId], Set[UUID]],
        dropped: tuple[Set[UserId], Set[UUID]],
    ) -> None:
        """Users and groups, all or nothing. Whoever is there already stays as he is."""
        changes = ((SQL["drop_readers"], dropped), (SQL["add_readers"], added))
        writing = [
            (sql, {"chat": root, "users": list(users), "groups": list(groups)})
            for sql, (users, groups) in changes
        ]
        async with self._pool.connection() as connection:
            await connection.commit(writing)
