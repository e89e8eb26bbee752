"""The models that a vendor is known to have: for forms in which one is named."""

from collections.abc import Sequence

from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.refusals import query_refused
from adapters.models.known_models import KnownModels
from adapters.models.routes.model_configs import PATH
from adapters.models.routes.wire import KnownChatModel
from adapters.models.snapshot import TYPES


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
                answers={200: Sequence[KnownChatModel]},
                parameters=(Parameter(name="type", help="of a provider, as anthropic"),),
            ),
        )

    async def list(self, call: Call) -> HttpResponse:
        type = call.one("type") or ""
        if type not in TYPES:
            raise query_refused("type", f"must be one of {', '.join(TYPES)}")
        known = await self._known.of(type)
        shown = [KnownChatModel(each.model, each.name, each.context_limit) for each in known]
        return json_response(200, shown)
