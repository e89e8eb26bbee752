"""The models that vendors are known to have, and how much each can read: for forms that name one.

They are from the bundled table of genai-prices. It takes half a second to load, so it is loaded in
a thread, when it is asked for the first time, and kept.
"""

from collections.abc import Mapping, Sequence

from actors.law.parts.vendors import VENDORS
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import query_refused
from adapters.models.routes.model_configs import PATH
from adapters.models.routes.wire import KnownChatModel
from adapters.models.snapshot import TYPES
from runtime.threads import ThreadLimits, read

LOADING = ThreadLimits("known_models", 1)


class KnownModels:
    """The known models of each vendor, by the vendor's type."""

    def __init__(self) -> None:
        self._loaded: Mapping[str, Sequence[KnownChatModel]] | None = None

    async def of(self, type: str) -> Sequence[KnownChatModel]:
        """Return the models of a type of provider by name; none, if the table has none of it."""
        if self._loaded is None:
            self._loaded = await read(LOADING, _load)
        return self._loaded.get(type, ())


def _load() -> Mapping[str, Sequence[KnownChatModel]]:
    from genai_prices.data import providers

    tables = {provider.id: provider.models for provider in providers}
    return {
        vendor.type: sorted(
            (
                KnownChatModel(model.id, model.name or model.id, model.context_window)
                for model in tables.get(vendor.price_table, ())
                if model.context_window and not model.deprecated
            ),
            key=lambda known: known.model,
        )
        for vendor in VENDORS
        if vendor.price_table is not None
    }


class KnownModelRoutes:
    def __init__(self, known: KnownModels) -> None:
        self._known = known

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="GET",
                path=f"{PATH}/known",
                handle=self.list,
                summary="List the models that a type of provider is known to have.",
                tag="models",
                access=Access.ADMIN,
                scope="models",
                has_etag=True,
                answers={200: Sequence[KnownChatModel]},
                parameters=(Parameter(name="type", help="of a provider, as anthropic"),),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        type = call.one("type") or ""
        if type not in TYPES:
            raise query_refused("type", f"must be one of {', '.join(TYPES)}")
        return json_response(200, await self._known.of(type))
