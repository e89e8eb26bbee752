"""Checks of requests about people: the user of the path, names, roles and the query of a list."""

import re
from collections.abc import Iterable, Sequence
from uuid import UUID

from actors.law.ids import UserId
from adapters.http.endpoints import READ_USERS, Call
from adapters.http.refusals import HttpError, Validation, forbidden, not_found
from adapters.people.auth.passwords import fault_of
from adapters.people.auth.wiring import Auth
from adapters.people.routes.schemas import ROLES
from adapters.people.store.users import User, UserFilter, UserRefusal, UserStatus

MEMBER = "member"  # the role that all users have, and that is not stored

USERNAME_CHARACTERS_MAX = 32
NAME_CHARACTERS_MAX = 128
EMAIL_CHARACTERS_MAX = 254
URL_CHARACTERS_MAX = 2_048
# Words that stand in paths where the name of a user may stand as well.
RESERVED = frozenset({"me", "first", "login", "logout", "authmethods", "count", "roles"})

_USERNAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URL = re.compile(r"https?://[^\s]+")


def refuse_if(faults: Iterable[Validation]) -> None:
    """Refuse a request with these faults, if there are any."""
    found = tuple(faults)
    if found:
        raise HttpError(400, "Validation failed.", validations=found)


def username_faults(username: str) -> Iterable[Validation]:
    """Yield what is wrong with a username."""
    if username.lower() in RESERVED:
        yield Validation("username", "is a word that paths of the API have; choose another")
    if len(username) > USERNAME_CHARACTERS_MAX or not _USERNAME.fullmatch(username):
        yield Validation(
            "username",
            f"must have 1..{USERNAME_CHARACTERS_MAX} letters and digits, with hyphens between",
        )


def name_faults(name: str) -> Iterable[Validation]:
    """Yield what is wrong with a display name."""
    if len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        yield Validation("name", f"must have at most {NAME_CHARACTERS_MAX} visible characters")


def email_faults(email: str) -> Iterable[Validation]:
    """Yield what is wrong with an email address."""
    is_one = _EMAIL.fullmatch(email) and email.isprintable()
    if email and (len(email) > EMAIL_CHARACTERS_MAX or not is_one):
        yield Validation("email", "must be an address: name@host")


def url_faults(field: str, url: str) -> Iterable[Validation]:
    """Yield what is wrong with a web address."""
    is_one = _URL.fullmatch(url) and url.isprintable()
    if url and (len(url) > URL_CHARACTERS_MAX or not is_one):
        yield Validation(field, "must be an address that begins with https:// or http://")


def role_faults(roles: Sequence[str]) -> Iterable[Validation]:
    """Yield what is wrong with roles."""
    for role in roles:
        if role not in ROLES and role != MEMBER:
            yield Validation("roles", f"must be of: {', '.join([*ROLES, MEMBER])}")
            return


def stored_roles(roles: Sequence[str]) -> list[str]:
    """Return roles as they are stored: without that of all users."""
    return sorted({role for role in roles if role != MEMBER})


def password_faults(password: str, *names: str) -> Iterable[Validation]:
    """Yield what is wrong with a password."""
    fault = fault_of(password, *names)
    if fault is not None:
        yield Validation("password", fault)


USERS = "/api/v2/users"
ME = "me"
BODY_BYTES_MAX = 64 * 1024  # of a request about people


async def user_of_path(auth: Auth, call: Call) -> User:
    """Return the user of the path: the caller, or for admins any user.

    Others are told that there is no such user, whether or not there is. A token without the scope
    for users sees its own user at most, where the row asks for no scope.
    """
    said = call.path["user"]
    found = await _named(auth, call, said)
    if found is None or found.is_deleted:
        raise not_found()
    is_self = found.id == call.user.id
    if not (is_self or call.user.is_admin):
        raise not_found()
    if not (is_self or call.user.may(READ_USERS)):
        raise forbidden(f"the token lacks the scope for this: {READ_USERS}")
    return found


async def _named(auth: Auth, call: Call, said: str) -> User | None:
    if said == ME:
        return await auth.cached_users.by_id(call.user.id)
    try:
        found = await auth.cached_users.by_id(UserId(UUID(said)))
    except ValueError:
        found = None
    return found or await auth.cached_users.by_name(said)  # a name may look like an id


def changed_user(outcome: User | UserRefusal) -> User:
    """Return a user after a change, or refuse the request with why there was none."""
    match outcome:
        case UserRefusal.NOT_FOUND:
            raise not_found()
        case UserRefusal.TAKEN:
            detail = "another user has this name or address; choose another"
            raise HttpError(409, "User already exists.", detail=detail)
        case UserRefusal.LAST_ADMIN:
            message = "The last owner cannot be removed, suspended or made less."
            raise HttpError(409, message, detail="make another user an owner first")
        case User():
            return outcome


WORDS_MAX = 20  # of a search; then 400
NUMBER_MAX = 2**31 - 1


def user_filter(call: Call) -> UserFilter:
    """Return which users a query asks for.

    `q` is words that all have to match, `status:…` and `role:…` among them.
    """
    words: list[str] = []
    status: UserStatus | None = None
    role: str | None = None
    for term in (call.one("q") or "").split():
        key, colon, value = term.partition(":")
        if colon and key == "status":
            status = _status(value)
        elif colon and key == "role":
            role = _role(value)
        elif colon:
            raise _refused(key[:80], "is none of status, role")
        else:
            words.append(term)
    if len(words) > WORDS_MAX:
        raise _refused("q", f"has {len(words)} words, may have {WORDS_MAX}")
    return UserFilter(words, status, role, _number(call, "limit"), _number(call, "offset"))


def _status(value: str) -> UserStatus:
    try:
        return UserStatus(value)
    except ValueError:
        raise _refused("status", f"must be {_either(list(UserStatus))}") from None


def _role(value: str) -> str:
    if value not in ROLES:
        raise _refused("role", f"must be {_either(list(ROLES))}")
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
