"""Money for the calls of this process, and the prices that administrators state.

Whether any limit is set is a part of the catalogue, which each process knows without asking. As
long as there is none, a call costs no statement. What is left over, because a call failed or was
cut short, is given back by an actor, so no turn waits for that. The same actor takes back what
processes that are gone had set aside.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import islice
from typing import Annotated, Any, NoReturn
from uuid import UUID, uuid4

import trio

from actors.chat.turn.ports import CostPurpose, Model
from actors.chat.turn.spending import OverLimit, expected_usage
from actors.law.ids import ChatId, WorkerId
from actors.law.parts.message import Reservation
from actors.law.parts.prompt import Prompt
from adapters.models.costs import ModelPrices, Price, StatedPrices
from adapters.models.settings import (
    DEFAULT_PRICE,
    MODEL_PRICES,
    SPEND_LIMITED,
    DeploymentSettings,
)
from adapters.models.spend.store import NIL, CallToReserve, SpendStore
from adapters.postgres.driver.faults import DatabaseFault
from runtime.clock import now
from runtime.errors import ActorGone, MailboxFull
from runtime.log import emit
from runtime.mailbox import Address, Mailbox, open_mailbox
from runtime.statistics import CounterMetric

WAITING_MAX = 16_384  # reservations to give back; one more stays until it is swept as too old
TOGETHER_MAX = 256  # that are given back by one statement
TRIES_MAX = 3  # to give some back together, where each ends with a defect; then they are left
# Statements without an answer that are remembered; the oldest is forgotten, and what it may have
# set aside stays until it is swept as too old.
UNANSWERED_MAX = 16_384
# After these no statement that was given up can still be carried out by the server, so what it has
# set aside is given back for certain.
UNANSWERED_SECONDS = 60.0
FORGET_SECONDS = 3600.0  # between two looks for counters of periods that are long over

PRICE_FIELDS = ("input", "output", "cache_read", "cache_creation", "reasoning")


@dataclass(frozen=True, slots=True)
class SpendStatistics:
    """Counts of calls that money was set aside for, and of what became of them."""

    reserved_count: Annotated[
        int, CounterMetric("Calls of models that money was set aside for under a limit.")
    ]
    refused_count: Annotated[
        Mapping[str, int],
        CounterMetric("Calls of models that a limit did not allow, by why.", label="reason"),
    ]
    given_back_count: Annotated[
        int, CounterMetric("Calls that came to nothing and whose money was given back.")
    ]
    swept_count: Annotated[
        int, CounterMetric("Calls of processes that are gone and whose money was taken back.")
    ]
    missed_count: Annotated[
        int, CounterMetric("Calls whose money could not be given back: too many waited for that.")
    ]


class PostgresBudgets:
    """Fulfils `actors.chat.turn.spending.Budgets`; `run` it as long as it is used."""

    def __init__(
        self,
        store: SpendStore,
        prices: ModelPrices,
        *,
        settings: Callable[[], Awaitable[DeploymentSettings]],
        worker: Callable[[], WorkerId | None],
        sweep_seconds: float,
    ) -> None:
        self._store = store
        self._prices = prices
        self._settings = settings
        self._worker = worker
        self._sweep_seconds = sweep_seconds
        self._address: Address[tuple[UUID, bool]]
        self._mailbox: Mailbox[tuple[UUID, bool]]
        self._address, self._mailbox = open_mailbox("budgets", capacity=WAITING_MAX)
        self._reserved_count = self._given_back_count = self._swept_count = 0
        self._missed_count = 0
        self._refused_count: dict[str, int] = {}
        # Since when, and what was asked for.
        self._unanswered: deque[tuple[float, UUID]] = deque()
        # What is being given back, and how often that was begun. It outlives a crash of the actor.
        self._batch: Sequence[tuple[UUID, bool]] = ()
        self._tries = 0

    async def reserve(
        self,
        chat: ChatId,
        model: Model,
        prompt: Prompt,
        what: CostPurpose,
        *,
        asks: bool = True,
    ) -> Reservation | OverLimit | None:
        settings = await self._settings()
        if not settings.value(SPEND_LIMITED):
            return None
        cost = self._prices.cost(model, expected_usage(prompt))
        call = CallToReserve(
            uuid4(),
            chat,
            what,
            f"{model.vendor}/{model.name}",
            cost.micros,
            asks,
            self._worker() or NIL,
        )
        is_answered = False
        try:
            found = await self._store.reserve(call, stated_prices(settings).default)
            is_answered = True
        finally:
            if not is_answered:  # it may be set aside all the same, now or in a while
                self._leave(call.id, is_spent=False)
                self._remember(call.id)
        if isinstance(found, OverLimit):
            reason = found.reason.value
            self._refused_count[reason] = self._refused_count.get(reason, 0) + 1
        elif found is not None:
            self._reserved_count += 1
        return found

    def give_back(self, reservation: Reservation | None, *, is_spent: bool) -> None:
        if reservation is not None:
            self._leave(reservation.id, is_spent=is_spent)

    def _leave(self, id: UUID, *, is_spent: bool) -> None:
        try:
            self._address.cast((id, is_spent))
        except (MailboxFull, ActorGone):
            self._missed_count += 1

    def _remember(self, id: UUID) -> None:
        if len(self._unanswered) >= UNANSWERED_MAX:
            self._unanswered.popleft()
            self._missed_count += 1
        self._unanswered.append((now(), id))

    async def run(self) -> NoReturn:
        """Give back what is left over, and sweep, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._give_back_all)
            nursery.start_soon(self._forget)
            while True:
                await trio.sleep(self._sweep_seconds)
                try:
                    await self._sweep()
                except DatabaseFault as fault:
                    emit("spend.unswept", "warning", error=fault)

    async def _give_back_all(self) -> NoReturn:
        while True:
            if not self._batch:
                self._batch, self._tries = await self._mailbox.drain(TOGETHER_MAX), 0
            if self._tries >= TRIES_MAX:  # a defect: they would end every life of this actor
                emit("spend.left", "error", count=len(self._batch))
                self._missed_count += len(self._batch)
                self._batch = ()
                continue
            self._tries += 1
            try:
                self._given_back_count += await self._store.give_back(self._batch)
                self._batch = ()
            except DatabaseFault as fault:  # they are swept at last, whatever happens here
                emit("spend.kept", "warning", error=fault)
                self._tries = 0
                await trio.sleep(self._sweep_seconds)

    async def _sweep(self) -> None:
        while self._unanswered and self._unanswered[0][0] < now() - UNANSWERED_SECONDS:
            old = [
                (id, False)
                for since, id in islice(self._unanswered, TOGETHER_MAX)
                if since < now() - UNANSWERED_SECONDS
            ]
            self._given_back_count += await self._store.give_back(old)
            done = {id for id, _ in old}  # the first of them may have been dropped meanwhile
            while self._unanswered and self._unanswered[0][1] in done:
                self._unanswered.popleft()
        settings = await self._settings()
        if settings.value(SPEND_LIMITED):
            self._swept_count += await self._store.sweep()
            await self._store.recount(stated_prices(settings).default)

    async def _forget(self) -> NoReturn:
        while True:
            await trio.sleep(FORGET_SECONDS)
            try:
                await self._store.forget()
            except DatabaseFault as fault:
                emit("spend.unforgotten", "warning", error=fault)

    def statistics(self) -> SpendStatistics:
        return SpendStatistics(
            self._reserved_count,
            dict(self._refused_count),
            self._given_back_count,
            self._swept_count,
            self._missed_count,
        )


class PriceList:
    """The stated prices as they are in the settings, read once for each version of these."""

    def __init__(self, settings: Callable[[], DeploymentSettings | None]) -> None:
        self._settings = settings
        self._known: tuple[DeploymentSettings, StatedPrices] | None = None

    def __call__(self) -> StatedPrices:
        settings = self._settings()
        if settings is None:
            return StatedPrices()
        if self._known is None or self._known[0] is not settings:
            self._known = settings, stated_prices(settings)
        return self._known[1]


def stated_prices(settings: DeploymentSettings) -> StatedPrices:
    """Return the prices in the settings. One that cannot be read counts as not stated."""
    prices = settings.value(MODEL_PRICES)
    stored = prices.items() if isinstance(prices, dict) else ()
    by_model = {name: price for name, each in stored if (price := price_of(each)) is not None}
    return StatedPrices(by_model, price_of(settings.value(DEFAULT_PRICE)))


def price_of(stored: Any) -> Price | None:
    """Return a price as it is stored: decimal texts by what they are for."""
    if not isinstance(stored, dict):
        return None
    try:
        amounts = {
            name: Decimal(stored[name]) for name in PRICE_FIELDS if stored.get(name) is not None
        }
        return Price(**amounts)
    except (InvalidOperation, TypeError, ValueError):
        return None
