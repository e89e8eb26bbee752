"""Users on PostgreSQL: who they are, and what admins and they themselves change.

A change that is not allowed is an ordinary answer (`UserRefusal`). There is always an admin: the
last one can neither be removed nor suspended nor demoted, not even if two admins do so to each
other at the same moment.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, StrEnum
from uuid import uuid4

from psycopg.errors import UniqueViolation

from actors.law.ids import UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL, Record
from adapters.settings.caching import Cache, CacheStatistics

OWNER = "owner"  # the role of an admin; members have none
USERS_MAX = 1_000  # in one page

KEPT_SECONDS = 60.0  # that a former name is shown, where a hint got lost
KEPT_MAX = 10_000  # users; beyond it the oldest is read anew


class UserStatus(StrEnum):
    """The column `status`: whether a user is let in."""

    ACTIVE = "active"
    DORMANT = "dormant"  # never came so far, or not for long; the next time makes them active
    SUSPENDED = "suspended"  # is not let in, with none of their tokens


class User(Record, frozen=True):
    """A user as others see them. Their password is no part of it."""

    id: UserId
    username: str
    name: str
    email: str
    avatar_url: str
    roles: frozenset[str]
    status: UserStatus
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime | None
    is_deleted: bool

    @property
    def is_admin(self) -> bool:
        return OWNER in self.roles


class UserWithPassword(User, frozen=True):
    """A user, and what argon2 made of their password."""

    password_hash: str | None


class CountedUser(User, frozen=True):
    """A user in a page, and how many users match in all."""

    count: int


class UserRefusal(Enum):
    """Why a user was not changed."""

    NOT_FOUND = "there is no such user"
    TAKEN = "another user has this name or address"
    LAST_ADMIN = "the last admin stays one"


@dataclass(frozen=True, slots=True)
class UserFilter:
    """The users to list. A bound of 0 is the largest."""

    words: Sequence[str] = ()
    status: UserStatus | None = None
    role: str | None = None
    limit: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class UserPage:
    """A page of users."""

    users: Sequence[User]
    count: int  # in all


class Users:
    """Reads and changes users."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def by_ids(self, ids: Sequence[UserId]) -> dict[UserId, User]:
        """Return those of these users that exist or have existed."""
        rows = await self._read((SQL["users_of_ids"], {"ids": list(ids)}))
        return {user.id: user for user in map(User.of, rows)}

    async def by_name(self, name: str) -> User | None:
        """Return the user who has this name now."""
        return _first(await self._read((SQL["user_of_name"], {"name": name})))

    async def to_log_in(self, name: str) -> UserWithPassword | None:
        """Return the user with this name or address."""
        rows = await self._read((SQL["user_to_log_in"], {"name": name}))
        return UserWithPassword.of(rows[0]) if rows else None

    async def password_of(self, user: UserId) -> str | None:
        """Return the hash of a user's password, or None without one."""
        rows = await self._read((SQL["password_of"], {"id": user}))
        return rows[0][0] if rows else None

    async def page(self, wanted: UserFilter) -> UserPage:
        """Return a page of the users that match, in order of their names."""
        words = [word.lower() for word in wanted.words]
        which = {"words": words, "status": wanted.status, "role": wanted.role}
        limit = min(wanted.limit or USERS_MAX, USERS_MAX)
        bounds = {"limit": limit, "offset": wanted.offset}
        users = [
            CountedUser.of(row) for row in await self._read((SQL["users_page"], which | bounds))
        ]
        if not users and wanted.offset > 0:
            [(count,)] = await self._read((SQL["count_users"], which))
            return UserPage((), count)
        return UserPage(users, users[0].count if users else 0)

    async def add(
        self,
        username: str,
        *,
        name: str = "",
        email: str = "",
        roles: Sequence[str] = (),
        password_hash: str | None = None,
    ) -> User | UserRefusal:
        """Add a user, who is dormant until they come for the first time."""
        new = {
            "id": uuid4(),
            "username": username,
            "name": name,
            "email": email,
            "roles": list(roles),
            "password_hash": password_hash,
        }
        return await self._write_name((SQL["add_user"], new))

    async def set_profile(
        self, user: UserId, *, username: str, name: str, avatar_url: str
    ) -> User | UserRefusal:
        """Change what a user is called, and their picture."""
        profile = {"id": user, "username": username, "name": name, "avatar_url": avatar_url}
        return await self._write_name((SQL["set_profile"], profile))

    async def set_password(self, user: UserId, password_hash: str, *, keep_token: str) -> None:
        """Set a password. All sessions of the user end, except that of the token `keep_token`."""
        setting = {"id": user, "password_hash": password_hash, "but": keep_token}
        await self._write((SQL["set_password"], setting))

    async def renew_hash(self, user: UserId, *, was: str, now: str) -> None:
        """Store the same password at today's cost, unless it was changed meanwhile."""
        await self._write(
            (SQL["renew_password_hash"], {"id": user, "was": was, "password_hash": now})
        )

    async def set_roles(self, user: UserId, roles: Sequence[str]) -> User | UserRefusal:
        """Set the roles of a user."""
        return await self._under_lock(SQL["set_roles"], {"id": user, "roles": list(roles)})

    async def set_status(self, user: UserId, status: UserStatus) -> User | UserRefusal:
        """Set whether a user is let in."""
        return await self._under_lock(SQL["set_status"], {"id": user, "status": status})

    async def delete(self, user: UserId) -> User | UserRefusal:
        """Delete a user, with all that lets them in."""
        return await self._under_lock(SQL["delete_user"], {"id": user})

    async def _read(self, statement: Statement) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(*statement)

    async def _write(self, *statements: Statement) -> list[list[Row]]:
        async with self._pool.connection() as connection:
            return await connection.commit(statements)

    async def _write_name(self, statement: Statement) -> User | UserRefusal:
        try:
            [rows] = await self._write(statement)
        except UniqueViolation:
            return UserRefusal.TAKEN
        return _first(rows) or UserRefusal.NOT_FOUND

    async def _under_lock(self, sql: str, change: dict[str, object]) -> User | UserRefusal:
        """Change a user under the lock of the deployment.

        Each statement sees what those before it waited for.
        """
        lock = (SQL["lock_deployment"], ())
        look = (SQL["users_of_ids"], {"ids": [change["id"]]})
        _, changed, found = await self._write(lock, (sql, change), look)
        if changed:
            return User.of(changed[0])
        user = _first(found)
        return UserRefusal.NOT_FOUND if user is None or user.is_deleted else UserRefusal.LAST_ADMIN


def _first(rows: Sequence[Row]) -> User | None:
    return User.of(rows[0]) if rows else None


class CachedUsers:
    """Users as other answers name them (owners, readers): read once, kept for a short time."""

    def __init__(self, users: Users) -> None:
        self._users = users
        self._by_id: Cache[UserId, User] = Cache(
            self._read, keep_seconds=KEPT_SECONDS, max_entries=KEPT_MAX
        )
        self._by_name: Cache[str, User] = Cache(
            users.by_name, keep_seconds=KEPT_SECONDS, max_entries=KEPT_MAX
        )

    async def by_id(self, id: UserId) -> User | None:
        """Return a user, also a deleted one."""
        return await self._by_id.find(id)

    async def by_ids(self, ids: Collection[UserId]) -> dict[UserId, User]:
        """Return those of these users that exist or have existed. Those that are not kept are read
        in one statement."""
        found = {id: user for id in ids if (user := self._by_id.find_kept(id)) is not None}
        missing = [id for id in ids if id not in found]
        if missing:
            before = self._by_id.dropped_count
            read = await self._users.by_ids(missing)
            if self._by_id.dropped_count == before:
                for id, user in read.items():
                    self._by_id.put(id, user)
            found |= read
        return found

    async def by_name(self, name: str) -> User | None:
        """Return the user who has this name now."""
        return await self._by_name.find(name.lower())

    def forget(self, id: UserId) -> None:
        """Drop what is kept of a user, who has changed."""
        self._by_id.drop(id)
        self._by_name.drop_matching(lambda user: user.id == id)

    def forget_all(self) -> None:
        """Drop what is kept of all users."""
        self._by_id.drop_all()
        self._by_name.drop_all()

    def statistics(self) -> CacheStatistics:
        return self._by_id.statistics()

    async def _read(self, id: UserId) -> User | None:
        return (await self._users.by_ids([id])).get(id)
