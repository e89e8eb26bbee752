"""Which users are asked for: the query of a list. Pure."""

from collections.abc import Sequence

from adapters.http.endpoints import Call
from adapters.http.refusals import HttpError, Validation
from adapters.people.routes.shown import ROLES
from adapters.people.store.user import Standing
from adapters.people.store.users import Wanted

WORDS_MAX = 20  # of a search; then 400
NUMBER_MAX = 2**31 - 1


def wanted(call: Call) -> Wanted:
    """`q` is words that all have to match, `status:…` and `role:…` among them."""
    words: list[str] = []
    status: Standing | None = None
    role: str | None = None
    for term in (call.one("q") or "").split():
        key, colon, value = term.partition(":")
        if colon and key == "status":
            status = _status(value)
        elif colon and key == "role":
            role = _role(value)
        elif colon:
            raise _refused("q", f"knows no {key}:, but status: and role:")
        else:
            words.append(term)
    if len(words) > WORDS_MAX:
        raise _refused("q", f"has {len(words)} words, may have {WORDS_MAX}")
    return Wanted(words, status, role, _number(call, "limit"), _number(call, "offset"))


def _status(value: str) -> Standing:
    try:
        return Standing(value)
    except ValueError:
        raise _refused("q", f"status: must be {_either(list(Standing))}") from None


def _role(value: str) -> str:
    if value not in ROLES:
        raise _refused("q", f"role: must be {_either(list(ROLES))}")
    return value


def _number(call: Call, name: str) -> int:
    text = call.one(name) or "0"
    if not (text.isascii() and text.isdecimal() and len(text) < 11 and int(text) <= NUMBER_MAX):
        raise _refused(name, "must be a whole number that is not negative")
    return int(text)


def _either(words: Sequence[str]) -> str:
    return " or ".join(words)


def _refused(field: str, detail: str) -> HttpError:
    return HttpError(400, "Invalid user search query.", validations=(Validation(field, detail),))
