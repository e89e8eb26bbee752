"""The connection of a configured model to the provider that speaks its wire, or to the rehearsal.

The rehearsal stands in as long as no provider is set up: a first chat works without any key and
without a network. It is served on a port of this machine's own from the first time that a chat asks
for it, so a daemon with real providers never has one. Its answer begins by saying that it is no
model.
"""

from collections.abc import Callable
from typing import NoReturn

import trio

from actors.chat.turn.ports import ConfiguredProvider, Model
from actors.law.parts.vendors import CONVERSE_RULES, RESPONSES_RULES, PromptRules, Wire
from adapters.models.provider_config import ModelConfig, ProviderConfig
from adapters.models.providers.anthropic.provider import AnthropicProvider
from adapters.models.providers.bedrock.provider import BedrockProvider
from adapters.models.providers.bedrock_converse.provider import ConverseProvider
from adapters.models.providers.facts.bedrock import speaks_converse
from adapters.models.providers.facts.openai import answers_on_responses, is_deployment
from adapters.models.providers.google.provider import GeminiProvider
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat.provider import ChatCompletionsProvider
from adapters.models.providers.openai_responses.provider import ResponsesProvider
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve
from adapters.settings.caching import RecentlyUsed

# Connected models. The one unused for longest is dropped, and connected anew when it is asked.
MODELS_KEPT_MAX = 4_096

Connect = Callable[[ProviderConfig, HttpClient], ConfiguredProvider]
REHEARSAL_ANSWER = (
    "This is a rehearsal, not a real model: it says these words whatever you write. "
    "The daemon works; what is missing is a provider. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or "
    "another key in its environment and start it again, or add a provider with its key: "
    "`promptcorner providers add`, or Administration, Providers in the browser. "
    "From then on a real model answers here."
)
_BEHAVIOUR = Behaviour(text=REHEARSAL_ANSWER, delta_chars=8, delta_ms=20, jitter=0.5)


class RehearsalHost:
    """The server of the rehearsal, which begins when the first chat asks for it."""

    def __init__(self) -> None:
        self.url = ""  # of a server that speaks Chat Completions, once it is open
        self._wanted = trio.Event()
        self._opened = trio.Event()

    async def run(self) -> NoReturn:
        """Wait until the rehearsal is wanted, then serve it. Runs in a nursery of its own."""
        await self._wanted.wait()
        async with serve(_BEHAVIOUR, controllable=False) as running:
            self.url = f"{running.url}/v1"
            self._opened.set()
            await trio.sleep_forever()
        raise AssertionError("it is served until cancelled")

    async def open(self) -> None:
        """Return when the rehearsal can be asked."""
        self._wanted.set()
        await self._opened.wait()


class ModelCache:
    """The models that have been connected.

    A provider is made once for as long as its configuration stands, because it keeps counts.
    """

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self._made: RecentlyUsed[tuple[object, ...], tuple[ModelConfig, Model]] = RecentlyUsed(
            MODELS_KEPT_MAX
        )

    def model(self, config: ModelConfig) -> Model:
        """Return the model of a configuration, connected now or before."""
        key = (config.id, config.provider.key, config.model)
        made = self._made.get(key)
        if made is None or made[0] != config:
            made = (config, connect_model(config, self._client))
            self._made.put(key, made)
        return made[1]


def connect_model(config: ModelConfig, client: HttpClient) -> Model:
    """Return a model that can be asked, of a provider made for it."""
    provider = config.provider
    wire = wire_of(config)
    return Model(
        connect(config, client),
        config.id,
        identity=str(provider.id),
        vendor=provider.type,
        name=config.model,
        settings=config.settings,
        provider_tools=config.provider_tools,
        context_limit=config.context_limit,
        rules=_RULES.get(wire, provider.vendor.rules) if wire else provider.vendor.rules,
    )


def wire_of(config: ModelConfig) -> Wire | None:
    """Return the protocol that a model is spoken to in; None: none that we know."""
    vendor = config.provider.vendor
    if vendor.wire is Wire.BEDROCK and speaks_converse(config.model):
        return Wire.CONVERSE
    if vendor.speaks_responses is None:
        return vendor.wire
    wanted = config.use_responses_api if vendor.speaks_responses == "by config" else None
    if wanted is None:
        at_deployment = is_deployment(config.provider.base_url)
        wanted = answers_on_responses(config.model) and not at_deployment
    return Wire.RESPONSES if wanted else vendor.wire


def connect(config: ModelConfig, client: HttpClient) -> ConfiguredProvider:
    """Return the provider of a model, which speaks its wire with its key."""
    wire = wire_of(config)
    assert wire is not None, f"a provider of type {config.provider.type} is never asked"
    return _CONNECT[wire](config.provider, client)


def _messages(provider: ProviderConfig, client: HttpClient) -> ConfiguredProvider:
    return AnthropicProvider(client, provider.key, base_url=_base_url(provider), name=provider.type)


def _at_aws(kind: type[BedrockProvider] | type[ConverseProvider]) -> Connect:
    def connected(provider: ProviderConfig, client: HttpClient) -> ConfiguredProvider:
        assert provider.credentials is not None, "a bedrock provider has credentials"
        return kind(
            client,
            provider.credentials,
            region=provider.region,
            base_url=provider.base_url,
            name=provider.type,
        )

    return connected


def _gemini(provider: ProviderConfig, client: HttpClient) -> ConfiguredProvider:
    return GeminiProvider(client, provider.key, base_url=_base_url(provider), name=provider.type)


def _responses(provider: ProviderConfig, client: HttpClient) -> ConfiguredProvider:
    return ResponsesProvider(
        client, provider.key, vendor=provider.vendor, base_url=_base_url(provider)
    )


def _chat_completions(provider: ProviderConfig, client: HttpClient) -> ConfiguredProvider:
    return ChatCompletionsProvider(
        client, provider.key, vendor=provider.vendor, base_url=_base_url(provider)
    )


def _of_plugin(provider: ProviderConfig, client: HttpClient) -> ConfiguredProvider:
    assert provider.ready_made is not None, "a plugin brings its provider ready made"
    return provider.ready_made


def _base_url(provider: ProviderConfig) -> str:
    """Return where a provider is. A key is never shown to another vendor than its own."""
    url = provider.base_url or provider.vendor.base_url
    assert url is not None, f"a provider of type {provider.type} needs a base URL"
    return url


# The rules of wires that a vendor speaks to a part of its models.
_RULES: dict[Wire, PromptRules] = {
    Wire.RESPONSES: RESPONSES_RULES,
    Wire.CONVERSE: CONVERSE_RULES,
}
_CONNECT: dict[Wire, Connect] = {
    Wire.MESSAGES: _messages,
    Wire.BEDROCK: _at_aws(BedrockProvider),
    Wire.CONVERSE: _at_aws(ConverseProvider),
    Wire.GEMINI: _gemini,
    Wire.CHAT: _chat_completions,
    Wire.RESPONSES: _responses,
    Wire.PLUGIN: _of_plugin,
}
