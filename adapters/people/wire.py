"""People on the wire: users, their tokens, the organization that all are members of. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType


class Role(Struct, frozen=True):
    name: str
    display_name: str


class ShownUser(Struct, frozen=True):
    id: UUID
    username: str
    name: str
    avatar_url: str
    email: str
    created_at: datetime
    updated_at: datetime
    last_seen_at: datetime
    status: str
    login_type: str
    organization_ids: Sequence[UUID]
    roles: Sequence[Role]
    is_service_account: bool = False
    has_ai_seat: bool = False


class NewUserAnswer(ShownUser, frozen=True, kw_only=True):
    """With the link of who has no password yet."""

    one_time_link: str | UnsetType = UNSET


class UsersPage(Struct, frozen=True):
    users: Sequence[ShownUser]
    count: int


class NewUser(Struct, frozen=True):
    username: str = ""
    name: str | None = None
    email: str | None = None
    password: str | None = None
    roles: Sequence[str] | None = None


class Profile(Struct, frozen=True):
    """What is absent stays."""

    username: str | None = None
    name: str | None = None
    avatar_url: str | None = None


class NewPassword(Struct, frozen=True):
    password: str = ""
    old_password: str | None = None


class Roles(Struct, frozen=True):
    roles: Sequence[str]


class UserRoles(Struct, frozen=True):
    roles: Sequence[str]
    organization_roles: Mapping[str, Sequence[str]] = {}


class OneTimeLink(Struct, frozen=True):
    url: str
    expires_at: datetime


class Login(Struct, frozen=True):
    """One of the two names."""

    password: str
    username: str | None = None
    email: str | None = None


class LoggedIn(Struct, frozen=True):
    session_token: str
    csrf_token: str  # for X-CSRF-TOKEN, where the cookie shows who asks


class Said(Struct, frozen=True):
    message: str


class Method(Struct, frozen=True):
    enabled: bool


class LoginMethods(Struct, frozen=True):
    password: Method = Method(True)
    github: Method = Method(False)
    oidc: Method = Method(False)


class TicketWanted(Struct, frozen=True):
    path: str  # of the stream, without its query


class Ticket(Struct, frozen=True):
    ticket: str  # for the query parameter of that name
    expires_at: datetime


class NewToken(Struct, frozen=True):
    token_name: str | None = None
    lifetime: int | None = None  # nanoseconds
    scope: str | None = None
    scopes: Sequence[str] | None = None


class NewKey(Struct, frozen=True):
    key: str


class ShownToken(Struct, frozen=True):
    id: str
    user_id: UUID
    username: str
    last_used: datetime
    expires_at: datetime
    created_at: datetime
    updated_at: datetime
    login_type: str
    scope: str
    scopes: Sequence[str]
    token_name: str
    lifetime_seconds: int


class TokenBounds(Struct, frozen=True):
    max_token_lifetime: int  # nanoseconds


class Organization(Struct, frozen=True):
    id: UUID
    name: str
    display_name: str
    description: str
    icon: str
    created_at: datetime
    updated_at: datetime
    is_default: bool


class Member(Struct, frozen=True):
    """What members may know of each other."""

    user_id: UUID
    organization_id: UUID
    username: str
    name: str
    avatar_url: str
    created_at: datetime
    updated_at: datetime
    roles: Sequence[Role] = ()
    global_roles: Sequence[Role] = ()
