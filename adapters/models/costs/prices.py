"""What models cost: the bundled table of genai-prices, and an administrator's own prices before it.

The table is large and slow to load (half a second), so it is loaded once, in a thread, and a model
that it does not know is priced as unknown, never as free.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from actors.chat.turn.ports import Model
from actors.law.parts.message import UNPRICED, Cost, Usage
from actors.law.parts.vendors import vendor_of
from runtime.threads.limits import ThreadLimits
from runtime.threads.work import read

MICROS = 1_000_000
LOADING = ThreadLimits("price_table", 1)


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens, in US dollars."""

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None  # None: as input
    cache_creation: Decimal | None = None


Lookup = Callable[[str, str, Usage], Decimal | None]


class Prices:
    """Fulfils `actors.chat.turn.ports.Prices`. `overrides`: by "provider/model"."""

    def __init__(self, lookup: Lookup, overrides: Mapping[str, Price] | None = None) -> None:
        self._lookup = lookup
        self._overrides = overrides or {}

    def cost(self, model: Model, usage: Usage) -> Cost:
        if usage.input_tokens is None or usage.output_tokens is None:
            return UNPRICED  # the rest alone would be too cheap
        own = self._overrides.get(f"{model.vendor}/{model.name}")
        if own is not None:
            return Cost(_micros(_by_price(own, usage)), "override")
        name = vendor_of(model.vendor).price_table
        found = None if name is None else self._lookup(name, model.name, usage)
        # A model without a price in the table is not free: both stand there in the same way.
        return Cost(_micros(found), "table") if found else UNPRICED


async def load_table() -> Lookup:
    """The bundled table, ready to be asked: 0.1 ms for a look-up."""
    return await read(LOADING, _load)


def _load() -> Lookup:
    from genai_prices import Usage as Counted
    from genai_prices import calc_price

    def lookup(provider: str, model: str, usage: Usage) -> Decimal | None:
        read, made = usage.cache_read_tokens or 0, usage.cache_creation_tokens or 0
        try:
            counted = Counted(
                input_tokens=(usage.input_tokens or 0) + read + made,
                output_tokens=usage.output_tokens or 0,
                cache_read_tokens=read,
                cache_write_tokens=made,
            )
            return calc_price(counted, model_ref=model, provider_id=provider).total_price
        except (LookupError, ValueError):  # not known; or counts that cannot be
            return None

    lookup("anthropic", "claude-sonnet-4-5", Usage(1, 1))  # the first look-up builds its indexes
    return lookup


def _by_price(price: Price, usage: Usage) -> Decimal:
    dollars = (usage.input_tokens or 0) * price.input + (usage.output_tokens or 0) * price.output
    for count, own in (
        (usage.cache_read_tokens, price.cache_read),
        (usage.cache_creation_tokens, price.cache_creation),
    ):
        dollars += (count or 0) * (price.input if own is None else own)
    return dollars / 1_000_000


def _micros(dollars: Decimal) -> int:
    return int((dollars * MICROS).to_integral_value())
