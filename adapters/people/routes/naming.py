"""What names, addresses, roles and passwords may look like. Pure."""

import re
from collections.abc import Iterable, Sequence

from adapters.http.refusals import HttpError, Validation
from adapters.people.auth.passwords import fault_of
from adapters.people.routes.shown import ROLES

MEMBER = "member"  # the role that everybody has, and that stands nowhere

USERNAME_CHARACTERS_MAX = 32
NAME_CHARACTERS_MAX = 128
EMAIL_CHARACTERS_MAX = 254
URL_CHARACTERS_MAX = 2_048
# Words that stand in paths where the name of a user may stand as well.
RESERVED = frozenset({"me", "first", "login", "logout", "authmethods", "count"})

_USERNAME = re.compile(r"[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URL = re.compile(r"https?://[^\s]+")


def refuse_if(faults: Iterable[Validation]) -> None:
    found = tuple(faults)
    if found:
        raise HttpError(400, "Validation failed.", validations=found)


def username_faults(username: str) -> Iterable[Validation]:
    if username.lower() in RESERVED:
        yield Validation("username", "is a word that paths of the API have; choose another")
    if len(username) > USERNAME_CHARACTERS_MAX or not _USERNAME.fullmatch(username):
        yield Validation(
            "username",
            f"must have 1..{USERNAME_CHARACTERS_MAX} letters and digits, with hyphens between",
        )


def name_faults(name: str) -> Iterable[Validation]:
    if len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        yield Validation("name", f"must have at most {NAME_CHARACTERS_MAX} visible characters")


def email_faults(email: str) -> Iterable[Validation]:
    is_one = _EMAIL.fullmatch(email) and email.isprintable()
    if email and (len(email) > EMAIL_CHARACTERS_MAX or not is_one):
        yield Validation("email", "must be an address: somebody@somewhere")


def url_faults(field: str, url: str) -> Iterable[Validation]:
    is_one = _URL.fullmatch(url) and url.isprintable()
    if url and (len(url) > URL_CHARACTERS_MAX or not is_one):
        yield Validation(field, "must be an address that begins with https:// or http://")


def role_faults(roles: Sequence[str]) -> Iterable[Validation]:
    for role in roles:
        if role not in ROLES and role != MEMBER:
            yield Validation("roles", f"must be of: {', '.join([*ROLES, MEMBER])}")
            return


def stored_roles(roles: Sequence[str]) -> list[str]:
    return sorted({role for role in roles if role != MEMBER})


def password_faults(password: str, *names: str) -> Iterable[Validation]:
    fault = fault_of(password, *names)
    if fault is not None:
        yield Validation("password", fault)
