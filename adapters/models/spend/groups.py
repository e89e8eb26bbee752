"""Groups of users, which administrators make: the limit of a group holds for each of its members.

When users come or go, counters are added up anew before the next call, because what was spent under
no limit was not counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from actors.law.ids import UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Statement
from adapters.postgres.queries import SQL

GROUPS_MAX = 500  # of a deployment; one more is refused
MEMBERS_SHOWN_MAX = 1_000  # of one group, with their names


@dataclass(frozen=True, slots=True)
class Group:
    """A group. That of everyone has no list of its members."""

    id: UUID
    name: str
    display_name: str
    avatar_url: str
    members: tuple[UserId, ...]
    members_count: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class GroupUser:
    """A member as groups show them."""

    id: UserId
    username: str
    name: str
    email: str
    avatar_url: str
    status: str
    last_seen_at: datetime | None
    created_at: datetime
    updated_at: datetime


class GroupStore:
    """The groups on PostgreSQL."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def all(self, wanted: Sequence[UUID] | None = None) -> tuple[Group, ...]:
        """Return all groups, or those of `wanted`; that of everyone first."""
        asked = {"wanted": None if wanted is None else list(wanted)}
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["groups"], asked)
        return tuple(
            Group(id, name, shown, avatar, tuple(map(UserId, members)), count, made)
            for id, name, shown, avatar, members, count, made in rows
        )

    async def one(self, id: UUID) -> Group | None:
        return next(iter(await self.all([id])), None)

    async def users(self, group: UUID) -> tuple[GroupUser, ...]:
        asked = {"group": group, "most": MEMBERS_SHOWN_MAX}
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["group_users"], asked)
        return tuple(GroupUser(*row) for row in rows)

    async def has(self, group: UUID, user: UserId) -> bool:
        async with self._pool.connection() as connection:
            [(found,)] = await connection.execute(
                SQL["is_group_member"], {"group": group, "user": user}
            )
        return bool(found)

    async def add(self, name: str, display_name: str, avatar_url: str) -> UUID | None:
        """Add a group, and return its id; None if the name is taken or there are too many."""
        columns = {
            "id": uuid4(),
            "name": name,
            "display_name": display_name,
            "avatar_url": avatar_url,
            "most": GROUPS_MAX,
        }
        rows = await self._change([(SQL["add_group"], columns)])
        return rows[0][0] if rows else None

    async def change(
        self,
        group: Group,
        *,
        added: Sequence[UUID] = (),
        dropped: Sequence[UUID] = (),
    ) -> bool:
        """Write a group with its members; False if it is gone, or another has its name."""
        columns = {
            "id": group.id,
            "name": group.name,
            "display_name": group.display_name,
            "avatar_url": group.avatar_url,
        }
        rows = await self._change(
            [
                (SQL["change_group"], columns),
                (SQL["add_members"], {"id": group.id, "users": list(added)}),
                (SQL["drop_members"], {"id": group.id, "users": list(dropped)}),
            ]
        )
        return bool(rows)

    async def remove(self, id: UUID) -> bool:
        return bool(await self._change([(SQL["remove_group"], {"id": id})]))

    async def _change(self, statements: Sequence[Statement]) -> Sequence[Sequence[UUID]]:
        """Make a change of groups, and return the rows of its first statement."""
        behind = [(SQL["note_spend_limits"], ()), (SQL["stale_counters"], ())]
        async with self._pool.connection() as connection:
            _, rows, *_ = await connection.commit([(SQL["lock_groups"], ()), *statements, *behind])
        return rows
