"""People as JSON: users, their tokens, their organization; and how each is presented. Pure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType, structs

from adapters.people.store.deployment import Deployment
from adapters.people.store.tokens import ListedToken, TokenKind
from adapters.people.store.users import OWNER, User


class GrantedRole(Struct, frozen=True):
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
    roles: Sequence[GrantedRole]
    is_service_account: bool = False
    has_ai_seat: bool = False


class NewUserAnswer(ShownUser, frozen=True, kw_only=True):
    """A new user, with a link if they have no password yet."""

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
    """Names and picture of a user. What is absent stays."""

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


class LoginRequest(Struct, frozen=True):
    """A login with one of the two names."""

    password: str
    username: str | None = None
    email: str | None = None


class LoginAnswer(Struct, frozen=True):
    session_token: str
    csrf_token: str  # for X-CSRF-TOKEN, where the request carries only the cookie


class MessageAnswer(Struct, frozen=True):
    message: str


class Method(Struct, frozen=True):
    enabled: bool


class LoginMethods(Struct, frozen=True):
    password: Method = Method(True)
    github: Method = Method(False)
    oidc: Method = Method(False)


class TicketRequest(Struct, frozen=True):
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


class ShownSession(Struct, frozen=True):
    """A session in a browser. Its id stands in the path that ends it, and is no secret."""

    id: str
    created_at: datetime
    last_used: datetime
    expires_at: datetime
    is_current: bool  # whether the request belongs to it


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
    default_org_member_roles: Sequence[str] = ()  # none beside what every member may do


class Member(Struct, frozen=True):
    """A member, as far as members may know of each other."""

    user_id: UUID
    organization_id: UUID
    username: str
    name: str
    avatar_url: str
    created_at: datetime
    updated_at: datetime
    roles: Sequence[GrantedRole] = ()
    global_roles: Sequence[GrantedRole] = ()


NEVER = datetime.min.replace(tzinfo=UTC)  # clients of this API read it as no time at all
FOR_EVER = datetime(9999, 12, 31, tzinfo=UTC)
ORGANIZATION = "default"
ROLES = {OWNER: "Owner"}


def is_organization(said: str, id: UUID) -> bool:
    """Return whether a path names the one organization: by its id, or by its name."""
    return said.lower() in (str(id), ORGANIZATION)


def present_user(of: User, organization: UUID) -> ShownUser:
    """Return a user as clients see them."""
    return ShownUser(
        id=of.id,
        username=of.username,
        name=of.name,
        avatar_url=of.avatar_url,
        email=of.email,
        created_at=of.created_at,
        updated_at=of.updated_at,
        last_seen_at=of.last_seen_at or NEVER,
        status=of.status.value,
        login_type="password",
        organization_ids=(organization,),
        roles=_roles(of),
    )


def present_new_user(of: User, organization: UUID, link: str) -> NewUserAnswer:
    """Return a user without a password, and the link to set one, which is shown once."""
    return NewUserAnswer(**structs.asdict(present_user(of, organization)), one_time_link=link)


def _roles(of: User) -> list[GrantedRole]:
    return [GrantedRole(role, ROLES[role]) for role in sorted(of.roles)]


def present_member(of: User, organization: UUID) -> Member:
    """Return a user as other members see them."""
    return Member(
        of.id,
        organization,
        of.username,
        of.name,
        of.avatar_url,
        of.created_at,
        of.updated_at,
        global_roles=_roles(of),
    )


def present_token(of: ListedToken) -> ShownToken:
    """Return a token without its secret."""
    expires_at = of.expires_at or FOR_EVER
    scopes = list(of.scopes)
    return ShownToken(
        id=of.id,
        user_id=of.user_id,
        username=of.username,
        last_used=of.last_used_at or NEVER,
        expires_at=expires_at,
        created_at=of.created_at,
        updated_at=of.last_used_at or of.created_at,
        login_type="password" if of.kind is TokenKind.SESSION else "token",
        scope=scopes[0] if len(scopes) == 1 else "",
        scopes=scopes,
        token_name=of.name,
        lifetime_seconds=int((expires_at - of.created_at).total_seconds()),
    )


def present_session(of: ListedToken, *, current: str) -> ShownSession:
    """Return a session without its secret. `current` is the id of the request's token."""
    return ShownSession(
        id=of.id,
        created_at=of.created_at,
        last_used=of.last_used_at or of.created_at,
        expires_at=of.expires_at or FOR_EVER,
        is_current=of.id == current,
    )


def present_organization(of: Deployment) -> Organization:
    """Return the one organization of the deployment."""
    return Organization(
        id=of.organization_id,
        name=ORGANIZATION,
        display_name="Default",
        description="Everybody in this deployment.",
        icon="",
        created_at=of.created_at,
        updated_at=of.created_at,
        is_default=True,
    )
