"""The models that vendors are known to have, and how much each can read.

They are from the bundled table of genai-prices. It takes half a second to load, so it is loaded in
a thread, when it is asked for the first time, and kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from actors.law.parts.vendors import VENDORS
from runtime.threads import ThreadLimits, read

LOADING = ThreadLimits("known_models", 1)


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model of a vendor."""

    model: str
    name: str  # for people
    context_limit: int


class KnownModels:
    """The known models of each vendor, by the vendor's type."""

    def __init__(self) -> None:
        self._loaded: Mapping[str, Sequence[KnownModel]] | None = None

    async def of(self, type: str) -> Sequence[KnownModel]:
        """Return the models of a type of provider by name; none, if the table has none of it."""
        if self._loaded is None:
            self._loaded = await read(LOADING, _load)
        return self._loaded.get(type, ())


def _load() -> Mapping[str, Sequence[KnownModel]]:
    from genai_prices.data import providers

    tables = {provider.id: provider.models for provider in providers}
    return {
        vendor.type: sorted(
            (
                KnownModel(model.id, model.name or model.id, model.context_window)
                for model in tables.get(vendor.price_table, ())
                if model.context_window and not model.deprecated
            ),
            key=lambda known: known.model,
        )
        for vendor in VENDORS
        if vendor.price_table is not None
    }
