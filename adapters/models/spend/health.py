"""Facts about limits that an administrator should know: those that are reached, and models that may
not be asked under them because their price is not known."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

import trio

from actors.law.parts.message import TokenUsage
from adapters.models.catalogue import Catalogue
from adapters.models.costs import Lookup, cost_of
from adapters.models.settings import DEFAULT_PRICE, MODEL_PRICES, DeploymentSettings
from adapters.models.spend.budgets import stated_prices
from adapters.models.store.catalogue import settings_of
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.faults import DatabaseFault
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL

NAMED_MAX = 5  # limits or models that a sentence names; the others are counted
_SOME = TokenUsage(1_000, 1_000)  # of a model whose price is known, these have one

VendorModel = tuple[str, str]
"""The type of a provider, and a model of it."""


@dataclass(frozen=True, slots=True)
class SpendingFacts:
    """The number of limits, those that are reached as people call them, and the models whose price
    is not known. Without a limit the others are empty."""

    limits_count: int
    reached: Sequence[str] = ()
    unpriced: Sequence[str] = ()


async def examine_spending(
    connection: DatabaseConnection,
    load_table: Callable[[], Awaitable[Lookup]],
    models: Iterable[VendorModel],
) -> SpendingFacts:
    """Look at the limits and prices that are stored, and whether these models have a price. Without
    a limit it is one statement, and the table of prices is not loaded."""
    rows = await connection.execute(SQL["examine_limits"])
    if not rows[0][0]:
        return SpendingFacts(0)
    reached = [
        f"{'all users together' if scope == 'deployment' else user}, {period}"
        for _, scope, user, period in rows
        if scope is not None
    ]
    named = {"names": [MODEL_PRICES, DEFAULT_PRICE]}
    settings = await connection.execute(SQL["examine_prices"], named)
    stated = stated_prices(DeploymentSettings(settings_of(settings)))
    lookup = await load_table()
    unpriced = [
        f"{type}/{model}"
        for type, model in sorted(set(models))
        if cost_of(lookup, stated, type, model, _SOME).micros is None
    ]
    return SpendingFacts(rows[0][0], reached, unpriced)


async def stored_models(connection: DatabaseConnection) -> Sequence[VendorModel]:
    """Return the models in the database that users can ask."""
    return [(type, model) for type, model in await connection.execute(SQL["examine_models"])]


def named(names: Sequence[str]) -> str:
    """Return the first of some names, and how many others there are."""
    others = len(names) - NAMED_MAX
    shown = "; ".join(names[:NAMED_MAX])
    return f"{shown}; and {others} more" if others > 0 else shown


class SpendingWarnings:
    """The sentences of `/readyz` about limits: counts alone, which tell a stranger no name."""

    def __init__(self, pool: Pool, catalogue: Catalogue, lookup: Lookup) -> None:
        self._pool = pool
        self._catalogue = catalogue
        self._lookup = lookup

    async def __call__(self) -> str | None:
        """Return what an administrator should look at, or None."""
        try:
            snapshot = await self._catalogue.snapshot()
            models = [
                (model.provider.type, model.model)
                for model in snapshot.models.values()
                if model.is_offered and model.provider is not None
            ]
            async with self._pool.connection() as connection:
                found = await examine_spending(connection, self._table, models)
        except DatabaseFault:
            return None  # which a check says
        said = [
            f"limits that are reached: {len(found.reached)}" if found.reached else "",
            f"models that no limit allows, without a price: {len(found.unpriced)}"
            if found.unpriced
            else "",
        ]
        return "; ".join(filter(None, said)) or None

    async def _table(self) -> Lookup:
        await trio.lowlevel.checkpoint()
        return self._lookup
