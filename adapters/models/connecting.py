"""A configured model as a provider that can be asked."""

from collections.abc import Callable

from actors.turn.ports import Provider
from adapters.models.configured import ModelConfig
from adapters.providers.anthropic.provider import BASE_URL as ANTHROPIC
from adapters.providers.anthropic.provider import Anthropic
from adapters.providers.bedrock.provider import Bedrock
from adapters.providers.facts.openai import answers_on_responses
from adapters.providers.google.provider import BASE_URL as GOOGLE
from adapters.providers.google.provider import Google
from adapters.providers.http import HttpClient
from adapters.providers.openai_chat.dialects import dialect_of
from adapters.providers.openai_chat.provider import ChatCompletions
from adapters.providers.openai_responses.provider import BASE_URL as OPENAI
from adapters.providers.openai_responses.provider import Responses

Connect = Callable[[ModelConfig, HttpClient], Provider]


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
