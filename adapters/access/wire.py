"""Who may read a chat besides its owner, on the wire. Pure."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType


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
    """{id: "read", or "" to take it back}; who is not named stays as he is."""

    user_roles: Mapping[str, str] | None = None
    group_roles: Mapping[str, str] | None = None
