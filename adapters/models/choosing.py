"""The choice of the model that a chat asks, and of the effort. Pure.

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
from actors.law.parts.prompt import EFFORTS
from adapters.models.settings import (
    ALLOW_OWN_OVERRIDES,
    COMPUTER_USE_PROVIDER,
    Override,
    UserSettings,
)
from adapters.models.snapshot import REHEARSAL_MODEL, CatalogueSnapshot, ListedModel, ListedProvider

NO_MODEL = (
    "There is no model to ask: none is configured. Add a provider and a model, or set a key such"
    " as ANTHROPIC_API_KEY or OPENAI_API_KEY and start the daemon again."
)

CHOICES_MAX = 8  # models that a refusal names; it says how many more there are

Reason = Literal["missing_api_key", "fetch_failed", "user_api_key_required"]


@dataclass(frozen=True, slots=True)
class UserCatalogue:
    """The settings of a user, and their keys by provider.

    `faults` says why a key cannot be used.
    """

    settings: UserSettings
    keys: Mapping[UUID, str] = field(repr=False)
    faults: Mapping[UUID, str]

    def has_key(self, provider: UUID) -> bool:
        return provider in self.keys or provider in self.faults


@dataclass(frozen=True, slots=True)
class Unusable:
    """The reason why a model cannot be asked: in words, and as a kind of error."""

    why: str
    kind: str
    reason: Reason | None = None
    provider_type: str | None = None


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model of a new message. `effort` is None if none was asked for."""

    model: ModelConfigId
    effort: str | None


@dataclass(frozen=True, slots=True)
class NoChoice:
    """The field of the request that is to blame, and why; `kind` as in the error of a chat."""

    field: str
    message: str
    detail: str = ""
    kind: str = ""


def why_without_credentials(
    provider: ListedProvider, own: UserCatalogue, *, allow_user_keys: bool
) -> Unusable | None:
    """Return why this user can ask this provider nothing; None: they can."""
    if own.keys.get(provider.id) and allow_user_keys:
        return None
    fault = own.faults.get(provider.id) if allow_user_keys else None
    if fault := fault or provider.fault:
        return Unusable(
            f"the key of provider {provider.name} cannot be used: {fault}",
            "missing_key",
            "fetch_failed",
            provider.type,
        )
    if provider.has_credentials:
        return None
    reason: Reason = "user_api_key_required" if allow_user_keys else "missing_api_key"
    why = f"provider {provider.name} has no key"
    return Unusable(why, "missing_key", reason, provider.type)


def why_unusable(
    model: ListedModel, own: UserCatalogue, *, allow_user_keys: bool
) -> Unusable | None:
    """Return why this user cannot ask this model now; None: they can."""
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
    return why_without_credentials(provider, own, allow_user_keys=allow_user_keys)


def choose(
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    *,
    wanted: ModelConfigId | None,
    effort: str | None,
    last: ModelConfigId | None,
    allow_user_keys: bool,
) -> ModelChoice | NoChoice:
    """Return the model of a new message: the one asked for, else the one that the chat had.

    After these come the user's own choice and the default. A model that was asked for by name is
    never replaced by another, and what one provider has answered is never told to another one.
    """
    found = _named(snapshot, own, wanted, allow_user_keys=allow_user_keys) if wanted else None
    if isinstance(found, NoChoice):
        return found
    if fault := fault_of_effort(effort):
        return fault
    if found is not None:
        return ModelChoice(found.id, effort or None)
    if last is not None:
        going_on = _to_go_on(snapshot, own, last, allow_user_keys=allow_user_keys)
        if isinstance(going_on, Unusable):
            message = "The model of this chat cannot be used."
            return _refused(message, going_on, snapshot, own, allow_user_keys=allow_user_keys)
        return ModelChoice(going_on.id, effort or None)
    own_choice = _own(snapshot, own, allow_user_keys=allow_user_keys)
    if isinstance(own_choice, NoChoice):
        return own_choice
    if own_choice is not None:
        return replace(own_choice, effort=effort or own_choice.effort)
    return _default(snapshot, own, effort or None, allow_user_keys=allow_user_keys)


def fault_of_effort(effort: str | None) -> NoChoice | None:
    """Return why this is no effort, or None if it is one or none was asked for."""
    if effort and effort not in EFFORTS:
        says = f"must be one of {', '.join(EFFORTS)}"
        return NoChoice("reasoning_effort", "Invalid reasoning effort.", says)
    return None


def model_at_work(
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    last: ModelConfigId | None,
    *,
    allow_user_keys: bool,
) -> ListedModel | Unusable | None:
    """Return the model that a chat at work asks, or why it cannot.

    None: there is no model at all. A deleted model may be replaced, one that cannot be asked at the
    moment is not.
    """
    model = snapshot.default if last is None else snapshot.models.get(last)
    if model is None:
        return (
            None
            if last is None
            else _replacing(snapshot, own, last, allow_user_keys=allow_user_keys)
        )
    return why_unusable(model, own, allow_user_keys=allow_user_keys) or model


def remedies_of(
    snapshot: CatalogueSnapshot, own: UserCatalogue, why: Unusable, *, allow_user_keys: bool
) -> str:
    """Return what can be done about it: a key, or one of the models that this user can ask."""
    usable = [
        each
        for each in snapshot.models.values()
        if why_unusable(each, own, allow_user_keys=allow_user_keys) is None
    ]
    can_bring_key = allow_user_keys and why.kind == "missing_key"
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
    snapshot: CatalogueSnapshot, own: UserCatalogue, last: ModelConfigId, *, allow_user_keys: bool
) -> ListedModel | Unusable:
    """Return the model that answers the next message of a history, or why there is none."""
    former = snapshot.models.get(last)
    if former is None:
        return _replacing(snapshot, own, last, allow_user_keys=allow_user_keys)
    why = why_unusable(former, own, allow_user_keys=allow_user_keys)
    if why is None:
        return former
    return _at_same_provider(snapshot, own, last, why, allow_user_keys=allow_user_keys)


def _replacing(
    snapshot: CatalogueSnapshot, own: UserCatalogue, last: ModelConfigId, *, allow_user_keys: bool
) -> ListedModel | Unusable:
    """Return the model that goes on with a history whose own one was deleted."""
    return _at_same_provider(
        snapshot, own, last, _removed_model(snapshot, last), allow_user_keys=allow_user_keys
    )


def _at_same_provider(
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    last: ModelConfigId,
    why: Unusable,
    *,
    allow_user_keys: bool,
) -> ListedModel | Unusable:
    """Return the default, if the history stays with its provider then, else `why`.

    The rehearsal is no provider that anything was told to: its chats may go anywhere.
    """
    default = snapshot.default
    if default is None or why_unusable(default, own, allow_user_keys=allow_user_keys) is not None:
        return why
    is_same = _is_same_provider(snapshot, last, default.id)
    return default if is_same or last == REHEARSAL_MODEL else why


def _removed_model(snapshot: CatalogueSnapshot, last: ModelConfigId) -> Unusable:
    provider = snapshot.providers.get(snapshot.known[last]) if last in snapshot.known else None
    if provider is None:
        return Unusable("the provider of this chat's model is not configured any more", "config")
    why = f"the model of this chat was removed from provider {provider.name}"
    return Unusable(why, "config", provider_type=provider.type)


def _provider_name(model: ListedModel) -> str:
    return "(deleted)" if model.provider is None else model.provider.name


def _refused(
    message: str,
    why: Unusable,
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    *,
    allow_user_keys: bool,
) -> NoChoice:
    detail = f"{why.why}; {remedies_of(snapshot, own, why, allow_user_keys=allow_user_keys)}"
    return NoChoice("model_config_id", message, detail, why.kind)


def _named(
    snapshot: CatalogueSnapshot, own: UserCatalogue, wanted: ModelConfigId, *, allow_user_keys: bool
) -> ListedModel | NoChoice:
    model = snapshot.models.get(wanted)
    if model is None:
        says = f"there is no model config {wanted}"
        return NoChoice("model_config_id", "Invalid model config ID.", says)
    why = why_unusable(model, own, allow_user_keys=allow_user_keys)
    if why is not None:
        return NoChoice("model_config_id", "The model cannot be used.", why.why, why.kind)
    return model


def _own(
    snapshot: CatalogueSnapshot, own: UserCatalogue, *, allow_user_keys: bool
) -> ModelChoice | NoChoice | None:
    """Return the model that this user has set for new chats, if any.

    If it cannot be asked, another model of its provider may be, because the user has chosen that
    provider.
    """
    if not snapshot.settings.value(ALLOW_OWN_OVERRIDES):
        return None
    override = own.settings.override("root")
    if override.model.id is None:
        return None
    found = _to_go_on(snapshot, own, override.model.id, allow_user_keys=allow_user_keys)
    if isinstance(found, Unusable):
        message = "The model of your own settings cannot be used."
        return _refused(message, found, snapshot, own, allow_user_keys=allow_user_keys)
    return ModelChoice(found.id, override.model.effort)


def _default(
    snapshot: CatalogueSnapshot, own: UserCatalogue, effort: str | None, *, allow_user_keys: bool
) -> ModelChoice | NoChoice:
    if snapshot.default is None:
        return NoChoice("model_config_id", "No default model is configured.", NO_MODEL)
    why = why_unusable(snapshot.default, own, allow_user_keys=allow_user_keys)
    if why is not None:
        message = "The default model cannot be used."
        return NoChoice("model_config_id", message, why.why, why.kind)
    return ModelChoice(snapshot.default.id, effort)


def for_child(
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    *,
    context: str,
    effort: str | None,
    parent: ModelConfigId | None,
    allow_user_keys: bool,
) -> ModelChoice | None:
    """Return the model of a spawned agent whose parent names none.

    It is the owner's own choice for agents of its kind, if users may choose, then the deployment's.
    None: its parent's model is asked. If the owner's own choice cannot be asked, the deployment's
    counts only at the parent's provider.
    """
    set_for_all = snapshot.settings.override(context)
    if snapshot.settings.value(ALLOW_OWN_OVERRIDES):
        chosen = own.settings.override(context)
        if chosen.mode == "chat_default":
            return None
        if chosen.mode == "model":
            found = _overriding(
                snapshot, own, chosen.model, effort=effort, allow_user_keys=allow_user_keys
            )
            if found is not None or not _is_same_provider(snapshot, set_for_all.id, parent):
                return found
    return _overriding(snapshot, own, set_for_all, effort=effort, allow_user_keys=allow_user_keys)


def _is_same_provider(
    snapshot: CatalogueSnapshot, one: ModelConfigId | None, other: ModelConfigId | None
) -> bool:
    first, second = (snapshot.known.get(id) if id else None for id in (one, other))
    return first is not None and first == second


def _overriding(
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    override: Override,
    *,
    effort: str | None,
    allow_user_keys: bool,
) -> ModelChoice | None:
    model = None if override.id is None else snapshot.models.get(ModelConfigId(override.id))
    if model is None or why_unusable(model, own, allow_user_keys=allow_user_keys) is not None:
        return None
    return ModelChoice(model.id, effort or override.effort)


def desktop_provider(
    snapshot: CatalogueSnapshot,
    own: UserCatalogue,
    parent: UUID | None,
    *,
    allow_user_keys: bool,
) -> ListedProvider | str:
    """Return the provider whose model operates a user's desktops, or why there is none.

    Of several the one whose model the chat has comes first, and then they go by their names.
    """
    type = snapshot.settings.value(COMPUTER_USE_PROVIDER)
    able = [
        each
        for each in snapshot.providers.values()
        if each.type == type
        and each.enabled
        and why_without_credentials(each, own, allow_user_keys=allow_user_keys) is None
    ]
    if able:
        return min(able, key=lambda each: (each.id != parent, each.name))
    return (
        f"desktops are operated by a model of a provider of type {type}, and none of that type can"
        " be asked; an administrator can add one, or choose another under computer-use-provider"
    )
