"""Providers, models and keys as clients see them. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

import msgspec
from msgspec import UNSET

from actors.law.parts.prompt import ProviderTool, WebFetch, WebSearch
from actors.law.parts.vendors import Wire, vendor_of
from adapters.models.call_config import EMPTY_CALL, efforts_offered
from adapters.models.choosing import UserCatalogue, why_without_credentials
from adapters.models.connecting import wire_of
from adapters.models.provider_config import ModelConfig
from adapters.models.providers.facts.gemini import mixes_tools
from adapters.models.providers.facts.openai import searches_over_chat
from adapters.models.routes.wire import (
    AIProvider,
    AIProviderKey,
    AIProviderSummary,
    BedrockSettings,
    ChatModel,
    ChatModelConfig,
    ChatModelProvider,
    ChatModelProviderDescriptor,
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

SEARCHES_ALONE = (
    "Web search is switched on, but this model cannot search in a request that offers it tools, as "
    "those of chats do: it will not search. Gemini 3 and later models do both."
)
FETCHES_ALONE = (
    "Reading of pages is switched on, but this model cannot read them in the same request in which"
    " it is offered tools, and chats offer it tools: it will not read any. Gemini 3 and later do"
    " both."
)
NO_FETCH_AT_BEDROCK = (
    "Reading of pages is switched on, but AWS Bedrock does not have it: this model will not read"
    " any."
)
NO_SEARCH_OVER_CHAT = (
    "Web search is switched on, but this model cannot search over Chat Completions: it will not "
    "search. Use the Responses API, or a model with search in its name."
)
NO_SEARCH_AT_BEDROCK = (
    "Web search is switched on, but models at AWS Bedrock have no search of their own: it will not"
    " search."
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


def model(of: ListedModel, *, organization: UUID) -> ChatModelConfig:
    return ChatModelConfig(
        id=of.id,
        organization_id=organization,
        ai_provider_id=of.provider_id,
        provider="" if of.provider is None else of.provider.type,
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
        warnings=(warnings_of(of.config) if of.config else ()) or UNSET,
    )


def warnings_of(config: ModelConfig) -> list[str]:
    """Return what people should know of a model that does not do what it is set up to do."""
    wire = wire_of(config)
    return [
        found for tool in config.provider_tools if (found := _warning(tool, wire, config.model))
    ]


def _warning(tool: ProviderTool, wire: Wire | None, model: str) -> str | None:
    searches = isinstance(tool, WebSearch)
    if not (searches or isinstance(tool, WebFetch)):
        return None
    match wire:
        case Wire.GEMINI if not mixes_tools(model):
            return SEARCHES_ALONE if searches else FETCHES_ALONE
        case Wire.CHAT if searches and not searches_over_chat(model):
            return NO_SEARCH_OVER_CHAT
        case Wire.BEDROCK | Wire.CONVERSE:
            return NO_SEARCH_AT_BEDROCK if searches else NO_FETCH_AT_BEDROCK
        case _:
            return None


def models(
    of: CatalogueSnapshot, own: UserCatalogue, *, allow_user_keys: bool
) -> ChatModelsResponse:
    """Return the enabled providers by type, and whether this user can ask each type."""
    enabled = _enabled(of)
    return ChatModelsResponse(
        [
            _of_type(type, found, of.models.values(), own=own, allow_user_keys=allow_user_keys)
            for type in TYPES
            if (found := [each for each in enabled if each.type == type])
        ],
        unsupported_providers(of),
    )


def provider_descriptors(
    of: CatalogueSnapshot, own: UserCatalogue, *, allow_user_keys: bool
) -> Sequence[ChatModelProviderDescriptor]:
    """Return the enabled providers of types that can be asked, ordered by type and name."""
    supported = [each for each in _enabled(of) if not each.is_unsupported]
    supported.sort(key=lambda each: (each.type, each.name))
    return [_descriptor(each, own, allow_user_keys=allow_user_keys) for each in supported]


def _descriptor(
    of: ListedProvider, own: UserCatalogue, *, allow_user_keys: bool
) -> ChatModelProviderDescriptor:
    lacking = why_without_credentials(of, own, allow_user_keys=allow_user_keys)
    return ChatModelProviderDescriptor(
        id=of.id,
        type=of.type,
        display_name=of.display_name,
        icon=of.icon,
        enabled=of.enabled,
        has_api_key=of.has_credentials,
        has_user_api_key=own.has_key(of.id),
        has_effective_api_key=lacking is None,
        allow_user_api_key=allow_user_keys,
        available=lacking is None,
        unavailable_reason=UNSET if lacking is None or lacking.reason is None else lacking.reason,
    )


def unsupported_providers(of: CatalogueSnapshot) -> Sequence[UnsupportedProvider]:
    """Return the types of the enabled providers that may be set up, but cannot be asked."""
    types = {each.type for each in _enabled(of)}
    return [
        UnsupportedProvider(type, vendor_of(type).name)
        for type in UNSUPPORTED_TYPES
        if type in types
    ]


def _enabled(of: CatalogueSnapshot) -> Sequence[ListedProvider]:
    return [each for each in of.providers.values() if each.enabled]


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
