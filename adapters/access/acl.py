"""Lists of readers: stored, shown, and changed by requests. Chats and servers of tools have them.

The organization's id is also the id of its only group, which holds everybody.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from actors.law.ids import ChatId, UserId
from adapters.http.endpoints import Call
from adapters.models.routes.checks import Faults, refuse_if
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

READ, NOTHING = "read", ""
NAMED_MAX = 1_000  # users, and groups, in one request; more are refused
EVERYONE = "Everyone"
INVALID = "Invalid sharing."

Subjects = tuple[Set[UserId], Set[UUID]]  # users, and groups


class ChatUser(Struct, frozen=True, kw_only=True):
    id: UUID
    username: str
    name: str | UnsetType = UNSET
    avatar_url: str | UnsetType = UNSET
    role: str


class ChatGroup(Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    display_name: str
    organization_id: UUID
    members: Sequence[ChatUser]  # never listed: there may be many
    total_member_count: int
    avatar_url: str
    quota_allowance: int
    source: str
    organization_name: str
    organization_display_name: str
    role: str


class ChatACL(Struct, frozen=True):
    users: Sequence[ChatUser]
    groups: Sequence[ChatGroup]


class UpdateChatACL(Struct, frozen=True):
    """A change of the list: {id: "read", or "" to take it back}. Users not named are left."""

    user_roles: Mapping[str, str] | None = None
    group_roles: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class NamedReader:
    """A user who may read a chat, or use a server of tools, that is not theirs."""

    id: UserId
    username: str
    name: str
    avatar_url: str


@dataclass(frozen=True, slots=True)
class EveryoneGroup:
    """The group that holds all users."""

    id: UUID
    members: int


class ReaderStore:
    """The readers of families of chats besides the owner, on PostgreSQL."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of(self, root: ChatId) -> tuple[list[NamedReader], EveryoneGroup | None]:
        """Return its readers by name, and the group of all users if it is shared with them."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["readers"], {"chat": root})
        users = [NamedReader(*row[:-1]) for row in found if row[1] is not None]
        groups = [EveryoneGroup(row[0], row[-1]) for row in found if row[1] is None]
        return users, groups[0] if groups else None

    async def existing(self, wanted: Set[UserId]) -> frozenset[UserId]:
        """Return those of these users that exist."""
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["known_users"], {"wanted": list(wanted)})
        return frozenset(id for (id,) in found)

    async def change(
        self,
        root: ChatId,
        *,
        added: Subjects,
        dropped: Subjects,
    ) -> None:
        """Add and drop users and groups, all of them or none. Those that are there already stay."""
        changes = ((SQL["drop_readers"], dropped), (SQL["add_readers"], added))
        writing = [
            (sql, {"chat": root, "users": list(users), "groups": list(groups)})
            for sql, (users, groups) in changes
        ]
        async with self._pool.connection() as connection:
            await connection.commit(writing)


@dataclass(frozen=True, slots=True)
class RoleChanges:
    """A requested change: {id: READ or NOTHING}. Users and groups not named are left."""

    users: Mapping[UUID, str]
    groups: Mapping[UUID, str]

    @property
    def added(self) -> Subjects:
        """Return the users and groups that are to become readers."""
        return self._with(READ)

    @property
    def dropped(self) -> Subjects:
        """Return the users and groups that are to be readers no more."""
        return self._with(NOTHING)

    def _with(self, role: str) -> Subjects:
        users = {UserId(id) for id, given in self.users.items() if given == role}
        return users, {id for id, given in self.groups.items() if given == role}


@dataclass(frozen=True, slots=True)
class AccessLists:
    """Lists of readers as the API shows and checks them, of one organization."""

    readers: ReaderStore
    organization: UUID
    organization_name: str

    def document(self, users: Sequence[NamedReader], everyone: EveryoneGroup | None) -> ChatACL:
        """Return a list of readers as clients get it."""
        groups = [] if everyone is None else [self._group(everyone)]
        return ChatACL([_user(user) for user in users], groups)

    async def check_known(self, roles: RoleChanges) -> None:
        """Refuse readers to add that do not exist; those to drop need not exist."""
        users, groups = roles.added
        strangers = users - (await self.readers.existing(users) if users else frozenset())
        faults = [("user_roles", f"there is no user {id}") for id in sorted(strangers)]
        others = sorted(groups - {self.organization})
        refuse_if(
            [*faults, *(("group_roles", f"there is no group {id}") for id in others)], INVALID
        )

    def _group(self, everyone: EveryoneGroup) -> ChatGroup:
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


def role_changes_of(call: Call) -> RoleChanges:
    """Read the change from the request's body. Refused if it makes no sense by itself."""
    asked = call.read(UpdateChatACL)
    given = {"user_roles": asked.user_roles or {}, "group_roles": asked.group_roles or {}}
    refuse_if((fault for field, roles in given.items() for fault in _faults(field, roles)), INVALID)
    users, groups = ({UUID(id): role for id, role in roles.items()} for roles in given.values())
    return RoleChanges(users, groups)


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


def _user(reader: NamedReader) -> ChatUser:
    return ChatUser(
        id=reader.id,
        username=reader.username,
        name=reader.name or UNSET,
        avatar_url=reader.avatar_url or UNSET,
        role=READ,
    )
