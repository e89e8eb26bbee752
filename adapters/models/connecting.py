"""A configured model as a provider that can be asked."""

from collections import OrderedDict
from collections.abc import Callable

from actors.chat.turn.ports import Model, Provider
from adapters.models.configured import ModelConfig
from adapters.models.providers.anthropic.provider import BASE_URL as ANTHROPIC
from adapters.models.providers.anthropic.provider import Anthropic
from adapters.models.providers.bedrock.provider import Bedrock
from adapters.models.providers.facts.openai import answers_on_responses
from adapters.models.providers.google.provider import BASE_URL as GOOGLE
from adapters.models.providers.google.provider import Google
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat.dialects import dialect_of
from adapters.models.providers.openai_chat.provider import ChatCompletions
from adapters.models.providers.openai_responses.provider import BASE_URL as OPENAI
from adapters.models.providers.openai_responses.provider import Responses

MODELS_KEPT_MAX = 4_096  # that were made; the one not asked for longest is made anew

Connect = Callable[[ModelConfig, HttpClient], Provider]


class Making:
    """Models that can be asked. A provider is made once for as long as its configuration stands:
    it keeps counts."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._made: OrderedDict[tuple[object, ...], tuple[ModelConfig, Model]] = OrderedDict()

    def model(self, config: ModelConfig) -> Model:
        key = (config.id, config.provider.key)
        made = self._made.get(key)
        if made is None or made[0] != config:
            made = self._made[key] = (config, ready(config, self._client))
        self._made.move_to_end(key)
        while len(self._made) > MODELS_KEPT_MAX:
            self._made.popitem(last=False)
        return made[1]


def ready(config: ModelConfig, client: HttpClient) -> Model:
    provider = config.provider
    return Model(
        connected(config, client),
        config.id,
        identity=str(provider.id),
        transport="openai-responses" if uses_responses(config) else provider.type,
        label=provider.type,
        name=config.model,
        settings=config.settings,
        provider_tools=config.provider_tools,
        context_limit=config.context_limit,
    )


def connected(config: ModelConfig, client: HttpClient) -> Provider:
    return _CONNECT[config.provider.type](config, client)


def uses_responses(config: ModelConfig) -> bool:
    """OpenAI has two interfaces; the configuration says which, or the name of the model."""
    if config.provider.type == "azure":
        return answers_on_responses(config.model)
    if config.provider.type != "openai":
        return False
    if config.use_responses_api is not None:
        return config.use_responses_api
    return answers_on_responses(config.model)


def _anthropic(config: ModelConfig, client: HttpClient) -> Provider:
    provider = config.provider
    return Anthropic(client, provider.key, base_url=provider.base_url or ANTHROPIC)


def _bedrock(config: ModelConfig, client: HttpClient) -> Provider:
    provider = config.provider
    assert provider.credentials is not None, "a bedrock provider has credentials"
    return Bedrock(client, provider.credentials, region=provider.region, base_url=provider.base_url)


def _google(config: ModelConfig, client: HttpClient) -> Provider:
    provider = config.provider
    return Google(client, provider.key, base_url=provider.base_url or GOOGLE)


def _openai(config: ModelConfig, client: HttpClient) -> Provider:
    provider = config.provider
    if not uses_responses(config):
        return _chat_completions(config, client)
    azure = provider.type == "azure"
    assert provider.base_url or not azure, "OpenAI is not to see a key of Azure's"
    return Responses(client, provider.key, base_url=provider.base_url or OPENAI, azure=azure)


def _chat_completions(config: ModelConfig, client: HttpClient) -> Provider:
    provider = config.provider
    dialect = dialect_of(provider.type, provider.base_url or "")
    return ChatCompletions(client, provider.key, dialect=dialect, base_url=provider.base_url)


_CONNECT: dict[str, Connect] = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "google": _google,
    "openai": _openai,
    "azure": _openai,
    "openai-compat": _chat_completions,
    "openrouter": _chat_completions,
    "vercel": _chat_completions,
}
