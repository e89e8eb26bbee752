"""Lists of readers, of chats and of servers of tools alike: shown, and read from requests.

The organization's id is also the id of its only group, which holds everybody.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from uuid import UUID

from msgspec import UNSET

from actors.law.ids import UserId
from adapters.access.readers import Everyone, Reader, Readers
from adapters.access.wire import ChatACL, ChatGroup, ChatUser, UpdateChatACL
from adapters.http.endpoints import Call
from adapters.models.routes.checks import Faults, refuse_if

READ, NOTHING = "read", ""
NAMED_MAX = 1_000  # users, and groups, in one request; more are refused
EVERYONE = "Everyone"
INVALID = "Invalid sharing."

Named = tuple[Set[UserId], Set[UUID]]  # users, and groups


@dataclass(frozen=True, slots=True)
class Roles:
    """What is to change: {id: READ or NOTHING}. Who is not named stays as he is."""

    users: Mapping[UUID, str]
    groups: Mapping[UUID, str]

    @property
    def added(self) -> Named:
        return self._with(READ)

    @property
    def dropped(self) -> Named:
        return self._with(NOTHING)

    def _with(self, role: str) -> Named:
        users = {UserId(id) for id, given in self.users.items() if given == role}
        return users, {id for id, given in self.groups.items() if given == role}


@dataclass(frozen=True, slots=True)
class AccessLists:
    people: Readers
    organization: UUID
    organization_name: str

    def shown(self, users: Sequence[Reader], everyone: Everyone | None) -> ChatACL:
        groups = [] if everyone is None else [self._group(everyone)]
        return ChatACL([_user(user) for user in users], groups)

    async def check_known(self, roles: Roles) -> None:
        """Whoever is to read has to be there; who is not there can be taken off."""
        users, groups = roles.added
        strangers = users - (await self.people.known(users) if users else frozenset())
        faults = [("user_roles", f"there is no user {id}") for id in sorted(strangers)]
        others = sorted(groups - {self.organization})
        refuse_if(
            [*faults, *(("group_roles", f"there is no group {id}") for id in others)], INVALID
        )

    def _group(self, everyone: Everyone) -> ChatGroup:
        return ChatGroup(
            id=everyone.id,
            name=EVERYONE,
            display_name="",
            organization_id=self.organization,
            members=(),
            total_member_count=everyone.members,
            avatar_url="",
            quota_allowance=0,
            source="user",
            organization_name=self.organization_name,
            organization_display_name=self.organization_name,
            role=READ,
        )


def asked_roles(call: Call) -> Roles:
    """Of the request's body, as far as it makes sense by itself."""
    asked = call.read(UpdateChatACL)
    given = {"user_roles": asked.user_roles or {}, "group_roles": asked.group_roles or {}}
    refuse_if((fault for field, roles in given.items() for fault in _faults(field, roles)), INVALID)
    users, groups = ({UUID(id): role for id, role in roles.items()} for roles in given.values())
    return Roles(users, groups)


def _faults(field: str, roles: Mapping[str, str]) -> Faults:
    if len(roles) > NAMED_MAX:
        yield field, f"names {len(roles)}, at most {NAMED_MAX}"
        return
    for id, role in roles.items():
        yield from _role_faults(field, id, role)


def _role_faults(field: str, id: str, role: str) -> Iterator[tuple[str, str]]:
    try:
        UUID(id)
    except ValueError:
        yield field, f"{id[:80]!r} is not a UUID"
    if role not in (READ, NOTHING):
        yield field, f"{role[:80]!r} is neither 'read' nor empty"


def _user(reader: Reader) -> ChatUser:
    return ChatUser(
        id=reader.id,
        username=reader.username,
        name=reader.name or UNSET,
        avatar_url=reader.avatar_url or UNSET,
        role=READ,
    )
