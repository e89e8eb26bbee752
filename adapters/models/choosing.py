"""Which model a chat may ask, and with what effort. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from actors.ids import ModelConfigId
from actors.parts.prompt import EFFORTS, CallSettings
from adapters.models.configured import ModelConfig
from adapters.models.contents import Contents, ListedModel, Provider
from adapters.models.settings import ALLOW_OWN_OVERRIDES, Override, OwnSettings

NO_MODEL = (
    "There is no model to ask: none is configured. Add a provider and a model, or set a key such"
    " as ANTHROPIC_API_KEY or OPENAI_API_KEY and start the daemon again."
)

Reason = Literal["missing_api_key", "fetch_failed", "user_api_key_required"]


@dataclass(frozen=True, slots=True)
class Own:
    """What is a user's: settings, and his keys by provider. `faults`: why a key cannot be used."""

    settings: OwnSettings
    keys: Mapping[UUID, str] = field(repr=False)
    faults: Mapping[UUID, str]

    def has_key(self, provider: UUID) -> bool:
        return provider in self.keys or provider in self.faults


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a model cannot be asked: in words, as a kind of error, as clients are told of it."""

    why: str
    kind: str
    reason: Reason | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Of a new message. `effort` None: none was asked for."""

    model: ModelConfigId
    effort: str | None


@dataclass(frozen=True, slots=True)
class NoChoice:
    """Which field of the request is to blame, and why."""

    field: str
    message: str
    detail: str = ""


def without_credentials(provider: Provider, own: Own, *, byok: bool) -> Unusable | None:
    """Whether this user could ask this provider anything."""
    if own.keys.get(provider.id) and byok:
        return None
    fault = own.faults.get(provider.id) if byok else None
    if fault := fault or provider.fault:
        return Unusable(
            f"the key of provider {provider.name} cannot be used: {fault}",
            "missing_key",
            "fetch_failed",
        )
    if provider.has_credentials:
        return None
    reason: Reason = "user_api_key_required" if byok else "missing_api_key"
    return Unusable(f"provider {provider.name} has no key", "missing_key", reason)


def unusable(model: ListedModel, own: Own, *, byok: bool) -> Unusable | None:
    """Why this user cannot ask this model now; None: he can."""
    provider = model.provider
    if not model.enabled:
        return Unusable(f"model {model.model} is disabled", "config")
    if provider is None:
        return Unusable(f"the provider of model {model.model} was deleted", "config")
    if not provider.enabled:
        return Unusable(f"provider {provider.name} is disabled", "provider_disabled")
    if provider.is_unsupported:
        return Unusable(f"providers of type {provider.type} cannot be asked here", "config")
    if model.fault:
        return Unusable(f"provider {provider.name}: {model.fault}", "config")
    return without_credentials(provider, own, byok=byok)


def choose(
    contents: Contents,
    own: Own,
    *,
    wanted: ModelConfigId | None,
    effort: str | None,
    last: ModelConfigId | None,
    byok: bool,
) -> Choice | NoChoice:
    """The model that was asked for; else the one the chat had; else the user's own; else the
    default. What was asked for by name is never replaced by another."""
    found = _named(contents, own, wanted, byok=byok) if wanted else None
    if isinstance(found, NoChoice):
        return found
    if effort and effort not in EFFORTS:
        says = f"must be one of {', '.join(EFFORTS)}"
        return NoChoice("reasoning_effort", "Invalid reasoning effort.", says)
    if found is not None:
        return Choice(found.id, effort or None)
    if last is not None:
        former = contents.models.get(last)
        if former is not None and unusable(former, own, byok=byok) is None:
            return Choice(former.id, effort or None)
    elif (own_choice := _own(contents, own, byok=byok)) is not None:
        return replace(own_choice, effort=effort or own_choice.effort)
    return _default(contents, own, effort or None, byok=byok)


def _named(
    contents: Contents, own: Own, wanted: ModelConfigId, *, byok: bool
) -> ListedModel | NoChoice:
    model = contents.models.get(wanted)
    if model is None:
        says = f"there is no model config {wanted}"
        return NoChoice("model_config_id", "Invalid model config ID.", says)
    why = unusable(model, own, byok=byok)
    if why is not None:
        return NoChoice("model_config_id", "The model cannot be used.", why.why)
    return model


def _own(contents: Contents, own: Own, *, byok: bool) -> Choice | None:
    if not contents.settings.value(ALLOW_OWN_OVERRIDES):
        return None
    override = own.settings.override("root")
    model = contents.models.get(override.model.id) if override.model.id is not None else None
    if model is None or unusable(model, own, byok=byok) is not None:
        return None
    return Choice(model.id, override.model.effort)


def _default(contents: Contents, own: Own, effort: str | None, *, byok: bool) -> Choice | NoChoice:
    if contents.default is None:
        return NoChoice("model_config_id", "No default model is configured.", NO_MODEL)
    why = unusable(contents.default, own, byok=byok)
    if why is not None:
        return NoChoice("model_config_id", "The default model cannot be used.", why.why)
    return Choice(contents.default.id, effort)


def for_child(
    contents: Contents, own: Own, *, context: str, effort: str | None, byok: bool
) -> Choice | None:
    """Of a spawned agent, where its parent names no model: the owner's own choice for agents of its
    kind, where users may choose; then the deployment's; None: its parent's model is asked."""
    if contents.settings.value(ALLOW_OWN_OVERRIDES):
        chosen = own.settings.override(context)
        if chosen.mode == "chat_default":
            return None
        if chosen.mode == "model":
            found = _overriding(contents, own, chosen.model, effort=effort, byok=byok)
            if found is not None:
                return found
    return _overriding(contents, own, contents.settings.override(context), effort=effort, byok=byok)


def _overriding(
    contents: Contents, own: Own, override: Override, *, effort: str | None, byok: bool
) -> Choice | None:
    model = None if override.id is None else contents.models.get(ModelConfigId(override.id))
    if model is None or unusable(model, own, byok=byok) is not None:
        return None
    return Choice(model.id, effort or override.effort)


def with_effort(config: ModelConfig, wanted: str | None) -> CallSettings:
    """A chat's effort counts where the configuration has one, and never beyond its highest."""
    settings = config.settings
    if settings.effort is None:
        return settings
    asked = wanted if wanted in EFFORTS else settings.effort
    highest = config.effort_max or settings.effort
    return replace(settings, effort=min(asked, highest, key=EFFORTS.index))
