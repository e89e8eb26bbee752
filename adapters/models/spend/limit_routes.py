"""The routes of limits: all of them for administrators, the budgets of groups and users as clients
know them, and what a user has left.

A budget is the limit of a month. The other limits, those by day, soft ones and those of all users
together, are at /ai/limits.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from actors.chat.turn.spending import LimitStatus, period_end, period_start
from actors.law.ids import UserId
from actors.law.store.hints import CatalogueChanged, Tell
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    Handler,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import not_found
from adapters.models.catalogue import Catalogue
from adapters.models.routes.checks import People, invalid, target_user
from adapters.models.spend import schemas
from adapters.models.spend.budgets import stated_prices
from adapters.models.spend.groups import GroupStore
from adapters.models.spend.store import NIL, SpendLimit, SpendStatus, SpendStore

LIMITS = "/api/v2/ai/limits"
OVERRIDE = "/api/v2/users/{user}/ai/budget/override"
OWN_SPEND = "/api/v2/users/{user}/ai/spend"
BUDGET = "/api/v2/groups/{group}/ai/budget"
LIMIT_MICROS_MAX = 1_000_000_000_000  # a million dollars; more is refused
BODY_BYTES_MAX = 16 * 1024
INVALID = "Invalid spend limit."


class LimitRoutes:
    """Handlers of limits."""

    def __init__(
        self,
        store: SpendStore,
        groups: GroupStore,
        catalogue: Catalogue,
        *,
        people: People,
        organization: UUID,
        tell: Tell,
    ) -> None:
        self._store = store
        self._groups = groups
        self._catalogue = catalogue
        self._people = people
        self._organization = organization
        self._tell = tell

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=LIMITS,
                handle=self.limits,
                summary="List all limits of spending.",
                tag="spending",
                access=Access.ADMIN,
                scope="settings",
                answers={200: Sequence[schemas.ShownLimit]},
            ),
            Endpoint(
                method="PUT",
                path=LIMITS,
                handle=self.put,
                summary="Set a limit of spending, or remove it by leaving out its amounts.",
                tag="spending",
                access=Access.ADMIN,
                scope="settings",
                body=schemas.PutLimit,
                body_bytes_max=BODY_BYTES_MAX,
                answers={204: None},
            ),
            Endpoint(
                method="GET",
                path=OWN_SPEND,
                handle=self.own,
                summary="Get what a user has spent this month, and which limits hold for them.",
                tag="spending",
                scope="settings",
                answers={200: schemas.UserSpend},
            ),
            *self._budgets(),
        )

    def _budgets(self) -> Sequence[Endpoint]:
        of_group = Endpoint(
            method="GET",
            path=BUDGET,
            handle=self.group_budget,
            summary="Get the monthly budget of each member of a group.",
            tag="spending",
            scope="settings",
            answers={200: schemas.GroupBudget},
        )
        of_user = replace(
            of_group,
            path=OVERRIDE,
            handle=self.override,
            summary="Get the monthly budget that a user has of their own.",
            answers={200: schemas.UserBudgetOverride},
        )
        return (
            of_group,
            _putting(
                of_group,
                self.put_group_budget,
                schemas.UpsertGroupBudget,
                "Set the monthly budget of each member of a group.",
            ),
            _removing(of_group, self.remove_group_budget, "Remove the monthly budget of a group."),
            of_user,
            _putting(
                of_user,
                self.put_override,
                schemas.UpsertUserBudgetOverride,
                "Give a user a monthly budget of their own.",
            ),
            _removing(
                of_user,
                self.remove_override,
                "Remove the monthly budget that a user has of their own.",
            ),
        )

    # all limits

    async def limits(self, call: Call) -> HttpResponse:
        return json_response(
            200, [schemas.present_limit(each) for each in await self._store.limits()]
        )

    async def put(self, call: Call) -> HttpResponse:
        asked = call.read(schemas.PutLimit)
        for field in ("limit_micros", "soft_limit_micros"):
            _check_amount(field, getattr(asked, field))
        subject = NIL
        if asked.scope == "user":
            subject = await self._existing_user(asked.subject_id)
        elif asked.scope == "group":
            subject = await self._existing_group(asked.subject_id)
        elif asked.subject_id not in (None, NIL):
            raise invalid("subject_id", "a deployment has none, leave it out", INVALID)
        hard, soft = asked.limit_micros, asked.soft_limit_micros
        await self._store.put_limit(
            asked.scope, subject, asked.period, hard_micros=hard, soft_micros=soft
        )
        self._tell(CatalogueChanged(None))
        return no_content()

    async def _existing_user(self, id: UUID | None) -> UUID:
        found = None if id is None else await self._people.by_id(UserId(id))
        if found is None or found.is_deleted:
            raise invalid("subject_id", "must be the id of a user", INVALID)
        return found.id

    async def _existing_group(self, id: UUID | None) -> UUID:
        if id is None or await self._groups.one(id) is None:
            raise invalid("subject_id", "must be the id of a group", INVALID)
        return id

    # what a user has left

    async def own(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        status = await self.status(user)
        return json_response(200, user_spend(user, status))

    async def status(self, user: UserId) -> SpendStatus:
        settings = await self._catalogue.settings()
        return await self._store.status(user, stated_prices(settings).default)

    # budgets

    async def group_budget(self, call: Call) -> HttpResponse:
        group = call.uuid("group")
        if not call.user.is_admin and not await self._groups.has(group, call.user.id):
            raise not_found()
        return json_response(200, await self._group_budget(group))

    async def _group_budget(self, group: UUID) -> schemas.GroupBudget:
        found = await self._store.limit("group", group, "month")
        if found is None or found.hard_micros is None:
            raise not_found()
        return schemas.GroupBudget(group, found.hard_micros, found.created_at, found.updated_at)

    async def put_group_budget(self, call: Call) -> HttpResponse:
        group = call.uuid("group")
        asked = call.read(schemas.UpsertGroupBudget)
        _check_amount("spend_limit_micros", asked.spend_limit_micros)
        if await self._groups.one(group) is None:
            raise not_found()
        await self._put_month("group", group, asked.spend_limit_micros)
        return json_response(200, await self._group_budget(group))

    async def remove_group_budget(self, call: Call) -> HttpResponse:
        group = call.uuid("group")
        await self._group_budget(group)
        await self._put_month("group", group, None)
        return no_content()

    async def override(self, call: Call) -> HttpResponse:
        return json_response(200, await self._override(await target_user(self._people, call)))

    async def _override(self, user: UserId) -> schemas.UserBudgetOverride:
        found = await self._store.limit("user", user, "month")
        if found is None or found.hard_micros is None:
            raise not_found()
        group = found.group_id or self._organization
        return schemas.UserBudgetOverride(
            user, group, found.hard_micros, found.created_at, found.updated_at
        )

    async def put_override(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        asked = call.read(schemas.UpsertUserBudgetOverride)
        _check_amount("spend_limit_micros", asked.spend_limit_micros)
        group = asked.group_id or self._organization
        if not await self._groups.has(group, user):
            raise invalid("group_id", "the user is not a member of this group", INVALID)
        await self._put_month("user", user, asked.spend_limit_micros, group)
        return json_response(200, await self._override(user))

    async def remove_override(self, call: Call) -> HttpResponse:
        user = await target_user(self._people, call)
        await self._override(user)
        await self._put_month("user", user, None)
        return no_content()

    async def _put_month(
        self, scope: str, subject: UUID, micros: int | None, group: UUID | None = None
    ) -> None:
        """Set or remove the hard limit of a month; a soft one stays."""
        is_user = scope == "user"
        known = await self._store.limit("user" if is_user else "group", subject, "month")
        soft = None if known is None else known.soft_micros
        await self._store.put_limit(
            "user" if is_user else "group",
            subject,
            "month",
            hard_micros=micros,
            soft_micros=soft,
            group=group,
        )
        self._tell(CatalogueChanged(None))


def _putting(read: Endpoint, handle: Handler, body: type, summary: str) -> Endpoint:
    """Return the row by which administrators set what another row reads."""
    return replace(
        read,
        method="PUT",
        handle=handle,
        summary=summary,
        access=Access.ADMIN,
        body=body,
        body_bytes_max=BODY_BYTES_MAX,
    )


def _removing(read: Endpoint, handle: Handler, summary: str) -> Endpoint:
    return replace(
        read,
        method="DELETE",
        handle=handle,
        summary=summary,
        access=Access.ADMIN,
        answers={204: None},
    )


def user_spend(user: UserId, status: SpendStatus) -> schemas.UserSpend:
    """Return what a user has spent this month, and the limits that hold."""
    month = period_start("month", status.today)
    own = _monthly(status.limits)
    return schemas.UserSpend(
        user_id=user,
        spend_micros=0 if own is None else own.spent_micros,
        spend_limit_micros=None if own is None else own.hard_micros,
        limit_source="" if own is None else own.scope,
        period_start=schemas.midnight(month),
        period_end=schemas.midnight(period_end("month", month)),
        limits=[schemas.present_use(limit) for limit in status.limits],
    )


def _monthly(limits: Sequence[LimitStatus]) -> LimitStatus | None:
    mine = (each for each in limits if each.scope != "deployment" and each.period == "month")
    return next(mine, None)


def monthly_limit(limits: Sequence[SpendLimit], scope: str, subject: UUID) -> int | None:
    """Return the hard limit of a month of one user or group."""
    wanted = (scope, subject, "month")
    found = (each for each in limits if (each.scope, each.subject_id, each.period) == wanted)
    return next((each.hard_micros for each in found), None)


def _check_amount(field: str, micros: int | None) -> None:
    if micros is not None and not 0 <= micros <= LIMIT_MICROS_MAX:
        raise invalid(field, f"is {micros}, must be 0 to {LIMIT_MICROS_MAX}", INVALID)
