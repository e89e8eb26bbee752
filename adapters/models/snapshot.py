"""A snapshot of the catalogue: what is stored, what the environment offers, the rehearsal. Pure.

The default model is a stored one that is marked as such; else the first that the environment
offers; else the first stored one that is enabled; else the rehearsal, as long as no provider is set
up.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from itertools import chain
from types import MappingProxyType
from typing import Self
from uuid import UUID

import msgspec

from actors.law.ids import ModelConfigId
from actors.law.parts.vendors import OPENAI_COMPAT, VENDORS, Login, Vendor, vendor_of
from adapters.models.call_config import (
    EMPTY_CALL,
    CallConfig,
    efforts_of,
    read_call,
    search_of,
    settings_of,
)
from adapters.models.provider_config import (
    ModelConfig,
    ProviderConfig,
    misconfiguration,
    named_model,
    named_provider,
)
from adapters.models.providers.bedrock.aws import (
    DEFAULT_REGION,
    AwsKeys,
    Bearer,
    Credentials,
    aws_credentials,
)
from adapters.models.settings import DeploymentSettings
from adapters.models.store.catalogue import (
    BedrockSecrets,
    StoredCatalogue,
    StoredKey,
    StoredModel,
    StoredProvider,
)
from adapters.models.store.providers import key_subject, settings_subject

TYPES = tuple(sorted(vendor.type for vendor in VENDORS if vendor.wire is not None))
UNSUPPORTED_TYPES = tuple(vendor.type for vendor in VENDORS if vendor.wire is None)

CONTEXT_LIMIT_USUAL = 128_000  # shown for a model of which nobody said
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
    variable: str = ""  # of the environment, that it comes from
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
    fault: str = ""  # why it could not be, whoever asks

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


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """The facts that stay the same as long as the process runs."""

    offered: Sequence[ModelConfig]
    ambient: Credentials | None = field(repr=False)  # of AWS, for stored providers of bedrock
    since: datetime

    @classmethod
    def of_environment(
        cls, offered: Sequence[ModelConfig], environ: Mapping[str, str], since: datetime
    ) -> Self:
        """Return the facts about a process with this environment, begun at this time."""
        return cls(offered, aws_credentials(environ), since)


Unseal = Callable[[bytes, str], str | Exception]


def assemble(stored: StoredCatalogue, around: ProcessFacts, opened: Unseal) -> CatalogueSnapshot:
    """Return the snapshot of what is stored and what the environment offers.

    `opened` opens what is sealed, or says why not.
    """
    providers = [_stored(each, around, opened) for each in stored.providers]
    offered = [_offered(each, around) for each in around.offered]
    providers += {model.provider.id: model.provider for model in offered if model.provider}.values()
    is_rehearsing = not providers
    if is_rehearsing:
        offered = [_rehearsal(around.since)]
        providers = [model.provider for model in offered if model.provider]
    by_id = {provider.id: provider for provider in providers}
    rows = [_listed(row, by_id.get(row.provider_id)) for row in stored.models]
    # Models whose provider was the last one to be deleted cannot be asked: the rehearsal can.
    default = _default([] if is_rehearsing else rows, offered)
    models = {
        model.id: _ready(replace(model, is_default=model is default))
        for model in chain(rows, offered)
    }
    known = {REHEARSAL_MODEL: REHEARSAL}
    known |= {model.id: model.provider_id for model in offered} | dict(stored.known)
    return CatalogueSnapshot(
        MappingProxyType(by_id),
        MappingProxyType(models),
        models[default.id] if default is not None else None,
        MappingProxyType(known),
        DeploymentSettings(stored.settings),
    )


def _default(rows: Sequence[ListedModel], offered: Sequence[ListedModel]) -> ListedModel | None:
    marked = (model for model in rows if model.is_default)
    enabled = (model for model in rows if model.enabled)
    return next(chain(marked, offered, enabled, rows), None)


# those of the environment


def _offered(model: ModelConfig, around: ProcessFacts) -> ListedModel:
    config = model.provider
    provider = ListedProvider(
        config.id,
        config.type,
        config.name,
        config.name,
        "",
        enabled=True,
        base_url=config.base_url or "",
        source=ModelSource.ENVIRONMENT,
        config=config,
        created_at=around.since,
        updated_at=around.since,
        variable=config.variable,
    )
    listed = _virtual(model.id, provider, model.model, model.model, ModelSource.ENVIRONMENT)
    limit = model.context_limit or CONTEXT_LIMIT_USUAL
    return replace(listed, context_limit=limit, config=model)


def _rehearsal(since: datetime) -> ListedModel:
    """Return the rehearsal as a model.

    `RehearsalHost` gives it a true address when it is first asked.
    """
    provider = ListedProvider(
        REHEARSAL,
        OPENAI_COMPAT.type,
        "rehearsal",
        "Rehearsal (not a real model)",
        "",
        enabled=True,
        base_url="",
        source=ModelSource.REHEARSAL,
        config=ProviderConfig(
            REHEARSAL, OPENAI_COMPAT.type, "rehearsal", base_url="http://rehearsal"
        ),
        created_at=since,
        updated_at=since,
    )
    says = "Rehearsal (not a real model: set up a provider)"
    return _virtual(REHEARSAL_MODEL, provider, "rehearsal", says, ModelSource.REHEARSAL)


def _virtual(
    id: ModelConfigId, provider: ListedProvider, model: str, display_name: str, source: ModelSource
) -> ListedModel:
    return ListedModel(
        id,
        provider.id,
        provider,
        model,
        display_name,
        enabled=True,
        is_default=False,
        context_limit=CONTEXT_LIMIT_USUAL,
        compression_threshold=THRESHOLD_USUAL,
        call=EMPTY_CALL,
        created_at=provider.created_at,
        updated_at=provider.updated_at,
        source=source,
    )


# those of the database


def _stored(row: StoredProvider, around: ProcessFacts, opened: Unseal) -> ListedProvider:
    key, fault = "", ""
    if row.keys:
        first = row.keys[0]
        key, fault = _text(opened(first.sealed, key_subject(row.id, first.id)))
    config = ProviderConfig(row.id, row.type, row.name, key, row.base_url or None)
    if config.vendor.login is Login.AWS and not fault:
        config, fault = _bedrock(config, row, around=around, opened=opened)
    return ListedProvider(
        row.id,
        row.type,
        row.name,
        row.display_name or row.name,
        row.icon,
        enabled=row.enabled,
        base_url=row.base_url,
        source=ModelSource.DATABASE,
        config=config,
        created_at=row.created_at,
        updated_at=row.updated_at,
        keys=row.keys,
        settings=row.settings,
        sealed_settings=row.sealed_settings,
        fault=fault,
    )


def _bedrock(
    config: ProviderConfig, row: StoredProvider, *, around: ProcessFacts, opened: Unseal
) -> tuple[ProviderConfig, str]:
    """Return the configuration with the keys of the settings, else with those of the machine."""
    settings = msgspec.json.decode(row.settings) if row.settings else {}
    region = settings.get("region") or DEFAULT_REGION
    if row.sealed_settings is None:
        return replace(config, credentials=around.ambient, region=region), ""
    text, fault = _text(opened(row.sealed_settings, settings_subject(row.id)))
    secrets = msgspec.json.decode(text, type=BedrockSecrets) if text else BedrockSecrets()
    keys = AwsKeys(secrets.access_key, secrets.access_key_secret, None) if text else None
    return replace(config, credentials=keys, region=region), fault


def _text(opened: str | Exception) -> tuple[str, str]:
    return (opened, "") if isinstance(opened, str) else ("", str(opened))


def _listed(row: StoredModel, provider: ListedProvider | None) -> ListedModel:
    return ListedModel(
        row.id,
        row.provider_id,
        provider,
        row.model,
        row.display_name,
        enabled=row.enabled,
        is_default=row.is_default,
        context_limit=row.context_limit,
        compression_threshold=row.compression_threshold,
        call=read_call(row.call),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


# as they are asked


def provider_with_key(provider: ListedProvider, key: str) -> ProviderConfig:
    """Return the configuration of a provider with a user's own key."""
    config = provider.config
    if provider.vendor.login is Login.AWS:
        return replace(config, credentials=Bearer(key), region=config.region or DEFAULT_REGION)
    return replace(config, key=key)


def with_user_key(model: ListedModel, key: str | None) -> ModelConfig:
    """Return the configuration of a model with a user's own key, else with the deployment's."""
    assert model.config is not None, "a model without a provider is not asked"
    if not key or model.provider is None:
        return model.config
    return replace(model.config, provider=provider_with_key(model.provider, key))


def _ready(model: ListedModel) -> ListedModel:
    """Return a model with all that a call needs, made once for all calls."""
    if model.provider is None:
        return model
    config = model.provider.config
    wrong = misconfiguration(config, model.model) or ""
    return replace(model, config=_configured(model, config), fault=wrong)


def _configured(model: ListedModel, provider: ProviderConfig) -> ModelConfig:
    call = model.call
    efforts = efforts_of(call)
    search = search_of(call, provider.type)
    known = model if model.source is ModelSource.DATABASE else model.config
    responses = call.openai_config.use_responses_api if call.openai_config else None
    return ModelConfig(
        model.id,
        provider,
        model.model,
        settings=settings_of(call, provider.type),
        effort_max=None if efforts is None else efforts[1],
        provider_tools=() if search is None else (search,),
        context_limit=None if known is None else known.context_limit,  # not what is only shown
        use_responses_api=responses if isinstance(responses, bool) else None,
    )
