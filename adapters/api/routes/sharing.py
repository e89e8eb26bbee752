"""Sharing: who may read a chat besides its owner."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from uuid import UUID

from msgspec import UNSET

from actors.ids import UserId
from adapters.api.admission import Admission, Visible
from adapters.api.endpoints import Answer, Call, Endpoint, done, said
from adapters.api.refused import Refused, Validation, forbidden
from adapters.api.wire.sharing import ChatACL, ChatGroup, ChatUser, UpdateChatACL
from adapters.postgres.shelves.readers import Everyone, Reader, Readers

ACL = "/api/experimental/chats/{chat}/acl"

READ, NOTHING = "read", ""
NAMED_MAX = 1_000  # users and groups in one request; more are refused
EVERYONE = "Everyone"


class Sharing:
    """`organization` is also the id of its only group, which holds everybody."""

    def __init__(
        self,
        admission: Admission,
        readers: Readers,
        *,
        organization: UUID,
        organization_name: str,
        dropped: Callable[[], None],
        sharing: bool = True,
    ) -> None:
        """`dropped` is called when somebody may read less than before."""
        self._admission = admission
        self._readers = readers
        self._organization = organization
        self._organization_name = organization_name
        self._dropped = dropped
        self._sharing = sharing

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=ACL,
                handle=self.get,
                says="Who may read the chat besides its owner.",
                tag="sharing",
                answers={200: ChatACL},
            ),
            Endpoint(
                method="PATCH",
                path=ACL,
                handle=self.change,
                says="Let others read it, or take that back.",
                tag="sharing",
                body=UpdateChatACL,
                answers={204: None},
            ),
        )

    async def get(self, call: Call) -> Answer:
        chat = await self._admission.to_read(call)
        self._check(chat)
        users, everyone = await self._readers.of(chat.id)
        groups = [] if everyone is None else [self._group(everyone)]
        return said(200, ChatACL([_user(user) for user in users], groups))

    async def change(self, call: Call) -> Answer:
        chat = await self._admission.to_read(call)
        if not self._sharing or not (chat.by_owner or call.user.is_admin):
            raise forbidden("you cannot share this chat")
        self._check(chat)
        asked = call.read(UpdateChatACL)
        users = _roles("user_roles", asked.user_roles or {})
        groups = _roles("group_roles", asked.group_roles or {})
        if call.user.id in users:
            raise Refused(400, "You cannot change your own role.")
        await self._check_known(users, groups)
        await self._readers.change(
            chat.id,
            added=({UserId(id) for id in _with(users, READ)}, set(_with(groups, READ))),
            dropped=({UserId(id) for id in _with(users, NOTHING)}, set(_with(groups, NOTHING))),
        )
        if NOTHING in {*users.values(), *groups.values()}:
            self._dropped()
        return done()

    def _check(self, chat: Visible) -> None:
        if not self._sharing:
            raise forbidden("sharing is switched off here")
        if not chat.is_root:
            raise Refused(
                400,
                "A child chat is shared with its root.",
                detail=f"share {chat.root_id} instead",
            )

    async def _check_known(self, users: Mapping[UUID, str], groups: Mapping[UUID, str]) -> None:
        """Whoever is to read it has to be there; who is not there can be taken off."""
        wanted = {UserId(id) for id in _with(users, READ)}
        strangers = wanted - (await self._readers.known(wanted) if wanted else frozenset())
        faults = [Validation("user_roles", f"there is no user {id}") for id in sorted(strangers)]
        faults += [
            Validation("group_roles", f"there is no group {id}")
            for id in _with(groups, READ)
            if id != self._organization
        ]
        if faults:
            raise _invalid(faults)

    def _group(self, everyone: Everyone) -> ChatGroup:
        return ChatGroup(
            id=everyone.id,
            name=EVERYONE,
            display_name="",
            organization_id=self._organization,
            members=(),
            total_member_count=everyone.members,
            avatar_url="",
            quota_allowance=0,
            source="user",
            organization_name=self._organization_name,
            organization_display_name=self._organization_name,
            role=READ,
        )


def _user(reader: Reader) -> ChatUser:
    return ChatUser(
        id=reader.id,
        username=reader.username,
        name=reader.name or UNSET,
        avatar_url=reader.avatar_url or UNSET,
        role=READ,
    )


def _with(roles: Mapping[UUID, str], role: str) -> Iterator[UUID]:
    return (id for id, given in roles.items() if given == role)


def _roles(field: str, asked: Mapping[str, str]) -> Mapping[UUID, str]:
    """{id: role}. Refused if one is neither."""
    if len(asked) > NAMED_MAX:
        raise _invalid([Validation(field, f"names {len(asked)}, at most {NAMED_MAX}")])
    roles: dict[UUID, str] = {}
    faults = []
    for id, role in asked.items():
        try:
            roles[UUID(id)] = role
        except ValueError:
            faults.append(Validation(field, f"{id[:80]!r} is not a UUID"))
        if role not in (READ, NOTHING):
            faults.append(Validation(field, f"{role[:80]!r} is neither 'read' nor empty"))
    if faults:
        raise _invalid(faults)
    return roles


def _invalid(faults: Sequence[Validation]) -> Refused:
    return Refused(400, "Invalid sharing.", detail=faults[0].detail, validations=tuple(faults))
