"""The models of an organization: the endpoints at /organizations/{organization}/chats/models.

They serve the same models as /chats/model-configs. Newer clients use them: they name the
organization, and get the providers along with the models.
"""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from adapters.http.endpoints import Access, Call, Endpoint, Handler, HttpResponse, json_response
from adapters.http.refusals import not_found
from adapters.models.catalogue import Catalogue
from adapters.models.routes import presenters
from adapters.models.routes.model_configs import BODY_BYTES_MAX, ModelRoutes, listed_models
from adapters.models.routes.wire import (
    ChatModelConfig,
    OrganizationChatModels,
    WriteChatModelConfigRequest,
)
from adapters.people.routes.schemas import is_organization

PATH = "/api/v2/organizations/{organization}/chats/models"


class OrganizationModelRoutes:
    """Handlers that check the organization of the path, and leave the rest to `ModelRoutes`."""

    def __init__(self, catalogue: Catalogue, models: ModelRoutes, *, organization: UUID) -> None:
        self._catalogue = catalogue
        self._models = models
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        one = PATH + "/{modelConfig}"
        read = Endpoint(
            method="GET",
            path=PATH,
            handle=self.list,
            summary="List the models of an organization, and the providers that have them.",
            tag="models",
            scope="models",
            answers={200: OrganizationChatModels},
            has_etag=True,
        )
        read_one = replace(
            read,
            path=one,
            handle=self.read,
            summary="Show a model.",
            answers={200: ChatModelConfig},
        )
        add = replace(
            read,
            method="POST",
            handle=self._within(self._models.add),
            summary="Add a model.",
            access=Access.ADMIN,
            has_etag=False,
            body=WriteChatModelConfigRequest,
            body_bytes_max=BODY_BYTES_MAX,
            answers={201: ChatModelConfig},
            refusals=(409, 412),
        )
        change = replace(
            add,
            method="PATCH",
            path=one,
            handle=self._within(self._models.change),
            summary="Change a model.",
            answers={200: ChatModelConfig},
        )
        remove = replace(
            change,
            method="DELETE",
            handle=self._within(self._models.remove),
            summary="Remove a model; its chats go on with the default.",
            body=None,
            answers={204: None},
        )
        return read, read_one, add, change, remove

    async def list(self, call: Call) -> HttpResponse:
        self._check(call)
        snapshot = await self._catalogue.snapshot()
        own = await self._catalogue.own(call.user.id)
        models = [
            presenters.model(each, organization=self._organization)
            for each in listed_models(snapshot, call.user)
        ]
        providers = presenters.provider_descriptors(
            snapshot, own, allow_user_keys=self._catalogue.allow_user_keys
        )
        unsupported = presenters.unsupported_providers(snapshot)
        return json_response(200, OrganizationChatModels(models, providers, unsupported))

    async def read(self, call: Call) -> HttpResponse:
        self._check(call)
        id = call.uuid("modelConfig")
        for each in listed_models(await self._catalogue.snapshot(), call.user):
            if each.id == id:
                model = presenters.model(each, organization=self._organization)
                return json_response(200, model)
        raise not_found()

    def _within(self, handle: Handler) -> Handler:
        """Return a handler that refuses other organizations before it calls the given one."""

        async def checked(call: Call) -> HttpResponse:
            self._check(call)
            answer = await handle(call)
            assert isinstance(answer, HttpResponse), "none of these rows is a socket"
            return answer

        return checked

    def _check(self, call: Call) -> None:
        if not is_organization(call.path["organization"], self._organization):
            raise not_found()
