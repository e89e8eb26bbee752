"""The routes of groups of users, for administrators."""

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    HttpResponse,
    json_response,
)
from adapters.http.refusals import HttpError, not_found
from adapters.models.routes.checks import NAME_CHARACTERS_MAX, People, invalid, text_faults
from adapters.models.spend import schemas
from adapters.models.spend.groups import GROUPS_MAX, Group, GroupStore
from adapters.people.routes.schemas import MessageAnswer, is_organization

GROUPS = "/api/v2/organizations/{organization}/groups"
GROUP = "/api/v2/groups/{group}"
NAMED_MAX = 1_000  # users in one request; more are refused
BODY_BYTES_MAX = 128 * 1024
INVALID = "Invalid group."
_NAME = re.compile(r"[A-Za-z0-9]+(?:[-_ ][A-Za-z0-9]+)*")


class GroupRoutes:
    """Handlers of groups."""

    def __init__(
        self, groups: GroupStore, *, people: People, organization: UUID, tell: Tell
    ) -> None:
        self._groups = groups
        self._people = people
        self._organization = organization
        self._tell = tell

    def endpoints(self) -> Sequence[Endpoint]:
        listing = Endpoint(
            method="GET",
            path=GROUPS,
            handle=self.all,
            summary="List the groups of users; that of everyone comes first.",
            tag="groups",
            access=Access.ADMIN,
            scope="users",
            answers={200: Sequence[schemas.ShownGroup]},
        )
        reading = replace(
            listing,
            path=GROUP,
            handle=self.read,
            summary="Get a group with its members.",
            answers={200: schemas.ShownGroup},
        )
        return (
            listing,
            replace(
                listing,
                method="POST",
                handle=self.add,
                summary="Make a group of users.",
                body=schemas.NewGroup,
                body_bytes_max=BODY_BYTES_MAX,
                answers={201: schemas.ShownGroup},
                refusals=(409,),
            ),
            reading,
            replace(
                reading,
                method="PATCH",
                handle=self.change,
                summary="Rename a group, or add and remove members.",
                body=schemas.ChangedGroup,
                body_bytes_max=BODY_BYTES_MAX,
                refusals=(409,),
            ),
            replace(
                reading,
                method="DELETE",
                handle=self.remove,
                summary="Remove a group, with its limits.",
                answers={200: MessageAnswer},
            ),
        )

    async def all(self, call: Call) -> HttpResponse:
        self._refuse_another(call)
        groups = await self._groups.all()
        return json_response(
            200, [schemas.present_group(each, (), self._organization) for each in groups]
        )

    async def add(self, call: Call) -> HttpResponse:
        self._refuse_another(call)
        asked = call.read(schemas.NewGroup)
        _check(asked.name, asked.display_name, asked.avatar_url)
        id = await self._groups.add(asked.name, asked.display_name, asked.avatar_url)
        if id is None:
            detail = f"{asked.name}: the name is taken, or there are {GROUPS_MAX} groups already"
            raise HttpError(409, "There cannot be a group of this name.", detail=detail)
        return json_response(201, await self._shown(id))

    async def read(self, call: Call) -> HttpResponse:
        return json_response(200, await self._shown(call.uuid("group")))

    async def change(self, call: Call) -> HttpResponse:
        asked, group = call.read(schemas.ChangedGroup), await self._own_group(call)
        if len(asked.add_users) + len(asked.remove_users) > NAMED_MAX:
            raise invalid("add_users", f"may name {NAMED_MAX} users at once", INVALID)
        changed = replace(
            group,
            name=group.name if asked.name is None else asked.name,
            display_name=group.display_name if asked.display_name is None else asked.display_name,
            avatar_url=group.avatar_url if asked.avatar_url is None else asked.avatar_url,
        )
        _check(changed.name, changed.display_name, changed.avatar_url)
        added = [await self._user("add_users", said) for said in asked.add_users]
        dropped = [await self._user("remove_users", said) for said in asked.remove_users]
        if not await self._groups.change(changed, added=added, dropped=dropped):
            raise HttpError(409, "There is another group of this name.", detail=changed.name)
        self._tell(CatalogueChanged(None))
        return json_response(200, await self._shown(group.id))

    async def remove(self, call: Call) -> HttpResponse:
        group = await self._own_group(call)
        if not await self._groups.remove(group.id):
            raise not_found()
        self._tell(CatalogueChanged(None))
        return json_response(200, MessageAnswer("The group was removed."))

    async def _own_group(self, call: Call) -> Group:
        """Return a group that can be changed. That of everyone cannot."""
        found = await self._groups.one(call.uuid("group"))
        if found is None:
            raise not_found()
        if found.id == self._organization:
            raise HttpError(400, "The group of everyone cannot be changed.")
        return found

    async def _shown(self, id: UUID) -> schemas.ShownGroup:
        found = await self._groups.one(id)
        if found is None:
            raise not_found()
        users = await self._groups.users(id)
        return schemas.present_group(found, users, self._organization)

    async def _user(self, field: str, said: str) -> UUID:
        try:
            found = await self._people.by_id(UserId(UUID(said)))
        except ValueError:
            found = await self._people.by_name(said)
        if found is None or found.is_deleted:
            raise invalid(field, f"there is no user {said[:80]}", INVALID)
        return found.id

    def _refuse_another(self, call: Call) -> None:
        if not is_organization(call.path["organization"], self._organization):
            raise not_found()


def _check(name: str, display_name: str, avatar_url: str) -> None:
    if len(name) > NAME_CHARACTERS_MAX or not _NAME.fullmatch(name) or name.lower() == "everyone":
        fact = f"must be 1..{NAME_CHARACTERS_MAX} letters and digits, and not `everyone`"
        raise invalid("name", fact, INVALID)
    for field, text in (("display_name", display_name), ("avatar_url", avatar_url)):
        for at, fact in text_faults(field, text):
            raise invalid(at, fact, INVALID)
