"""Users on PostgreSQL: who they are, and what admins and they themselves make of it.

What may not become of a user is an ordinary answer (`Not`). Somebody always looks after the
deployment: the last admin can neither be removed nor suspended nor made less, not even if two do so
to each other at the same moment.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from uuid import uuid4

from psycopg.errors import UniqueViolation

from actors.law.ids import UserId
from adapters.people.store.user import Standing, User, user_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row, Statement
from adapters.postgres.queries import SQL

USERS_MAX = 1_000  # in one page


class Not(Enum):
    """Why something was not done."""

    FOUND = "there is no such user"
    TAKEN = "somebody else has this name or address"
    LAST_ADMIN = "the last admin stays one"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which users to list. A bound of 0 is the largest."""

    words: Sequence[str] = ()
    status: Standing | None = None
    role: str | None = None
    limit: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    users: Sequence[User]
    count: int  # in all


class Users:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_ids(self, ids: Sequence[UserId]) -> dict[UserId, User]:
        """Those that there are or have been."""
        rows = await self._read((SQL["users_of_ids"], {"ids": list(ids)}))
        return {user.id: user for user in map(user_of, rows)}

    async def called(self, name: str) -> User | None:
        return _user(await self._read((SQL["user_of_name"], {"name": name})))

    async def to_log_in(self, name: str) -> tuple[User, str | None] | None:
        """By name or address: the user, and what his password was made into."""
        rows = await self._read((SQL["user_to_log_in"], {"name": name}))
        return (user_of(rows[0][1:]), rows[0][0]) if rows else None

    async def password_of(self, user: UserId) -> str | None:
        rows = await self._read((SQL["password_of"], {"id": user}))
        return rows[0][0] if rows else None

    async def page(self, wanted: Wanted) -> Page:
        words = [word.lower() for word in wanted.words]
        which = {"words": words, "status": wanted.status, "role": wanted.role}
        limit = min(wanted.limit or USERS_MAX, USERS_MAX)
        bounds = {"limit": limit, "offset": wanted.offset}
        rows = await self._read((SQL["users_page"], which | bounds))
        if not rows and wanted.offset > 0:
            [(count,)] = await self._read((SQL["count_users"], which))
            return Page((), count)
        return Page([user_of(row[1:]) for row in rows], rows[0][0] if rows else 0)

    async def add(
        self,
        username: str,
        *,
        name: str = "",
        email: str = "",
        roles: Sequence[str] = (),
        password_hash: str | None = None,
    ) -> User | Not:
        new = {
            "id": uuid4(),
            "username": username,
            "name": name,
            "email": email,
            "roles": list(roles),
            "password_hash": password_hash,
        }
        return await self._named((SQL["add_user"], new))

    async def set_profile(
        self, user: UserId, *, username: str, name: str, avatar_url: str
    ) -> User | Not:
        called = {"id": user, "username": username, "name": name, "avatar_url": avatar_url}
        return await self._named((SQL["set_profile"], called))

    async def set_password(self, user: UserId, password_hash: str, *, but: str) -> None:
        """All sessions of the user end, but the one whose token this is."""
        setting = {"id": user, "password_hash": password_hash, "but": but}
        await self._write((SQL["set_password"], setting))

    async def renew_hash(self, user: UserId, *, was: str, now: str) -> None:
        await self._write(
            (SQL["renew_password_hash"], {"id": user, "was": was, "password_hash": now})
        )

    async def set_roles(self, user: UserId, roles: Sequence[str]) -> User | Not:
        return await self._under_lock(SQL["set_roles"], {"id": user, "roles": list(roles)})

    async def set_standing(self, user: UserId, status: Standing) -> User | Not:
        return await self._under_lock(SQL["set_standing"], {"id": user, "status": status})

    async def delete(self, user: UserId) -> User | Not:
        return await self._under_lock(SQL["delete_user"], {"id": user})

    async def _read(self, statement: Statement) -> list[Row]:
        async with self._pool.connection() as connection:
            return await connection.execute(*statement)

    async def _write(self, *statements: Statement) -> list[list[Row]]:
        async with self._pool.connection() as connection:
            return await connection.commit(statements)

    async def _named(self, statement: Statement) -> User | Not:
        try:
            [rows] = await self._write(statement)
        except UniqueViolation:
            return Not.TAKEN
        return _user(rows) or Not.FOUND

    async def _under_lock(self, sql: str, change: dict[str, object]) -> User | Not:
        """Each statement sees what those before it waited for."""
        lock = (SQL["lock_deployment"], ())
        look = (SQL["users_of_ids"], {"ids": [change["id"]]})
        _, changed, found = await self._write(lock, (sql, change), look)
        if changed:
            return user_of(changed[0])
        user = _user(found)
        return Not.FOUND if user is None or user.is_deleted else Not.LAST_ADMIN


def _user(rows: Sequence[Row]) -> User | None:
    return user_of(rows[0]) if rows else None
