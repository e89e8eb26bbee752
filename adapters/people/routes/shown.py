"""Users, tokens and the organization as clients are shown them. Pure."""

from datetime import UTC, datetime
from uuid import UUID

from msgspec import structs

from adapters.people.store.deployment import Deployment
from adapters.people.store.tokens import Kind, Token
from adapters.people.store.user import OWNER, User
from adapters.people.wire import Member, NewUserAnswer, Organization, Role, ShownToken, ShownUser

NEVER = datetime.min.replace(tzinfo=UTC)  # what clients of this API take for no time at all
FOR_EVER = datetime(9999, 12, 31, tzinfo=UTC)
ORGANIZATION = "default"
ROLES = {OWNER: "Owner"}


def user(of: User, organization: UUID) -> ShownUser:
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
        roles=roles(of),
    )


def new_user(of: User, organization: UUID, link: str) -> NewUserAnswer:
    """Who has no password yet, and the link to set one, which is shown once."""
    return NewUserAnswer(**structs.asdict(user(of, organization)), one_time_link=link)


def roles(of: User) -> list[Role]:
    return [Role(role, ROLES[role]) for role in sorted(of.roles)]


def member(of: User, organization: UUID) -> Member:
    return Member(
        of.id,
        organization,
        of.username,
        of.name,
        of.avatar_url,
        of.created_at,
        of.updated_at,
        global_roles=roles(of),
    )


def token(of: Token) -> ShownToken:
    expires_at = of.expires_at or FOR_EVER
    scopes = list(of.scopes)
    return ShownToken(
        id=of.id,
        user_id=of.user,
        username=of.username,
        last_used=of.last_used_at or NEVER,
        expires_at=expires_at,
        created_at=of.created_at,
        updated_at=of.last_used_at or of.created_at,
        login_type="password" if of.kind is Kind.SESSION else "token",
        scope=scopes[0] if len(scopes) == 1 else "",
        scopes=scopes,
        token_name=of.name,
        lifetime_seconds=int((expires_at - of.created_at).total_seconds()),
    )


def organization(of: Deployment) -> Organization:
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
