"""Wiring of what models cost: prices, limits, books, and the actor that gives back what is left."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from actors.law.ids import WorkerId
from adapters.models.catalogue import Catalogue
from adapters.models.costs import Bookkeeper, ModelPrices, SideCosts, load_table
from adapters.models.spend.budgets import PostgresBudgets, PriceList
from adapters.models.spend.health import SpendingWarnings
from adapters.models.spend.store import SpendStore
from adapters.postgres.driver.pool import Pool
from runtime.children import Child, open_children
from runtime.restart import Restart


@dataclass(frozen=True, slots=True)
class Spending:
    """The parts of a process that know what models cost."""

    store: SpendStore
    prices: ModelPrices
    budgets: PostgresBudgets
    keeper: Bookkeeper
    catalogue: Catalogue
    pool: Pool

    @property
    def warnings(self) -> SpendingWarnings:
        """Return what `/readyz` warns of."""
        return SpendingWarnings(self.pool, self.catalogue, self.prices.lookup)


@asynccontextmanager
async def open_spending(
    pool: Pool,
    catalogue: Catalogue,
    worker: Callable[[], WorkerId | None],
    lease_seconds: float,
) -> AsyncIterator[Spending]:
    """Keep the books for the length of the block.

    What is left to be given back at its end is taken back by other processes, when they see that
    this one has left.
    """
    store = SpendStore(pool, lease_seconds=lease_seconds)
    prices = ModelPrices(await load_table(), PriceList(catalogue.known_settings))
    budgets = PostgresBudgets(
        store, prices, settings=catalogue.settings, worker=worker, sweep_seconds=lease_seconds
    )
    async with open_children("spending", capacity=1) as children:
        # Its mailbox is not named to its supervisor, which would empty it after a crash.
        children.start(Child(name="budgets", body=budgets.run, restart=Restart()))
        keeper = Bookkeeper(SideCosts(pool), prices, budgets)
        yield Spending(store, prices, budgets, keeper, catalogue, pool)
