"""The model of a chat's next call: the one it last named, or the default."""

from collections.abc import Sequence
from dataclasses import replace

import trio

from actors.ids import ModelConfigId
from actors.machine.chat import Chat, ChatError
from actors.parts.prompt import EFFORTS, CallSettings
from actors.turn.ports import Model
from adapters.models.configured import ModelConfig
from adapters.models.connecting import connected, uses_responses
from adapters.providers.http import HttpClient

NO_MODEL = ChatError(
    "There is no model to ask: no provider is configured. Set a key, such as ANTHROPIC_API_KEY"
    " or OPENAI_API_KEY, and start the daemon again.",
    kind="config",
)


class ConfiguredModels:
    """Fulfils `actors.turn.ports.Models`. The first one configured is the default."""

    def __init__(self, configs: Sequence[ModelConfig], client: HttpClient) -> None:
        self._configs = {config.id: config for config in configs}
        self._default = next(iter(configs), None)
        # A provider is made once: it keeps counts, and its connections are shared anyway.
        self._models = {config.id: _model(config, client) for config in configs}

    async def model_for(self, chat: Chat) -> Model | ChatError:
        await trio.lowlevel.checkpoint()
        wanted = chat.last_model_config_id
        config = self._configs.get(wanted, self._default) if wanted else self._default
        if config is None:
            return NO_MODEL
        model = self._models[config.id]
        return replace(model, settings=_with_effort(config, chat.last_reasoning_effort))

    def identity_of(self, id: ModelConfigId | None) -> str | None:
        """Which provider a message came from; None: nobody knows any more."""
        config = self._configs.get(id) if id is not None else self._default
        return None if config is None else str(config.provider.id)


def _model(config: ModelConfig, client: HttpClient) -> Model:
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


def _with_effort(config: ModelConfig, wanted: str | None) -> CallSettings:
    """A chat's effort counts where the configuration has one, and never beyond its highest."""
    settings = config.settings
    if settings.effort is None:
        return settings
    asked = wanted if wanted in EFFORTS else settings.effort
    highest = config.effort_max or settings.effort
    return replace(settings, effort=min(asked, highest, key=EFFORTS.index))
