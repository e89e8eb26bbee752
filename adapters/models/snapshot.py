"""A snapshot of the catalogue: what is stored, what the environment offers, the rehearsal. Pure.

The default model is a stored one that is marked as such; else the first that the environment
offers; else the first stored one that is enabled; else the rehearsal, as long as no provider is set
up.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from uuid import UUID

from actors.law.ids import ModelConfigId
from actors.law.parts.vendors import VENDORS, Login, Vendor, vendor_of
from adapters.models.call_config import (
    CallConfig,
)
from adapters.models.provider_config import (
    ModelConfig,
    ProviderConfig,
    named_model,
    named_provider,
)
from adapters.models.providers.bedrock.aws import (
    DEFAULT_REGION,
    BearerToken,
)
from adapters.models.settings import DeploymentSettings
from adapters.models.store.catalogue import (
    StoredKey,
)

TYPES = tuple(sorted(vendor.type for vendor in VENDORS if vendor.wire is not None))
UNSUPPORTED_TYPES = tuple(vendor.type for vendor in VENDORS if vendor.wire is None)

CONTEXT_LIMIT_USUAL = 128_000  # shown for a model whose limit is not known
THRESHOLD_USUAL = 70

REHEARSAL = named_provider("rehearsal")
REHEARSAL_MODEL = named_model("rehearsal", "rehearsal")


class ModelSource(Enum):
    """The place where a provider or a model was set up."""

    DATABASE = "database"
    ENVIRONMENT = "environment"
    REHEARSAL = "rehearsal"


@dataclass(frozen=True, slots=True)
class ListedProvider:
    """A provider of the catalogue.

    `config` is how it is asked with the deployment's key, if there is one.
    """

    id: UUID
    type: str
    name: str
    display_name: str
    icon: str
    enabled: bool
    base_url: str
    source: ModelSource
    config: ProviderConfig
    created_at: datetime
    updated_at: datetime
    keys: tuple[StoredKey, ...] = ()
    settings: bytes | None = None
    sealed_settings: bytes | None = field(repr=False, default=None)
    variable: str = ""  # of the environment that sets it up; empty if it is stored
    fault: str = ""  # why its key or its settings cannot be used

    @property
    def vendor(self) -> Vendor:
        """Return the facts about its vendor."""
        return vendor_of(self.type)

    @property
    def is_unsupported(self) -> bool:
        """Return whether it may be set up, but cannot be asked."""
        return self.vendor.wire is None

    @property
    def has_credentials(self) -> bool:
        """Return whether it can be asked with the deployment's own credentials."""
        if self.fault or self.is_unsupported:
            return False
        config = self.config
        if config.ready_made is not None:
            return True
        if self.vendor.login is Login.AWS:
            return config.credentials is not None
        return bool(config.key) or self.vendor.login is Login.OPTIONAL_KEY


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model of the catalogue."""

    id: ModelConfigId
    provider_id: UUID
    provider: ListedProvider | None  # None: it was deleted
    model: str
    display_name: str
    enabled: bool
    is_default: bool
    context_limit: int
    compression_threshold: int
    call: CallConfig
    created_at: datetime
    updated_at: datetime
    source: ModelSource = ModelSource.DATABASE
    config: ModelConfig | None = None  # as it is asked, with the deployment's key
    fault: str = ""  # why no user can ask it

    @property
    def is_offered(self) -> bool:
        """Return whether users can see it: it is switched on, and so is its provider."""
        return self.enabled and self.provider is not None and self.provider.enabled

    @property
    def order(self) -> tuple[str, str, float]:
        type = self.provider.type if self.provider is not None else ""
        return type, self.model, -self.updated_at.timestamp()


@dataclass(frozen=True, slots=True)
class CatalogueSnapshot:
    """The catalogue at one moment, by id.

    `known` has the provider of every model that ever was, also of those that were deleted.
    """

    providers: Mapping[UUID, ListedProvider]
    models: Mapping[ModelConfigId, ListedModel]
    default: ListedModel | None
    known: Mapping[ModelConfigId, UUID]
    settings: DeploymentSettings

    def named(self, name: str) -> ListedProvider | None:
        """Return the provider of a name; a stored one comes before one of the environment."""
        found = [each for each in self.providers.values() if each.name == name]
        return min(found, key=lambda each: each.source is not ModelSource.DATABASE, default=None)


def provider_with_key(provider: ListedProvider, key: str) -> ProviderConfig:
    """Return the configuration of a provider with a user's own key."""
    config = provider.config
    if provider.vendor.login is Login.AWS:
        return replace(config, credentials=BearerToken(key), region=config.region or DEFAULT_REGION)
    return replace(config, key=key)


def with_user_key(model: ListedModel, key: str | None) -> ModelConfig:
    """Return the configuration of a model with a user's own key, else with the deployment's."""
    assert model.config is not None, "a model without a provider is not asked"
    if not key or model.provider is None:
        return model.config
    return replace(model.config, provider=provider_with_key(model.provider, key))
