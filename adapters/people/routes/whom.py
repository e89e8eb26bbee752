"""Whom a request is about, and what became of him."""

from uuid import UUID

from actors.law.ids import UserId
from adapters.http.endpoints import READ_USERS, Call
from adapters.http.refusals import HttpError, forbidden, not_found
from adapters.people.auth.opening import Auth
from adapters.people.store.user import User
from adapters.people.store.users import Not

USERS = "/api/v2/users"
ME = "me"
BODY_BYTES_MAX = 64 * 1024  # of a request about people


async def whom(auth: Auth, call: Call) -> User:
    """The user of the path: oneself, or for admins anybody. Others are told that there is nobody,
    whether or not there is. A token that is not for users is shown its own user at most, where the
    row asks for no scope."""
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
        return await auth.known.of_id(call.user.id)
    try:
        found = await auth.known.of_id(UserId(UUID(said)))
    except ValueError:
        found = None
    return found or await auth.known.called(said)  # a name may look like an id


def settled(outcome: User | Not) -> User:
    """What became of a user, or why nothing did."""
    match outcome:
        case Not.FOUND:
            raise not_found()
        case Not.TAKEN:
            detail = "somebody else has this name or address; choose another"
            raise HttpError(409, "User already exists.", detail=detail)
        case Not.LAST_ADMIN:
            message = "The last owner cannot be removed, suspended or made less."
            raise HttpError(409, message, detail="make another user an owner first")
        case User():
            return outcome
