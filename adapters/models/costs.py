"""The prices of models, and the book of what was bought beside messages.

Prices come from an administrator's own first, then from the bundled table of genai-prices. The
table is large and slow to load (half a second), so it is loaded once, in a thread, and a model that
it does not know is priced as unknown, never as free.

A message carries its own cost. What is asked for beside a turn (titles, labels and summaries for
lists, advice), and what a turn was answered without committing it, is booked as soon as the model
has answered. A model that fails is not booked: nothing tells what that cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from uuid import UUID

import trio

from actors.chat.turn import ports
from actors.chat.turn.ports import CostPurpose, Model
from actors.chat.turn.spending import NO_BUDGETS, Budgets, OverLimit
from actors.law.ids import ChatId, chat_name
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.message import UNPRICED, Cost, Reservation, TokenUsage
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import vendor_of
from adapters.postgres.codec.writing import payments_json
from adapters.postgres.driver.pool import Pool
from adapters.postgres.queries import SQL
from runtime.log import emit
from runtime.threads import ThreadLimits, read

MICROS = 1_000_000
# For one booking. One that takes longer is logged as missed, like one that the store refuses.
BOOKED_SECONDS = 5.0
LOADING = ThreadLimits("price_table", 1)


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a million tokens, in US dollars."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None  # None: as input
    cache_creation: Decimal | None = None
    reasoning: Decimal | None = None  # None: as output, of which it is a part


@dataclass(frozen=True, slots=True)
class StatedPrices:
    """The prices that administrators state. `default` is for models that have no price at all;
    None: theirs is unknown."""

    by_model: Mapping[str, Price] = field(default_factory=dict)  # by "provider/model"
    default: Price | None = None


NOTHING_STATED = StatedPrices()
Lookup = Callable[[str, str, TokenUsage], Decimal | None]


class ModelPrices:
    """The prices of all models; implements `actors.chat.turn.ports.Prices`.

    `stated` returns the administrators' own as they are now.
    """

    def __init__(
        self, lookup: Lookup, stated: Callable[[], StatedPrices] = lambda: NOTHING_STATED
    ) -> None:
        self.lookup = lookup
        self._stated = stated

    def cost(self, model: Model, usage: TokenUsage) -> Cost:
        """Return the cost of an answer's tokens."""
        return cost_of(self.lookup, self._stated(), model.vendor, model.name, usage)


def cost_of(
    lookup: Lookup, stated: StatedPrices, vendor: str, model: str, usage: TokenUsage
) -> Cost:
    """Return the cost of tokens of a vendor's model."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return UNPRICED  # the known half alone would be too cheap
    own = stated.by_model.get(f"{vendor}/{model}")
    if own is not None:
        return Cost(_micros(_by_price(own, usage)), "override")
    name = vendor_of(vendor).price_table
    found = None if name is None else lookup(name, model, usage)
    if found:  # 0 in the table means that there is no price, not that the model is free
        return Cost(_micros(found), "table")
    if stated.default is None:
        return UNPRICED
    return Cost(_micros(_by_price(stated.default, usage)), "default")


async def load_table() -> Lookup:
    """Load the bundled table, if it is not loaded yet; a look-up in it takes 0.1 ms."""
    return await read(LOADING, load_table_now)


@cache
def load_table_now() -> Lookup:
    """Load the bundled table in this very thread, once in a process and its copies."""
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    def lookup(provider: str, model: str, usage: TokenUsage) -> Decimal | None:
        read, made = usage.cache_read_tokens or 0, usage.cache_creation_tokens or 0
        try:
            counted = Counted(
                input_tokens=(usage.input_tokens or 0) + read + made,
                output_tokens=usage.output_tokens or 0,
                cache_read_tokens=read,
                cache_write_tokens=made,
            )
            return calc_price(counted, model_ref=model, provider_id=provider).total_price
        except (LookupError, ValueError):  # an unknown model, or impossible counts
            return None

    lookup(
        "anthropic", "claude-sonnet-4-5", TokenUsage(1, 1)
    )  # the first look-up builds its indexes
    return lookup


class SideCosts:
    """The stored costs of chats beside their messages."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def add(
        self, chat: ChatId, what: str, costs: Sequence[Cost], model: UUID | None = None
    ) -> None:
        """Add costs to those of a chat, under what they were bought for, and to those of the day.
        What was set aside for them is counted in the same statement. `model` None: the chat's."""
        known = [cost.micros for cost in costs if cost.micros is not None]
        booking = {
            "chat": chat,
            "what": what,
            "micros": sum(known),
            "requests": len(costs),
            "unpriced": len(costs) - len(known),
            "model": model,
            # The day that they count for under a limit; None: today.
            "day": next((each.reservation.day for each in costs if each.reservation), None),
            "paid": payments_json(costs),
        }
        async with self._pool.connection(ahead=True) as connection:
            await connection.execute(SQL["book_side_cost"], booking)


@dataclass(frozen=True, slots=True)
class Bookkeeper:
    """A book of what was bought for chats without becoming a message.

    Implements `actors.chat.turn.ports.Books` and `actors.upkeep.asking.AnswerBooks`. A
    cost that cannot be written is logged as missed, because the answer that it bought is there.
    """

    costs: SideCosts
    prices: ports.Prices
    budgets: Budgets = NO_BUDGETS

    async def reserve(
        self, chat: ChatId, what: CostPurpose, model: Model, prompt: Prompt
    ) -> Reservation | OverLimit | None:
        """Set money aside for a call beside a turn. Nothing beside a turn asks for consent."""
        return await self.budgets.reserve(chat, model, prompt, what)

    def give_back(self, reservation: Reservation | None) -> None:
        """Give back what was set aside for a call that has come to nothing."""
        self.budgets.give_back(reservation, is_spent=False)

    async def book(
        self, chat: ChatId, what: CostPurpose, costs: Sequence[Cost], model: UUID | None = None
    ) -> None:
        """Write down what was bought for a chat, from `model` or from the chat's own."""
        if not costs:
            return
        try:
            # The answer was paid even if the caller is cancelled now.
            with trio.fail_after(BOOKED_SECONDS, shield=True):
                await self.costs.add(chat, what, costs, model)
        except Exception as error:  # noqa: BLE001  # the answer counts more than its cost
            emit("cost.missed", "warning", chat=chat_name(chat), what=what, error=error)
            for (
                cost
            ) in costs:  # counted as what it was expected to cost, as soon as that is possible
                self.budgets.give_back(cost.reservation, is_spent=True)

    async def book_answer(
        self,
        chat: ChatId,
        what: CostPurpose,
        model: Model,
        answer: ModelAnswer,
        reservation: Reservation | None = None,
    ) -> None:
        """Write down what an answer cost."""
        cost = replace(self.prices.cost(model, answer.usage), reservation=reservation)
        await self.book(chat, what, [cost], model.config_id)


def _by_price(price: Price, usage: TokenUsage) -> Decimal:
    output, thoughts = usage.output_tokens or 0, 0
    if price.reasoning is not None:
        thoughts = min(usage.reasoning_tokens or 0, output)
    dollars = (usage.input_tokens or 0) * price.input + (output - thoughts) * price.output
    dollars += thoughts * (price.reasoning or 0)
    for count, own in (
        (usage.cache_read_tokens, price.cache_read),
        (usage.cache_creation_tokens, price.cache_creation),
    ):
        dollars += (count or 0) * (price.input if own is None else own)
    return dollars / 1_000_000


def _micros(dollars: Decimal) -> int:
    return int((dollars * MICROS).to_integral_value())
