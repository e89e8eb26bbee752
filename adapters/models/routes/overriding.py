"""A model that is to stand in for another, as clients say it: checked against what there is."""

from uuid import UUID

from msgspec import UNSET

from actors.law.ids import ModelConfigId
from actors.law.parts.prompt import EFFORTS
from adapters.http.refusals import HttpError, Validation
from adapters.models.call_config import selectable
from adapters.models.choosing import Own, unusable
from adapters.models.contents import Contents, ListedModel
from adapters.models.settings import Override, OwnOverride
from adapters.models.wire.settings import NIL, ModelOverride, PersonalOverride


def invalid(field: str, fact: str, message: str = "Invalid setting.") -> HttpError:
    validation = Validation(field, fact)
    return HttpError(400, message, detail=f"{field}: {fact}", validations=(validation,))


def model_of(said: str | None) -> ModelConfigId | None:
    """The id that a client writes; None: none."""
    if not said:
        return None
    try:
        return ModelConfigId(UUID(said))
    except ValueError:
        raise invalid("model_config_id", "must be a UUID or empty") from None


def checked(
    contents: Contents, id: ModelConfigId | None, effort: str | None, *, own: Own, byok: bool
) -> str | None:
    """The effort to be stored with the model. Refused if the model is not on offer, or cannot be
    asked with that effort."""
    if id is None:
        if effort:
            raise invalid("reasoning_effort", "needs a model")
        return None
    model = contents.models.get(id)
    if model is None:
        raise invalid("model_config_id", f"there is no model config {id}")
    why = unusable(model, own, byok=byok)
    if why is not None:
        raise invalid("model_config_id", why.why)
    return _effort(model, effort or None)


def _effort(model: ListedModel, effort: str | None) -> str | None:
    if effort is None:
        return None
    if effort not in EFFORTS:
        raise invalid("reasoning_effort", f"must be one of {', '.join(EFFORTS)}")
    offered = selectable(model.call)
    if effort not in offered:
        among = f"takes {', '.join(offered)}" if offered else "has no efforts"
        raise invalid("reasoning_effort", f"model {model.model} {among}")
    return effort


def shown(context: str, of: Override) -> ModelOverride:
    return ModelOverride(
        context=context,
        model_config_id="" if of.id is None else str(of.id),
        reasoning_effort=of.effort or UNSET,
        is_malformed=of.is_malformed,
    )


def own_shown(context: str, of: OwnOverride) -> PersonalOverride:
    return PersonalOverride(
        context=context,
        mode=of.mode,
        model_config_id="" if of.model.id is None else str(of.model.id),
        reasoning_effort=of.model.effort or UNSET,
        is_set=of.is_set,
        is_malformed=of.model.is_malformed,
    )


def without_nil(id: UUID | None) -> ModelConfigId | None:
    return None if id is None or id == NIL else ModelConfigId(id)
