"""The user of a path: oneself, or for administrators anybody."""

from typing import Protocol
from uuid import UUID

from actors.law.ids import UserId
from adapters.http.endpoints import Call
from adapters.http.refusals import not_found
from adapters.people.store.user import User

ME = "me"


class People(Protocol):
    async def of_id(self, id: UserId) -> User | None: ...

    async def called(self, name: str) -> User | None: ...


async def whose(people: People, call: Call) -> UserId:
    """By `me`, id or name. Others are told that there is nobody, whether or not there is."""
    said, asker = call.path["user"], call.user
    if said == ME or said.lower() in (str(asker.id), asker.username.lower()):
        return asker.id
    if not asker.is_admin:
        raise not_found()
    try:
        found = await people.of_id(UserId(UUID(said)))
    except ValueError:
        found = await people.called(said)
    if found is None or found.is_deleted:
        raise not_found()
    return found.id
