"""Which model a chat may ask, and with what effort. Pure.

A history stays with its provider. It has been read there, and perhaps nowhere else on purpose: a
message that names no model never takes it to another one. Where its model can no longer be asked,
another model of the same provider may answer; if the default is none of those, the message is
refused, and the refusal names the models that the user can choose from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from uuid import UUID

from actors.law.ids import ModelConfigId
from actors.law.parts.prompt import EFFORTS, CallSettings
from adapters.models.provider_config import ModelConfig
from adapters.models.settings import ALLOW_OWN_OVERRIDES, Override, UserSettings
from adapters.models.snapshot import REHEARSAL_MODEL, CatalogueSnapshot, ListedModel, ListedProvider

NO_MODEL = (
    "There is no model to ask: none is configured. Add a provider and a model, or set a key such"
    " as ANTHROPIC_API_KEY or OPENAI_API_KEY and start the daemon again."
)

CHOICES_MAX = 8  # models that a refusal names; it says how many more there are

Reason = Literal["missing_api_key", "fetch_failed", "user_api_key_required"]


@dataclass(frozen=True, slots=True)
class UserCatalogue:
    """What is a user's: settings, and his keys by provider. `faults`: why a key cannot be used."""

    settings: UserSettings
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
    provider_type: str | None = None


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Of a new message. `effort` None: none was asked for."""

    model: ModelConfigId
    effort: str | None


@dataclass(frozen=True, slots=True)
class NoChoice:
    """Which field of the request is to blame, and why; `kind` as in the error of a chat."""

    field: str
    message: str
    detail: str = ""
    kind: str = ""


def why_without_credentials(
    provider: ListedProvider, own: UserCatalogue, *, byok: bool
) -> Unusable | None:
    """Whether this user could ask this provider anything."""
    if own.keys.get(provider.id) and byok:
        return None
    fault = own.faults.get(provider.id) if byok else None
    if fault := fault or provider.fault:
        return Unusable(
            f"the key of provider {provider.name} cannot be used: {fault}",
            "missing_key",
            "fetch_failed",
            provider.type,
        )
    if provider.has_credentials:
        return None
    reason: Reason = "user_api_key_required" if byok else "missing_api_key"
    why = f"provider {provider.name} has no key"
    return Unusable(why, "missing_key", reason, provider.type)


def why_unusable(model: ListedModel, own: UserCatalogue, *, byok: bool) -> Unusable | None:
    """Why this user cannot ask this model now; None: he can."""
    provider = model.provider
    type = None if provider is None else provider.type
    if not model.enabled:
        return Unusable(f"model {model.model} is disabled", "config", provider_type=type)
    if provider is None:
        return Unusable(f"the provider of model {model.model} was deleted", "config")
    if not provider.enabled:
        why = f"provider {provider.name} is disabled"
        return Unusable(why, "provider_disabled", provider_type=type)
    if provider.is_unsupported:
        why = f"providers of type {provider.type} cannot be asked here"
        return Unusable(why, "config", provider_type=type)
    if model.fault:
        return Unusable(f"provider {provider.name}: {model.fault}", "config", provider_type=type)
    return why_without_credentials(provider, own, byok=byok)


def choose(
    contents: CatalogueSnapshot,
    own: UserCatalogue,
    *,
    wanted: ModelConfigId | None,
    effort: str | None,
    last: ModelConfigId | None,
    byok: bool,
) -> ModelChoice | NoChoice:
    """The model that was asked for; else the one the chat had; else the user's own; else the
    default. What was asked for by name is never replaced by another, and what a provider has
    answered is never told to another one."""
    found = _named(contents, own, wanted, byok=byok) if wanted else None
    if isinstance(found, NoChoice):
        return found
    if fault := fault_of_effort(effort):
        return fault
    if found is not None:
        return ModelChoice(found.id, effort or None)
    if last is not None:
        going_on = _to_go_on(contents, own, last, byok=byok)
        if isinstance(going_on, Unusable):
            message = "The model of this chat cannot be used."
            return _refused(message, going_on, contents, own, byok=byok)
        return ModelChoice(going_on.id, effort or None)
    own_choice = _own(contents, own, byok=byok)
    if isinstance(own_choice, NoChoice):
        return own_choice
    if own_choice is not None:
        return replace(own_choice, effort=effort or own_choice.effort)
    return _default(contents, own, effort or None, byok=byok)


def fault_of_effort(effort: str | None) -> NoChoice | None:
    """Return why this is no effort, or None if it is one or none was asked for."""
    if effort and effort not in EFFORTS:
        says = f"must be one of {', '.join(EFFORTS)}"
        return NoChoice("reasoning_effort", "Invalid reasoning effort.", says)
    return None


def model_at_work(
    contents: CatalogueSnapshot, own: UserCatalogue, last: ModelConfigId | None, *, byok: bool
) -> ListedModel | Unusable | None:
    """The model that a chat at work asks; or why it cannot; None: there is no model at all. A
    deleted model may be replaced, one that cannot be asked at the moment is not."""
    model = contents.default if last is None else contents.models.get(last)
    if model is None:
        return None if last is None else _replacing(contents, own, last, byok=byok)
    return why_unusable(model, own, byok=byok) or model


def remedies_of(
    contents: CatalogueSnapshot, own: UserCatalogue, why: Unusable, *, byok: bool
) -> str:
    """Return what can be done about it: a key, or one of the models that this user can ask."""
    usable = [
        each for each in contents.models.values() if why_unusable(each, own, byok=byok) is None
    ]
    can_bring_key = byok and why.kind == "missing_key"
    if not usable:
        others = "there is no other model that can be asked now"
        return f"bring a key: {others}" if can_bring_key else others
    usable.sort(key=lambda model: model.order)
    named = [f"{each.model} of {_provider_name(each)} ({each.id})" for each in usable[:CHOICES_MAX]]
    more = len(usable) - len(named)
    rest = f", and {more} more" if more else ""
    key = "bring a key, or " if can_bring_key else ""
    return f"{key}name one of these as model_config_id to go on with it: {', '.join(named)}{rest}"


def _to_go_on(
    contents: CatalogueSnapshot, own: UserCatalogue, last: ModelConfigId, *, byok: bool
) -> ListedModel | Unusable:
    """The model that answers the next message of a history; or why there is none."""
    former = contents.models.get(last)
    if former is None:
        return _replacing(contents, own, last, byok=byok)
    why = why_unusable(former, own, byok=byok)
    if why is None:
        return former
    return _at_same_provider(contents, own, last, why, byok=byok)


def _replacing(
    contents: CatalogueSnapshot, own: UserCatalogue, last: ModelConfigId, *, byok: bool
) -> ListedModel | Unusable:
    """The model that goes on with a history whose own one is not listed any more."""
    return _at_same_provider(contents, own, last, _gone(contents, last), byok=byok)


def _at_same_provider(
    contents: CatalogueSnapshot,
    own: UserCatalogue,
    last: ModelConfigId,
    why: Unusable,
    *,
    byok: bool,
) -> ListedModel | Unusable:
    """The default, if the history stays with its provider then; else `why` it cannot go on. The
    rehearsal is no provider that anything was told to: what it has answered may go anywhere."""
    default = contents.default
    if default is None or why_unusable(default, own, byok=byok) is not None:
        return why
    is_same = _is_same_provider(contents, last, default.id)
    return default if is_same or last == REHEARSAL_MODEL else why


def _gone(contents: CatalogueSnapshot, last: ModelConfigId) -> Unusable:
    provider = contents.providers.get(contents.known[last]) if last in contents.known else None
    if provider is None:
        return Unusable("the provider of this chat's model is not configured any more", "config")
    why = f"the model of this chat was removed from provider {provider.name}"
    return Unusable(why, "config", provider_type=provider.type)


def _provider_name(model: ListedModel) -> str:
    return "(deleted)" if model.provider is None else model.provider.name


def _refused(
    message: str, why: Unusable, contents: CatalogueSnapshot, own: UserCatalogue, *, byok: bool
) -> NoChoice:
    detail = f"{why.why}; {remedies_of(contents, own, why, byok=byok)}"
    return NoChoice("model_config_id", message, detail, why.kind)


def _named(
    contents: CatalogueSnapshot, own: UserCatalogue, wanted: ModelConfigId, *, byok: bool
) -> ListedModel | NoChoice:
    model = contents.models.get(wanted)
    if model is None:
        says = f"there is no model config {wanted}"
        return NoChoice("model_config_id", "Invalid model config ID.", says)
    why = why_unusable(model, own, byok=byok)
    if why is not None:
        return NoChoice("model_config_id", "The model cannot be used.", why.why, why.kind)
    return model


def _own(
    contents: CatalogueSnapshot, own: UserCatalogue, *, byok: bool
) -> ModelChoice | NoChoice | None:
    """What this user has set for new chats. Where that cannot be asked, another model of its
    provider may be: the user has named whom to tell."""
    if not contents.settings.value(ALLOW_OWN_OVERRIDES):
        return None
    override = own.settings.override("root")
    if override.model.id is None:
        return None
    found = _to_go_on(contents, own, override.model.id, byok=byok)
    if isinstance(found, Unusable):
        message = "The model of your own settings cannot be used."
        return _refused(message, found, contents, own, byok=byok)
    return ModelChoice(found.id, override.model.effort)


def _default(
    contents: CatalogueSnapshot, own: UserCatalogue, effort: str | None, *, byok: bool
) -> ModelChoice | NoChoice:
    if contents.default is None:
        return NoChoice("model_config_id", "No default model is configured.", NO_MODEL)
    why = why_unusable(contents.default, own, byok=byok)
    if why is not None:
        message = "The default model cannot be used."
        return NoChoice("model_config_id", message, why.why, why.kind)
    return ModelChoice(contents.default.id, effort)


def for_child(
    contents: CatalogueSnapshot,
    own: UserCatalogue,
    *,
    context: str,
    effort: str | None,
    parent: ModelConfigId | None,
    byok: bool,
) -> ModelChoice | None:
    """Of a spawned agent, where its parent names no model: the owner's own choice for agents of its
    kind, where users may choose; then the deployment's; None: its parent's model is asked. If the
    owner's own choice cannot be asked, the deployment's counts only at the parent's provider."""
    set_for_all = contents.settings.override(context)
    if contents.settings.value(ALLOW_OWN_OVERRIDES):
        chosen = own.settings.override(context)
        if chosen.mode == "chat_default":
            return None
        if chosen.mode == "model":
            found = _overriding(contents, own, chosen.model, effort=effort, byok=byok)
            if found is not None or not _is_same_provider(contents, set_for_all.id, parent):
                return found
    return _overriding(contents, own, set_for_all, effort=effort, byok=byok)


def _is_same_provider(
    contents: CatalogueSnapshot, one: ModelConfigId | None, other: ModelConfigId | None
) -> bool:
    first, second = (contents.known.get(id) if id else None for id in (one, other))
    return first is not None and first == second


def _overriding(
    contents: CatalogueSnapshot,
    own: UserCatalogue,
    override: Override,
    *,
    effort: str | None,
    byok: bool,
) -> ModelChoice | None:
    model = None if override.id is None else contents.models.get(ModelConfigId(override.id))
    if model is None or why_unusable(model, own, byok=byok) is not None:
        return None
    return ModelChoice(model.id, effort or override.effort)


def with_effort(config: ModelConfig, wanted: str | None) -> CallSettings:
    """A chat's effort counts where the configuration has one, and never beyond its highest."""
    settings = config.settings
    if settings.effort is None:
        return settings
    asked = wanted if wanted in EFFORTS else settings.effort
    highest = config.effort_max or settings.effort
    return replace(settings, effort=min(asked, highest, key=EFFORTS.index))
