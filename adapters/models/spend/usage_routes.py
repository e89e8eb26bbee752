"""The routes of what was spent, and of the prices that administrators state."""

import csv
import io
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from msgspec import UNSET, structs

from actors.chat.turn.spending import period_end, period_start
from actors.law.ids import UserId
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    Handler,
    HttpResponse,
    Parameter,
    json_response,
)
from adapters.http.refusals import HttpError, not_found, query_refused
from adapters.models import settings as names
from adapters.models.catalogue import Catalogue
from adapters.models.routes.checks import People, invalid
from adapters.models.spend import schemas
from adapters.models.spend.groups import Group, GroupStore
from adapters.models.spend.limit_routes import monthly_limit
from adapters.models.spend.store import SpendStore
from adapters.models.spend.usage import (
    DAYS_MAX,
    ROWS_MAX,
    TooManyRows,
    UsageQuestion,
    UsageReader,
    UsageRow,
)
from adapters.models.store.settings import SettingStore
from adapters.people.routes.schemas import is_organization
from runtime.clock import wall

USAGE = "/api/v2/ai/usage"
PRICES = "/api/experimental/ai/model-prices"
GROUP_SPEND = "/api/v2/groups/{group}/ai/spend"
MEMBERS_SPEND = "/api/v2/groups/{group}/members/ai/spend"
GROUPS_SPEND = "/api/v2/organizations/{organization}/groups/ai/spend"
EXPORT = "/api/v2/organizations/{organization}/ai/spend/export"
KINDS = ("day", "user", "model", "what")
PRICES_MAX = 1_000  # that are stated; more are refused
PRICE_MAX = Decimal(1_000_000)  # dollars for a million tokens
NAME_CHARACTERS_MAX = 256
IDS_MAX = 1_000  # in one query
BODY_BYTES_MAX = 512 * 1024
COLUMNS = UsageRow.__struct_fields__


class UsageRoutes:
    """Handlers of what was spent, and of prices."""

    def __init__(
        self,
        usage: UsageReader,
        store: SpendStore,
        groups: GroupStore,
        catalogue: Catalogue,
        settings: SettingStore,
        *,
        people: People,
        organization: UUID,
    ) -> None:
        self._usage = usage
        self._store = store
        self._groups = groups
        self._catalogue = catalogue
        self._settings = settings
        self._people = people
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        since = Parameter(name="from", help="the first day, YYYY-MM-DD; default: of this month")
        until = Parameter(name="to", help="the last day; default: today")
        ids = "ids, joined by commas"
        reading = _admins(PRICES, self.prices, "Get the stated prices.", schemas.StatedModelPrices)
        return (
            Endpoint(
                method="GET",
                path=USAGE,
                handle=self.usage,
                summary="Get what was spent: by users themselves, or by all for administrators.",
                tag="spending",
                scope="settings",
                answers={200: schemas.Usage},
                parameters=(
                    since,
                    until,
                    Parameter(name="by", help=f"of {', '.join(KINDS)}, joined by commas"),
                    Parameter(name="label", help="a label of chats, to group by its values"),
                    Parameter(name="user", help="me, an id or a name"),
                    Parameter(name="format", help="json, or csv"),
                ),
            ),
            _admins(EXPORT, self.export, "Export what was spent as CSV.", None, since, until),
            _admins(
                GROUPS_SPEND,
                self.groups_spend,
                "Get what the members of each group have spent this month.",
                Sequence[schemas.GroupSpend],
                Parameter(name="group_ids", help=ids),
            ),
            _admins(
                GROUP_SPEND,
                self.group_spend,
                "Get what the members of a group have spent this month.",
                schemas.GroupSpend,
            ),
            _admins(
                MEMBERS_SPEND,
                self.members_spend,
                "Get what each member of a group has spent this month.",
                schemas.MemberSpends,
                Parameter(name="user_ids", help=ids),
            ),
            reading,
            replace(
                reading,
                method="PUT",
                handle=self.put_prices,
                summary="State the prices of models, in the place of those that were stated.",
                body=schemas.StatedModelPrices,
                body_bytes_max=BODY_BYTES_MAX,
            ),
        )

    # what was spent

    async def usage(self, call: Call) -> HttpResponse:
        question = await self._question(call)
        form = call.one("format") or "json"
        if form not in ("json", "csv"):
            raise query_refused("format", f"{form[:32]!r} is neither json nor csv")
        try:
            if form == "csv" and "day" in question.by:
                return _csv_response(_csv(self._usage.by_day(question)))
            rows = await self._usage.read(question)
        except TooManyRows:
            detail = f"there are more than {ROWS_MAX}: ask for fewer days, or group by less"
            raise HttpError(400, "That are too many rows.", detail=detail) from None
        if form == "json":
            return json_response(200, schemas.Usage(rows))
        return _csv_response(_lines([COLUMNS]) + _rows(rows))

    async def export(self, call: Call) -> HttpResponse:
        self._refuse_another(call)
        since, until = _days(call)
        question = UsageQuestion(since, until, frozenset(KINDS))
        return _csv_response(_csv(self._usage.by_day(question)))

    async def _question(self, call: Call) -> UsageQuestion:
        since, until = _days(call)
        by = frozenset(filter(None, (call.one("by") or "day,model").split(",")))
        if wrong := by - set(KINDS):
            raise query_refused("by", f"{min(wrong)[:32]!r} is none of {', '.join(KINDS)}")
        label = call.one("label") or None
        if label is not None and len(label) > NAME_CHARACTERS_MAX:
            raise query_refused("label", f"may have {NAME_CHARACTERS_MAX} characters")
        return UsageQuestion(since, until, by, label, await self._asked_user(call))

    async def _asked_user(self, call: Call) -> UserId | None:
        """Return the user whose usage is asked for; None: all, for administrators."""
        said, asker = call.one("user") or "", call.user
        is_self = said.lower() in ("me", str(asker.id), asker.username.lower())
        if is_self or (not said and not asker.is_admin):
            return asker.id
        if not asker.is_admin:
            raise not_found()
        if not said:
            return None
        try:
            found = await self._people.by_id(UserId(UUID(said)))
        except ValueError:
            found = await self._people.by_name(said)
        if found is None:
            raise not_found()
        return found.id

    # of groups

    async def groups_spend(self, call: Call) -> HttpResponse:
        self._refuse_another(call)
        wanted = _ids(call, "group_ids")
        groups = await self._groups.all(wanted or None)
        return json_response(200, [await self._group_spend(group) for group in groups])

    async def group_spend(self, call: Call) -> HttpResponse:
        return json_response(200, await self._group_spend(await self._group(call)))

    async def members_spend(self, call: Call) -> HttpResponse:
        group = await self._group(call)
        members, wanted = await self._members(group), set(_ids(call, "user_ids"))
        today, limits = _today(), await self._store.limits()
        spent = await self._usage.of_month(members, today)
        per_group = monthly_limit(limits, "group", group.id)
        month = period_start("month", today)
        rows = []
        for user in members:
            if not wanted or user in wanted:
                own = monthly_limit(limits, "user", user)
                limit = per_group if own is None else own
                rows.append(schemas.MemberSpend(user, spent.get(user, 0), limit))
        end = schemas.midnight(period_end("month", month))
        return json_response(200, schemas.MemberSpends(rows, schemas.midnight(month), end))

    async def _group_spend(self, group: Group) -> schemas.GroupSpend:
        today = _today()
        spent = await self._usage.of_month(await self._members(group), today)
        month = period_start("month", today)
        return schemas.GroupSpend(
            group.id,
            sum(spent.values()),
            monthly_limit(await self._store.limits(), "group", group.id),
            schemas.midnight(month),
            schemas.midnight(period_end("month", month)),
        )

    async def _members(self, group: Group) -> Sequence[UserId]:
        return group.members or [user.id for user in await self._groups.users(group.id)]

    async def _group(self, call: Call) -> Group:
        found = await self._groups.one(call.uuid("group"))
        if found is None:
            raise not_found()
        return found

    def _refuse_another(self, call: Call) -> None:
        if not is_organization(call.path["organization"], self._organization):
            raise not_found()

    # prices

    async def prices(self, call: Call) -> HttpResponse:
        settings = await self._catalogue.settings()
        stored, default = settings.value(names.MODEL_PRICES), settings.value(names.DEFAULT_PRICE)
        return json_response(200, {"prices": stored, "default_price": default})

    async def put_prices(self, call: Call) -> HttpResponse:
        asked = call.read(schemas.StatedModelPrices)
        if len(asked.prices) > PRICES_MAX:
            raise invalid("prices", f"are {len(asked.prices)}, may be {PRICES_MAX}", BAD_PRICES)
        for name, price in asked.prices.items():
            provider, slash, model = name.partition("/")
            if not (provider and slash and model) or len(name) > NAME_CHARACTERS_MAX:
                raise invalid("prices", f"{name[:80]!r} is not provider/model", BAD_PRICES)
            _check_price(f"prices.{name}", price)
        if asked.default_price is not None:
            _check_price("default_price", asked.default_price)
        await self._settings.put(
            {names.MODEL_PRICES: asked.prices, names.DEFAULT_PRICE: asked.default_price}
        )
        return json_response(200, asked)


BAD_PRICES = "Invalid prices."


def _check_price(field: str, price: schemas.StatedPrice) -> None:
    for name, said in structs.asdict(price).items():
        if said is UNSET:
            continue
        try:
            amount = Decimal(said)
        except InvalidOperation:
            amount = Decimal(-1)
        if not (amount.is_finite() and 0 <= amount <= PRICE_MAX):
            fact = f"is {said[:32]!r}, must be 0 to {PRICE_MAX} dollars, as a decimal text"
            raise invalid(f"{field}.{name}", fact, BAD_PRICES)


def _admins(
    path: str, handle: Handler, summary: str, answer: Any, *parameters: Parameter
) -> Endpoint:
    return Endpoint(
        method="GET",
        path=path,
        handle=handle,
        summary=summary,
        tag="spending",
        access=Access.ADMIN,
        scope="settings",
        answers={200: answer},
        parameters=parameters,
    )


def _today() -> date:
    return wall().astimezone(UTC).date()


def _days(call: Call) -> tuple[date, date]:
    """Return the first day that is asked for, and the day after the last."""
    today = _today()
    since = _day(call, "from", period_start("month", today))
    last = _day(call, "to", max(today, since))
    if last < since or (last - since).days >= DAYS_MAX:
        raise query_refused("to", f"must be 0 to {DAYS_MAX - 1} days after `from`")
    return since, last + timedelta(days=1)


def _day(call: Call, name: str, default: date) -> date:
    said = call.one(name)
    if not said:
        return default
    try:
        return datetime.strptime(said, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError:
        raise query_refused(name, f"{said[:32]!r} is not a day as YYYY-MM-DD") from None


def _ids(call: Call, name: str) -> Sequence[UUID]:
    texts = [text for text in (call.one(name) or "").split(",") if text]
    if len(texts) > IDS_MAX:
        raise query_refused(name, f"may have {IDS_MAX} ids")
    try:
        return [UUID(text) for text in texts]
    except ValueError:
        raise query_refused(name, "must be ids, joined by commas") from None


def _csv_response(body: bytes | AsyncIterator[bytes]) -> HttpResponse:
    headers = (("content-disposition", 'attachment; filename="spend.csv"'),)
    return HttpResponse(200, body, "text/csv; charset=utf-8", headers)


async def _csv(pages: AsyncIterator[Sequence[UsageRow]]) -> AsyncIterator[bytes]:
    """Yield rows as CSV, as they are read."""
    yield _lines([COLUMNS])
    async for rows in pages:
        if rows:
            yield _rows(rows)


def _rows(rows: Sequence[UsageRow]) -> bytes:
    return _lines([[_cell(value) for value in structs.astuple(row)] for row in rows])


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cell(value: object) -> str:
    """Return a value as a cell. A text that a table would take for a formula is quoted."""
    text = "" if value is None else str(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
