"""Models, as they are written. There is one default at most, and one wherever there is a model,
unless the environment offers one: `offers` says so."""

from uuid import UUID

from actors.ids import ModelConfigId
from actors.store.hints import CatalogueChanged
from actors.store.outbox import Tell
from adapters.postgres.catalogue.stored import StoredModel
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Statement
from adapters.postgres.queries import SQL

_LOCK: Statement = (SQL["lock_default_model"], ())


class ModelConfigs:
    def __init__(self, pool: Pool, *, tell: Tell, offers: bool) -> None:
        self._pool = pool
        self._tell = tell
        self._offers = offers

    async def add(self, model: StoredModel) -> None:
        """The first one is the default, whatever it says."""
        default = self._default(model.id, model.is_default)
        await self._write([(SQL["add_model"], _columns(model)), *default])

    async def change(self, model: StoredModel, *, default: bool | None) -> bool:
        """Whether it is there. `default` None: that stays as it is."""
        marks = [] if default is None else self._default(model.id, default)
        return await self._write([(SQL["change_model"], _columns(model)), *marks])

    async def remove(self, id: ModelConfigId) -> bool:
        """Whether it was there."""
        return await self._write([(SQL["remove_model"], {"id": id}), *self._promotion(id)])

    def _default(self, id: ModelConfigId, wanted: bool) -> list[Statement]:
        if wanted:
            return [_unset(None), (SQL["set_default_model"], {"id": id})]
        return [_unset(id), *self._promotion(id)]

    def _promotion(self, unset: UUID) -> list[Statement]:
        return [] if self._offers else [(SQL["promote_model"], {"unset": unset})]

    async def _write(self, statements: list[Statement]) -> bool:
        """Under the lock; whether the first of them found its row."""
        async with self._pool.connection() as connection, connection.transaction() as tx:
            _, found, *_ = await tx.run([_LOCK, statements[0]])
            is_insert = statements[0][0] is SQL["add_model"]
            if not (found or is_insert):
                return False
            await tx.commit(statements[1:])
        self._tell(CatalogueChanged(None))
        return True


def _unset(id: ModelConfigId | None) -> Statement:
    return SQL["unset_default_model"], {"id": id}


def _columns(model: StoredModel) -> dict[str, object]:
    return {
        "id": model.id,
        "provider_id": model.provider_id,
        "model": model.model,
        "display_name": model.display_name,
        "enabled": model.enabled,
        "context_limit": model.context_limit,
        "compression_threshold": model.compression_threshold,
        "call": Json(model.call),
    }
