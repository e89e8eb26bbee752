"""Models, as they are written. There is one default at most, and one wherever there is a model,
unless the environment offers one: `offers` says so."""

from collections.abc import Callable
from uuid import UUID

from actors.law.ids import ModelConfigId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.models.store.stored import StoredModel
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Statement
from adapters.postgres.queries import SQL

Revise = Callable[[StoredModel], tuple[StoredModel, bool | None]]

_LOCK: Statement = (SQL["lock_default_model"], ())


class ModelConfigs:
    def __init__(self, pool: Pool, *, tell: Tell, offers: bool) -> None:
        self._pool = pool
        self._tell = tell
        self._offers = offers

    async def add(self, model: StoredModel) -> None:
        """The first one is the default, whatever it says."""
        async with self._pool.connection() as connection:
            await connection.commit(
                [
                    _LOCK,
                    (SQL["add_model"], _columns(model)),
                    *self._default(model.id, model.is_default),
                ]
            )
        self._tell(CatalogueChanged(None))

    async def change(self, id: ModelConfigId, revise: Revise) -> bool:
        """Whether it is there. `revise` is given what is stored and says what is to be, and whether
        it is to be the default (None: that stays); what it raises changes nothing."""
        async with self._pool.connection() as connection, connection.transaction() as tx:
            _, found = await tx.run([_LOCK, (SQL["model_config"], {"id": id})])
            if not found:
                return False
            model, default = revise(StoredModel(*found[0]))
            marks = [] if default is None else self._default(id, default)
            await tx.commit([(SQL["change_model"], _columns(model)), *marks])
        self._tell(CatalogueChanged(None))
        return True

    async def remove(self, id: ModelConfigId) -> bool:
        """Whether it was there."""
        removing = (SQL["remove_model"], {"id": id})
        async with self._pool.connection() as connection:
            _, removed, *_ = await connection.commit([_LOCK, removing, *self._promotion(id)])
        if removed:
            self._tell(CatalogueChanged(None))
        return bool(removed)

    def _default(self, id: ModelConfigId, wanted: bool) -> list[Statement]:
        if wanted:
            return [_unset(None), (SQL["set_default_model"], {"id": id})]
        return [_unset(id), *self._promotion(id)]

    def _promotion(self, unset: UUID) -> list[Statement]:
        return [] if self._offers else [(SQL["promote_model"], {"unset": unset})]


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
