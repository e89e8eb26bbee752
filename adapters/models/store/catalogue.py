"""The stored catalogue as it is read: all of it at one moment, and the part that is a user's.

Secrets come sealed, and stay out of every repr.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from actors.law.ids import ModelConfigId, UserId
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class StoredKey:
    id: UUID
    sealed: bytes = field(repr=False)
    masked: str
    created_at: datetime


class BedrockSecrets(msgspec.Struct, frozen=True, omit_defaults=True):
    """The settings of a bedrock provider that are sealed."""

    access_key: str = ""
    access_key_secret: str = ""

    def __repr__(self) -> str:
        return "BedrockSecrets()"


@dataclass(frozen=True, slots=True)
class StoredProvider:
    """A provider as it is stored.

    `settings` is JSON without its secrets; of `keys` the first is the one in use.
    """

    id: UUID
    type: str
    name: str
    display_name: str
    icon: str
    enabled: bool
    base_url: str
    settings: bytes | None
    sealed_settings: bytes | None = field(repr=False)
    created_at: datetime
    updated_at: datetime
    keys: tuple[StoredKey, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model as it is stored; `call` is JSON."""

    id: ModelConfigId
    provider_id: UUID
    model: str
    display_name: str
    enabled: bool
    is_default: bool
    context_limit: int
    compression_threshold: int
    call: bytes
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredCatalogue:
    """The whole catalogue at one moment; `known` has the models that are gone, too."""

    providers: tuple[StoredProvider, ...] = ()
    models: tuple[StoredModel, ...] = ()
    known: Mapping[ModelConfigId, UUID] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredUserCatalogue:
    """The settings of a user, and their sealed keys by provider."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[UUID, bytes] = field(repr=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class StoredSkill:
    """A skill as it is stored; `content` is None in a list."""

    id: UUID
    name: str
    description: str
    created_at: datetime
    updated_at: datetime
    content: str | None = None


def provider_of(row: Row) -> StoredProvider:
    *columns, ids, sealed, masked, created_at = row
    keys = tuple(StoredKey(*key) for key in zip(ids, sealed, masked, created_at, strict=True))
    return StoredProvider(*(*columns, keys))


def settings_of(rows: Sequence[Row]) -> dict[str, Any]:
    return {name: msgspec.json.decode(value) for name, value in rows}


class CatalogueReader:
    """The reader of the catalogue; `Catalogue` keeps what was read."""

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

    async def own(self, user: UserId) -> StoredUserCatalogue:
        async with self._pool.connection() as connection:
            settings, keys = await connection.read(
                [(SQL["own_settings"], {"user": user}), (SQL["own_keys"], {"user": user})]
            )
        return StoredUserCatalogue(settings_of(settings), dict(keys))

    async def remember_offered(self, offered: Sequence[tuple[ModelConfigId, UUID, str]]) -> None:
        """Store models of the environment: their ids, providers and labels.

        Models that are stored already are left as they are.
        """
        ids, providers, labels = zip(*offered, strict=True) if offered else ((), (), ())
        arrays = {"ids": list(ids), "providers": list(providers), "labels": list(labels)}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["remember_offered"], arrays)
