"""All routes about spending."""

from collections.abc import Sequence
from uuid import UUID

from actors.law.store.hints import Tell
from adapters.http.endpoints import Routes
from adapters.models.routes.checks import People
from adapters.models.spend.group_routes import GroupRoutes
from adapters.models.spend.groups import GroupStore
from adapters.models.spend.limit_routes import LimitRoutes
from adapters.models.spend.usage import UsageReader
from adapters.models.spend.usage_routes import UsageRoutes
from adapters.models.spend.wiring import Spending
from adapters.models.store.settings import SettingStore


def spend_routes(
    spending: Spending, people: People, organization: UUID, tell: Tell
) -> Sequence[Routes]:
    store, catalogue, pool = spending.store, spending.catalogue, spending.pool
    groups, settings = GroupStore(pool), SettingStore(pool, tell=tell)
    return (
        LimitRoutes(store, groups, catalogue, people=people, organization=organization, tell=tell),
        GroupRoutes(groups, people=people, organization=organization, tell=tell),
        UsageRoutes(
            UsageReader(pool),
            store,
            groups,
            catalogue,
            settings,
            people=people,
            organization=organization,
        ),
    )
