"""Providers, their keys and their models, as they are written. Secrets come sealed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from actors.law.ids import ModelConfigId, UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.models.store.catalogue import StoredModel, StoredProvider, provider_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Statement
from adapters.postgres.queries import SQL


def key_subject(provider: UUID, key: UUID) -> str:
    """Return the subject that a provider's key is sealed for."""
    return f"provider/{provider} key/{key}"


def own_key_subject(user: UUID, provider: UUID) -> str:
    """Return the subject that a user's own key is sealed for."""
    return f"user/{user} provider/{provider} key"


def settings_subject(provider: UUID) -> str:
    """Return the subject that a provider's settings are sealed for."""
    return f"provider/{provider} settings"


@dataclass(frozen=True, slots=True)
class SealedKey:
    """A new key of a provider, sealed, with the part of it that is shown."""

    id: UUID
    sealed: bytes = field(repr=False)
    masked: str


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys that a provider is to have: `kept` ones of its own, and new ones."""

    kept: Sequence[UUID] = ()
    new: Sequence[SealedKey] = ()


@dataclass(frozen=True, slots=True)
class NameTaken:
    """The name of a provider that another one has."""

    name: str


@dataclass(frozen=True, slots=True)
class NoSuchProvider:
    """A provider that is not there."""

    pass


Revise = Callable[[StoredProvider], tuple[StoredProvider, KeySet | None]]


class ProviderStore:
    """The writer of providers and keys."""

    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def add(self, provider: StoredProvider, keys: Sequence[SealedKey]) -> NameTaken | None:
        columns = _columns(provider) | {"type": provider.type, "name": provider.name}
        async with self._pool.connection() as connection, connection.transaction() as tx:
            [added] = await tx.run([(SQL["add_provider"], columns)])
            if not added:
                return NameTaken(provider.name)
            await tx.commit([_add_keys(provider.id, keys)])
        self._tell(CatalogueChanged(None))
        return None

    async def change(self, id: UUID, revise: Revise) -> NoSuchProvider | None:
        """Change a provider as `revise` says.

        `revise` is given what is stored and returns what is to be stored, and the keys (None: they
        stay). If it raises, nothing is changed.
        """
        async with self._pool.connection() as connection, connection.transaction() as tx:
            which = {"id": id}
            _, found = await tx.run([(SQL["lock_provider"], which), (SQL["provider"], which)])
            if not found:
                return NoSuchProvider()
            provider, keys = revise(provider_of(found[0]))
            writes: list[Statement] = [(SQL["change_provider"], _columns(provider))]
            if keys is not None:
                kept = {"id": id, "kept": list(keys.kept)}
                writes += [(SQL["keep_provider_keys"], kept), _add_keys(id, keys.new)]
            await tx.commit(writes)
        self._tell(CatalogueChanged(None))
        return None

    async def remove(self, id: UUID) -> NoSuchProvider | None:
        async with self._pool.connection() as connection:
            [removed] = await connection.commit([(SQL["remove_provider"], {"id": id})])
        if not removed:
            return NoSuchProvider()
        self._tell(CatalogueChanged(None))
        return None

    async def bring_key(self, user: UserId, provider: UUID, sealed: bytes) -> None:
        brought = {"user": user, "provider": provider, "sealed": sealed}
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["bring_key"], brought)])
        self._tell(CatalogueChanged(user))

    async def take_key_back(self, user: UserId, provider: UUID) -> None:
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["take_key_back"], {"user": user, "provider": provider})])
        self._tell(CatalogueChanged(user))


def _columns(provider: StoredProvider) -> dict[str, object]:
    return {
        "id": provider.id,
        "display_name": provider.display_name,
        "icon": provider.icon,
        "enabled": provider.enabled,
        "base_url": provider.base_url,
        "settings": None if provider.settings is None else Json(provider.settings),
        "sealed_settings": provider.sealed_settings,
    }


def _add_keys(provider: UUID, keys: Sequence[SealedKey]) -> Statement:
    return SQL["add_provider_keys"], {
        "id": provider,
        "ids": [key.id for key in keys],
        "sealed": [key.sealed for key in keys],
        "masked": [key.masked for key in keys],
    }


ReviseModel = Callable[[StoredModel], tuple[StoredModel, bool | None]]

_LOCK: Statement = (SQL["lock_default_model"], ())


class ModelConfigStore:
    """The writer of models.

    There is one default at most, and always one if there is a model, unless the environment offers
    one (`offers_model`).
    """

    def __init__(self, pool: Pool, *, tell: Tell, offers_model: bool) -> None:
        self._pool = pool
        self._tell = tell
        self._offers_model = offers_model

    async def add(self, model: StoredModel) -> None:
        """Add a model; the first one becomes the default in any case."""
        async with self._pool.connection() as connection:
            await connection.commit(
                [
                    _LOCK,
                    (SQL["add_model"], _model_columns(model)),
                    *self._default(model.id, model.is_default),
                ]
            )
        self._tell(CatalogueChanged(None))

    async def change(self, id: ModelConfigId, revise: ReviseModel) -> bool:
        """Change a model as `revise` says; return whether it is there.

        `revise` is given what is stored and returns what is to be stored, and whether it is the
        default (None: that stays as it is). If it raises, nothing is changed.
        """
        async with self._pool.connection() as connection, connection.transaction() as tx:
            _, found = await tx.run([_LOCK, (SQL["model_config"], {"id": id})])
            if not found:
                return False
            model, default = revise(StoredModel(*found[0]))
            marks = [] if default is None else self._default(id, default)
            await tx.commit([(SQL["change_model"], _model_columns(model)), *marks])
        self._tell(CatalogueChanged(None))
        return True

    async def remove(self, id: ModelConfigId) -> bool:
        """Remove a model; return whether it was there."""
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
        return [] if self._offers_model else [(SQL["promote_model"], {"unset": unset})]


def _unset(id: ModelConfigId | None) -> Statement:
    return SQL["unset_default_model"], {"id": id}


def _model_columns(model: StoredModel) -> dict[str, object]:
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
