"""The assembly of a snapshot: what is stored, the environment's offers, the rehearsal. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import Self

import msgspec

from actors.law.ids import ModelConfigId
from actors.law.parts.vendors import OPENAI_COMPAT, Login
from adapters.models.call_config import (
    EMPTY_CALL,
    efforts_of,
    provider_tools_of,
    read_call,
    settings_of,
)
from adapters.models.provider_config import (
    ModelConfig,
    ProviderConfig,
    misconfiguration,
)
from adapters.models.providers.bedrock.aws import (
    DEFAULT_REGION,
    AwsKeys,
    Credentials,
    aws_credentials,
)
from adapters.models.settings import DeploymentSettings
from adapters.models.snapshot import (
    CONTEXT_LIMIT_USUAL,
    REHEARSAL,
    REHEARSAL_MODEL,
    THRESHOLD_USUAL,
    CatalogueSnapshot,
    ListedModel,
    ListedProvider,
    ModelSource,
)
from adapters.models.store.catalogue import (
    BedrockSecrets,
    StoredCatalogue,
    StoredModel,
    StoredProvider,
)
from adapters.models.store.providers import key_subject, settings_subject


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """The facts that stay the same as long as the process runs."""

    offered: Sequence[ModelConfig]
    ambient: Credentials | None = field(repr=False)  # of AWS, for stored bedrock providers
    since: datetime

    @classmethod
    def of_environment(
        cls, offered: Sequence[ModelConfig], environ: Mapping[str, str], since: datetime
    ) -> Self:
        """Return the facts about a process with this environment, begun at this time."""
        return cls(offered, aws_credentials(environ), since)


Unseal = Callable[[bytes, str], str | Exception]


def assemble(stored: StoredCatalogue, facts: ProcessFacts, unseal: Unseal) -> CatalogueSnapshot:
    """Return the snapshot of what is stored and what the environment offers.

    `unseal` opens what is sealed, or says why not.
    """
    providers = [_stored(each, facts, unseal) for each in stored.providers]
    offered = [_offered(each, facts) for each in facts.offered]
    providers += {model.provider.id: model.provider for model in offered if model.provider}.values()
    is_rehearsing = not providers
    if is_rehearsing:
        offered = [_rehearsal(facts.since)]
        providers = [model.provider for model in offered if model.provider]
    by_id = {provider.id: provider for provider in providers}
    rows = [_listed(row, by_id.get(row.provider_id)) for row in stored.models]
    # If the last provider was deleted, its models cannot be asked, but the rehearsal can.
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


# providers of the environment


def _offered(model: ModelConfig, facts: ProcessFacts) -> ListedModel:
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
        created_at=facts.since,
        updated_at=facts.since,
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


# providers of the database


def _stored(row: StoredProvider, facts: ProcessFacts, unseal: Unseal) -> ListedProvider:
    key, fault = "", ""
    if row.keys:
        first = row.keys[0]
        key, fault = _text(unseal(first.sealed, key_subject(row.id, first.id)))
    config = ProviderConfig(row.id, row.type, row.name, key, row.base_url or None)
    if config.vendor.login is Login.AWS and not fault:
        config, fault = _bedrock(config, row, facts=facts, unseal=unseal)
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
    config: ProviderConfig, row: StoredProvider, *, facts: ProcessFacts, unseal: Unseal
) -> tuple[ProviderConfig, str]:
    """Return the configuration with the keys of the settings, else with those of the machine."""
    settings = msgspec.json.decode(row.settings) if row.settings else {}
    region = settings.get("region") or DEFAULT_REGION
    if row.sealed_settings is None:
        return replace(config, credentials=facts.ambient, region=region), ""
    text, fault = _text(unseal(row.sealed_settings, settings_subject(row.id)))
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
    known = model if model.source is ModelSource.DATABASE else model.config
    responses = call.openai_config.use_responses_api if call.openai_config else None
    return ModelConfig(
        model.id,
        provider,
        model.model,
        settings=settings_of(call, provider.type),
        effort_max=None if efforts is None else efforts[1],
        provider_tools=provider_tools_of(call, provider.type),
        context_limit=None
        if known is None
        else known.context_limit,  # a limit that is only shown does not count
        use_responses_api=responses if isinstance(responses, bool) else None,
    )
