"""What is set: for the deployment, and by users for themselves."""

from collections.abc import Mapping

import msgspec

from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json
from adapters.postgres.queries import SQL


class Settings:
    """Names and JSON: what they mean is for `adapters.models.settings` to say."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def put(self, values: Mapping[str, object]) -> None:
        """All of them, or none."""
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
