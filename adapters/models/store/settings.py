"""Settings of the deployment and of users, and skills of users, as they are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID, uuid4

import msgspec

from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.models.store.catalogue import StoredSkill
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json
from adapters.postgres.queries import SQL


class SettingStore:
    """The writer of settings: names and JSON, whose meaning is in `adapters.models.settings`."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def put(self, values: Mapping[str, object]) -> None:
        """Set all of these, or none."""
        async with self._pool.connection() as connection:
            await connection.commit(
                [
                    (SQL["put_setting"], {"name": name, "value": _json(value)})
                    for name, value in values.items()
                ]
            )
        self._tell(CatalogueChanged(None))

    async def put_own(self, user: UserId, name: str, value: object) -> None:
        putting = {"user": user, "name": name, "value": _json(value)}
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["put_own_setting"], putting)])
        self._tell(CatalogueChanged(user))

    async def drop_own(self, user: UserId, name: str) -> None:
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["drop_own_setting"], {"user": user, "name": name})])
        self._tell(CatalogueChanged(user))


def _json(value: object) -> Json:
    return Json(msgspec.json.encode(value))


SKILLS_MAX = 100  # skills of one user; one more is refused


@dataclass(frozen=True, slots=True)
class SkillTaken:
    """The name of a skill that the user has already."""

    name: str


@dataclass(frozen=True, slots=True)
class TooManySkills:
    """The limit to the number of a user's skills."""

    skills_max: int = SKILLS_MAX


class SkillStore:
    """The skills that users keep for their agents."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def of(self, user: UserId) -> tuple[StoredSkill, ...]:
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["skills"], {"user": user})
        return tuple(StoredSkill(*row) for row in rows)

    async def read(self, user: UserId, name: str) -> StoredSkill | None:
        async with self._pool.connection() as connection:
            rows = await connection.execute(SQL["skill"], {"user": user, "name": name})
        return StoredSkill(*rows[0]) if rows else None

    async def add(
        self, user: UserId, name: str, *, description: str, content: str
    ) -> StoredSkill | SkillTaken | TooManySkills:
        id: UUID = uuid4()
        columns = {
            "id": id,
            "user": user,
            "name": name,
            "description": description,
            "content": content,
            "most": SKILLS_MAX,
        }
        async with self._pool.connection() as connection:
            locking = (SQL["lock_skills"], {"user": user})
            _, [(is_taken, created_at, updated_at)] = await connection.commit(
                [locking, (SQL["add_skill"], columns)]
            )
        if created_at is None:
            return SkillTaken(name) if is_taken else TooManySkills()
        self._tell(CatalogueChanged(user))
        return StoredSkill(id, name, description, created_at, updated_at, content)

    async def change(
        self, user: UserId, name: str, *, description: str, content: str
    ) -> StoredSkill | None:
        """Rewrite a skill; None: there is none of this name."""
        columns = {"user": user, "name": name, "description": description, "content": content}
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([(SQL["change_skill"], columns)])
        if not rows:
            return None
        self._tell(CatalogueChanged(user))
        return StoredSkill(*rows[0])

    async def remove(self, user: UserId, name: str) -> bool:
        """Remove a skill; return whether there was one."""
        async with self._pool.connection() as connection:
            [rows] = await connection.commit([(SQL["remove_skill"], {"user": user, "name": name})])
        if rows:
            self._tell(CatalogueChanged(user))
        return bool(rows)
