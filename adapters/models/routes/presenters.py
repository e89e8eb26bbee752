"""Providers, models and keys as clients see them. Pure."""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import UNSET

from actors.law.parts.vendors import vendor_of
from adapters.models.call_config import EMPTY_CALL, efforts_offered
from adapters.models.choosing import UserCatalogue, why_without_credentials
from adapters.models.routes.wire import (
    AIProvider,
    AIProviderKey,
    AIProviderSummary,
    BedrockSettings,
    ChatModel,
    ChatModelConfig,
    ChatModelProvider,
    ChatModelsResponse,
    UnsupportedProvider,
    UserAIProviderKeyConfig,
)
from adapters.models.snapshot import (
    TYPES,
    UNSUPPORTED_TYPES,
    CatalogueSnapshot,
    ListedModel,
    ListedProvider,
)


def provider(of: ListedProvider) -> AIProvider:
    return AIProvider(
        id=of.id,
        type=of.type,
        name=of.name,
        display_name=of.display_name,
        icon=of.icon,
        enabled=of.enabled,
        base_url=of.base_url,
        api_keys=[AIProviderKey(key.id, key.masked, key.created_at) for key in of.keys],
        settings=None
        if of.settings is None
        else msgspec.json.decode(of.settings, type=BedrockSettings),
        created_at=of.created_at,
        updated_at=of.updated_at,
        source=of.source.value,
        fault=of.fault or UNSET,
    )


def own_key(
    of: ListedProvider, own: UserCatalogue, *, allow_user_keys: bool
) -> UserAIProviderKeyConfig:
    return UserAIProviderKeyConfig(
        provider=AIProviderSummary(
            id=of.id,
            type=of.type,
            name=of.name,
            display_name=of.display_name,
            icon=of.icon,
            enabled=of.enabled,
        ),
        has_user_api_key=own.has_key(of.id),
        has_provider_api_key=of.has_credentials,
        byok_enabled=allow_user_keys,
    )


def model(of: ListedModel) -> ChatModelConfig:
    return ChatModelConfig(
        id=of.id,
        ai_provider_id=of.provider_id,
        model=of.model,
        display_name=of.display_name,
        enabled=of.enabled,
        is_default=of.is_default,
        context_limit=of.context_limit,
        compression_threshold=of.compression_threshold,
        model_config=UNSET if of.call == EMPTY_CALL else of.call,
        reasoning_efforts=efforts_offered(of.call) or UNSET,
        created_at=of.created_at,
        updated_at=of.updated_at,
        source=of.source.value,
    )


def models(
    of: CatalogueSnapshot, own: UserCatalogue, *, allow_user_keys: bool
) -> ChatModelsResponse:
    """Return the enabled providers by type, and whether this user can ask each type."""
    enabled = [each for each in of.providers.values() if each.enabled]
    unsupported = [type for type in UNSUPPORTED_TYPES if any(each.type == type for each in enabled)]
    return ChatModelsResponse(
        [
            _of_type(type, found, of.models.values(), own=own, allow_user_keys=allow_user_keys)
            for type in TYPES
            if (found := [each for each in enabled if each.type == type])
        ],
        [UnsupportedProvider(type, vendor_of(type).name) for type in unsupported],
    )


def _of_type(
    type: str,
    providers: list[ListedProvider],
    listed: Iterable[ListedModel],
    *,
    own: UserCatalogue,
    allow_user_keys: bool,
) -> ChatModelProvider:
    lacking = [
        why_without_credentials(each, own, allow_user_keys=allow_user_keys) for each in providers
    ]
    available = None in lacking
    reason = next((each.reason for each in lacking if each is not None), None)
    return ChatModelProvider(
        provider=type,
        available=available,
        unavailable_reason=UNSET if available or reason is None else reason,
        models=sorted(_distinct(type, listed), key=lambda each: each.model),
    )


def _distinct(type: str, listed: Iterable[ListedModel]) -> Iterator[ChatModel]:
    seen = set()
    for each in listed:
        if not each.is_offered or each.provider is None or each.provider.type != type:
            continue
        if each.model.lower() not in seen:
            seen.add(each.model.lower())
            yield ChatModel(
                id=f"{type}:{each.model}",
                provider=type,
                model=each.model,
                display_name=each.display_name or each.model,
            )
