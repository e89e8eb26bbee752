"""Which model a spawned agent asks, where its parent names none. Pure.

The owner's own choice for agents of this kind, where users may choose; then the deployment's; then
the model that the parent's last message was for. What cannot be asked is passed over.
"""

from collections.abc import Mapping
from typing import Any

from actors.ids import ModelConfigId
from adapters.models.call_config import selectable
from adapters.models.choosing import Choice, Own, unusable
from adapters.models.contents import Contents, ListedModel
from adapters.models.settings import ALLOW_OWN_OVERRIDES, Override

CONTEXTS = ("general", "explore")


def for_child(
    contents: Contents, own: Own, *, context: str, effort: str | None, byok: bool
) -> Choice | None:
    """The override that counts; None: there is none, the parent's model is asked."""
    if contents.settings.value(ALLOW_OWN_OVERRIDES):
        chosen = own.settings.override(context)
        if chosen.mode == "chat_default":
            return None
        if chosen.mode == "model":
            found = _usable(contents, own, chosen.model, effort=effort, byok=byok)
            if found is not None:
                return found
    return _usable(contents, own, contents.settings.override(context), effort=effort, byok=byok)


def shown_to_models(model: ListedModel) -> Mapping[str, Any]:
    """As a tool tells of it."""
    efforts = selectable(model.call)
    return {
        "model_config_id": str(model.id),
        "display_name": model.display_name,
        "model": model.model,
        "provider": "" if model.provider is None else model.provider.name,
        "context_limit": model.context_limit,
        "is_default": model.is_default,
        **({"reasoning_efforts": list(efforts)} if efforts else {}),
    }


def _usable(
    contents: Contents, own: Own, override: Override, *, effort: str | None, byok: bool
) -> Choice | None:
    model = None if override.id is None else contents.models.get(ModelConfigId(override.id))
    if model is None or unusable(model, own, byok=byok) is not None:
        return None
    return Choice(model.id, effort or override.effort)
