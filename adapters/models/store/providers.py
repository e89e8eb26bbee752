"""Providers and keys, as they are written. What is sealed comes sealed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.models.store.stored import StoredProvider, provider_of
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Json, Statement
from adapters.postgres.queries import SQL


@dataclass(frozen=True, slots=True)
class NewKey:
    id: UUID
    sealed: bytes = field(repr=False)
    masked: str


@dataclass(frozen=True, slots=True)
class KeySet:
    """The keys that a provider is to have: of its own these, and new ones."""

    kept: Sequence[UUID] = ()
    new: Sequence[NewKey] = ()


@dataclass(frozen=True, slots=True)
class NameTaken:
    name: str


@dataclass(frozen=True, slots=True)
class NoSuchProvider:
    pass


Revise = Callable[[StoredProvider], tuple[StoredProvider, KeySet | None]]


class Providers:
    def __init__(self, pool: Pool, *, tell: Tell) -> None:
        self._pool = pool
        self._tell = tell

    async def add(self, provider: StoredProvider, keys: Sequence[NewKey]) -> NameTaken | None:
        columns = _columns(provider) | {"type": provider.type, "name": provider.name}
        async with self._pool.connection() as connection, connection.transaction() as tx:
            [added] = await tx.run([(SQL["add_provider"], columns)])
            if not added:
                return NameTaken(provider.name)
            await tx.commit([_add_keys(provider.id, keys)])
        self._tell(CatalogueChanged(None))
        return None

    async def change(self, id: UUID, revise: Revise) -> NoSuchProvider | None:
        """`revise` is given what is stored and says what is to be; what it raises changes nothing.
        Keys None: they stay as they are."""
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


def _add_keys(provider: UUID, keys: Sequence[NewKey]) -> Statement:
    return SQL["add_provider_keys"], {
        "id": provider,
        "ids": [key.id for key in keys],
        "sealed": [key.sealed for key in keys],
        "masked": [key.masked for key in keys],
    }
