"""Spending as JSON: limits, budgets, what was spent, groups and prices. Amounts are in millionths
of a US dollar."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

from actors.chat.turn.spending import LimitStatus, Period, Scope
from adapters.models.spend.groups import Group, GroupUser
from adapters.models.spend.store import SpendLimit
from adapters.models.spend.usage import UsageRow
from adapters.people.routes.schemas import ORGANIZATION


class ShownLimit(Struct, frozen=True):
    """A limit; the subject of a deployment's is the nil UUID."""

    scope: Scope
    subject_id: UUID
    name: str
    period: Period
    limit_micros: int | None
    soft_limit_micros: int | None
    created_at: datetime
    updated_at: datetime


class PutLimit(Struct, frozen=True):
    """A limit to set; without amounts it is removed."""

    scope: Scope
    period: Period
    subject_id: UUID | None = None  # of a deployment's limit there is none
    limit_micros: int | None = None
    soft_limit_micros: int | None = None


class LimitUse(Struct, frozen=True):
    """A limit that holds for a user, and what of it is used now."""

    scope: Scope
    name: str
    period: Period
    period_start: datetime
    period_end: datetime
    limit_micros: int | None
    soft_limit_micros: int | None
    spent_micros: int
    reserved_micros: int  # set aside for calls that run now
    is_reached: bool


class UserSpend(Struct, frozen=True):
    """The spending of a user in this month, and the limits that hold."""

    user_id: UUID
    spend_micros: int
    spend_limit_micros: int | None  # of the month; null: there is none
    limit_source: str  # user, group or nothing
    period_start: datetime
    period_end: datetime
    limits: Sequence[LimitUse]


class GroupBudget(Struct, frozen=True):
    """The monthly limit of each member of a group."""

    group_id: UUID
    spend_limit_micros: int
    created_at: datetime
    updated_at: datetime


class UpsertGroupBudget(Struct, frozen=True):
    spend_limit_micros: int


class UserBudgetOverride(Struct, frozen=True):
    """The monthly limit of a user, which goes before those of their groups."""

    user_id: UUID
    group_id: UUID
    spend_limit_micros: int
    created_at: datetime
    updated_at: datetime


class UpsertUserBudgetOverride(Struct, frozen=True):
    spend_limit_micros: int
    group_id: UUID | None = None  # absent: that of everyone


class GroupSpend(Struct, frozen=True):
    """The spending of the members of a group in this month."""

    group_id: UUID
    spend_micros: int
    spend_limit_micros: int | None  # of each member
    period_start: datetime
    period_end: datetime


class MemberSpend(Struct, frozen=True):
    user_id: UUID
    spend_micros: int
    spend_limit_micros: int | None


class MemberSpends(Struct, frozen=True):
    members: Sequence[MemberSpend]
    period_start: datetime
    period_end: datetime


class Usage(Struct, frozen=True):
    rows: Sequence[UsageRow]


class GroupMember(Struct, frozen=True):
    id: UUID
    username: str
    name: str
    email: str
    avatar_url: str
    status: str
    last_seen_at: datetime | None
    created_at: datetime
    updated_at: datetime


class ShownGroup(Struct, frozen=True):
    id: UUID
    name: str
    display_name: str
    organization_id: UUID
    members: Sequence[GroupMember]
    total_member_count: int
    avatar_url: str
    quota_allowance: int
    source: str
    organization_name: str
    organization_display_name: str


class NewGroup(Struct, frozen=True):
    name: str
    display_name: str = ""
    avatar_url: str = ""


class ChangedGroup(Struct, frozen=True):
    """A change of a group; what is absent stays."""

    name: str | None = None
    display_name: str | None = None
    avatar_url: str | None = None
    add_users: Sequence[str] = ()  # ids or names
    remove_users: Sequence[str] = ()


class StatedPrice(Struct, frozen=True, omit_defaults=True):
    """The price of a million tokens in US dollars, as decimal texts. Without a price of their own,
    cached tokens cost what input costs, and thoughts what output costs."""

    input: str
    output: str
    cache_read: str | UnsetType = UNSET
    cache_creation: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET


class StatedModelPrices(Struct, frozen=True):
    """The prices that administrators state, by provider/model, which go before the bundled table.
    `default_price` is for models that neither knows; null: a limit refuses these models."""

    prices: Mapping[str, StatedPrice]
    default_price: StatedPrice | None = None


def present_limit(limit: SpendLimit) -> ShownLimit:
    """Return a limit as clients see it."""
    return ShownLimit(
        limit.scope,
        limit.subject_id,
        limit.name,
        limit.period,
        limit.hard_micros,
        limit.soft_micros,
        limit.created_at,
        limit.updated_at,
    )


def present_use(limit: LimitStatus) -> LimitUse:
    """Return a limit with its use as clients see it."""
    return LimitUse(
        limit.scope,
        limit.name,
        limit.period,
        midnight(limit.starts_on),
        midnight(limit.ends_on),
        limit.hard_micros,
        limit.soft_micros,
        limit.spent_micros,
        limit.reserved_micros,
        limit.is_spent,
    )


def present_group(group: Group, users: Sequence[GroupUser], organization: UUID) -> ShownGroup:
    """Return a group as clients see it."""
    return ShownGroup(
        id=group.id,
        name=group.name,
        display_name=group.display_name,
        organization_id=organization,
        members=[
            GroupMember(
                each.id,
                each.username,
                each.name,
                each.email,
                each.avatar_url,
                each.status,
                each.last_seen_at,
                each.created_at,
                each.updated_at,
            )
            for each in users
        ],
        total_member_count=group.members_count,
        avatar_url=group.avatar_url,
        quota_allowance=0,
        source="user",
        organization_name=ORGANIZATION,
        organization_display_name=ORGANIZATION.capitalize(),
    )


def midnight(day: date) -> datetime:
    """Return the beginning of a day of UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
