"""The checks of what clients write into the catalogue, and of the user that a path names."""

import re
from collections.abc import Iterable, Iterator
from typing import Protocol
from uuid import UUID

from msgspec import UNSET

from actors.law.ids import ModelConfigId, UserId
from actors.law.parts.prompt import EFFORTS
from adapters.http.endpoints import Call
from adapters.http.refusals import HttpError, Validation, not_found
from adapters.models.call_config import efforts_offered
from adapters.models.choosing import UserCatalogue, why_unusable
from adapters.models.providers.dial import split_url
from adapters.models.routes.wire import NIL, ModelOverride, PersonalOverride
from adapters.models.settings import Override, UserOverride
from adapters.models.snapshot import CatalogueSnapshot, ListedModel
from adapters.people.store.users import User

NAME_CHARACTERS_MAX = 128
TEXT_CHARACTERS_MAX = 2_048  # of names for people, icons and addresses
KEY_BYTES_MAX = 10_240
KEYS_MAX = 32  # of one provider; more are refused

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_NO_URL = re.compile(r"[\x00-\x20\x7f]")

Faults = Iterator[tuple[str, str]]


def refuse_if(faults: Iterable[tuple[str, str]], message: str) -> None:
    """Refuse the request (400) with all faults, if there are any."""
    found = tuple(Validation(field, fact) for field, fact in faults)
    if found:
        first = found[0]
        detail = f"{first.field}: {first.detail}" if first.field else first.detail
        raise HttpError(400, message, detail=detail, validations=found)


def name_faults(name: str) -> Faults:
    if len(name) > NAME_CHARACTERS_MAX:
        yield "name", f"has {len(name)} characters, may have {NAME_CHARACTERS_MAX}"
    elif not NAME.fullmatch(name):
        yield "name", "must be lowercase letters and digits, in words joined by single hyphens"


def text_faults(field: str, text: str | None) -> Faults:
    if text and len(text) > TEXT_CHARACTERS_MAX:
        yield field, f"has {len(text)} characters, may have {TEXT_CHARACTERS_MAX}"
    if text and "\0" in text:
        yield field, "has a zero byte in it"


def url_faults(url: str) -> Faults:
    yield from text_faults("base_url", url)
    try:
        split_url(url)
        is_url = not _NO_URL.search(url)
    except ValueError:
        is_url = False
    if not is_url:
        yield "base_url", "must be an absolute http or https URL"


def key_faults(field: str, key: str) -> Faults:
    """Yield what is wrong with a key, without a word of the key itself."""
    size = len(key.encode())
    if not key:
        yield field, "must not be empty"
    elif key != key.strip():
        yield field, "has blanks around it"
    elif size > KEY_BYTES_MAX:
        yield field, f"has {size} bytes, may have {KEY_BYTES_MAX}"
    elif not key.isprintable():
        yield field, "has characters in it that no key has"


def masked(key: str) -> str:
    """Return as much of a key as lets its owner recognise it."""
    shown = 4 if len(key) >= 20 else 2 if len(key) >= 10 else 1 if len(key) >= 5 else 0
    return f"{key[:shown]}...{key[-shown:]}" if shown else "..."


def invalid(field: str, fact: str, message: str = "Invalid setting.") -> HttpError:
    """Return the refusal of a field."""
    validation = Validation(field, fact)
    return HttpError(400, message, detail=f"{field}: {fact}", validations=(validation,))


def model_id_of(said: str | None) -> ModelConfigId | None:
    """Return the id of a model as a client writes it; None: none is named."""
    if not said:
        return None
    try:
        return ModelConfigId(UUID(said))
    except ValueError:
        raise invalid("model_config_id", "must be a UUID or empty") from None


def checked_effort(
    snapshot: CatalogueSnapshot,
    id: ModelConfigId | None,
    effort: str | None,
    *,
    own: UserCatalogue,
    allow_user_keys: bool,
) -> str | None:
    """Return the effort that is stored with a model.

    The request is refused if the model is not on offer, or cannot be asked with that effort.
    """
    if id is None:
        if effort:
            raise invalid("reasoning_effort", "needs a model")
        return None
    model = snapshot.models.get(id)
    if model is None:
        raise invalid("model_config_id", f"there is no model config {id}")
    why = why_unusable(model, own, allow_user_keys=allow_user_keys)
    if why is not None:
        raise invalid("model_config_id", why.why)
    return _effort(model, effort or None)


def _effort(model: ListedModel, effort: str | None) -> str | None:
    if effort is None:
        return None
    if effort not in EFFORTS:
        raise invalid("reasoning_effort", f"must be one of {', '.join(EFFORTS)}")
    offered = efforts_offered(model.call)
    if effort not in offered:
        among = f"takes {', '.join(offered)}" if offered else "has no efforts"
        raise invalid("reasoning_effort", f"model {model.model} {among}")
    return effort


def override_json(context: str, of: Override) -> ModelOverride:
    """Return a model that stands in for another, as clients see it."""
    return ModelOverride(
        context=context,
        model_config_id="" if of.id is None else str(of.id),
        reasoning_effort=of.effort or UNSET,
        is_malformed=of.is_malformed,
    )


def own_override_json(context: str, of: UserOverride) -> PersonalOverride:
    """Return a user's own choice of a model, as clients see it."""
    return PersonalOverride(
        context=context,
        mode=of.mode,
        model_config_id="" if of.model.id is None else str(of.model.id),
        reasoning_effort=of.model.effort or UNSET,
        is_set=of.is_set,
        is_malformed=of.model.is_malformed,
    )


def without_nil(id: UUID | None) -> ModelConfigId | None:
    """Return the id of a model; None for the nil UUID, by which clients say that there is none."""
    return None if id is None or id == NIL else ModelConfigId(id)


ME = "me"


class People(Protocol):
    """A reader of users."""

    async def by_id(self, id: UserId) -> User | None: ...

    async def by_name(self, name: str) -> User | None: ...


async def target_user(people: People, call: Call) -> UserId:
    """Return the user whom a path names: by `me`, id or name.

    Only administrators may name others. The refusal does not tell whether such a user exists.
    """
    said, asker = call.path["user"], call.user
    if said == ME or said.lower() in (str(asker.id), asker.username.lower()):
        return asker.id
    if not asker.is_admin:
        raise not_found()
    try:
        found = await people.by_id(UserId(UUID(said)))
    except ValueError:
        found = await people.by_name(said)
    if found is None or found.is_deleted:
        raise not_found()
    return found.id
