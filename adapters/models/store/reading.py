"""All that the catalogue knows, in one trip and one snapshot; and what is a user's."""

from collections.abc import Sequence
from uuid import UUID

from actors.law.ids import ModelConfigId, UserId
from adapters.models.store.stored import (
    StoredCatalogue,
    StoredModel,
    StoredOwn,
    provider_of,
    settings_of,
)
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL


class CatalogueReading:
    """Reads; who keeps what was read is asked first."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def everything(self) -> StoredCatalogue:
        async with self._pool.connection() as connection:
            providers, models, known, settings = await connection.read(
                [
                    (SQL["catalogue_providers"], ()),
                    (SQL["catalogue_models"], ()),
                    (SQL["catalogue_known"], ()),
                    (SQL["catalogue_settings"], ()),
                ]
            )
        return StoredCatalogue(
            tuple(map(provider_of, providers)),
            tuple(StoredModel(*row) for row in models),
            dict(known),
            settings_of(settings),
        )

    async def own(self, user: UserId) -> StoredOwn:
        async with self._pool.connection() as connection:
            settings, keys = await connection.read(
                [(SQL["own_settings"], {"user": user}), (SQL["own_keys"], {"user": user})]
            )
        return StoredOwn(settings_of(settings), dict(keys))

    async def remember_offered(self, offered: Sequence[tuple[ModelConfigId, UUID, str]]) -> None:
        """Models of the environment: id, provider, label. The same again is nothing new."""
        ids, providers, labels = zip(*offered, strict=True) if offered else ((), (), ())
        arrays = {"ids": list(ids), "providers": list(providers), "labels": list(labels)}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["remember_offered"], arrays)
