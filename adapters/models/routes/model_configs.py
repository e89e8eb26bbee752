"""Models: the endpoints at /chats/model-configs, and the models that a user can ask."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid4

from actors.law.ids import ModelConfigId
from adapters.http.endpoints import (
    Access,
    Call,
    Caller,
    Endpoint,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError, Validation, not_found
from adapters.models.call_config import encode_call, faults_of, read_call
from adapters.models.catalogue import Catalogue
from adapters.models.provider_config import MODEL, misconfiguration
from adapters.models.routes import presenters
from adapters.models.routes.checks import Faults, refuse_if, text_faults
from adapters.models.routes.wire import (
    ChatModelConfig,
    ChatModelsResponse,
    WriteChatModelConfigRequest,
)
from adapters.models.snapshot import (
    THRESHOLD_USUAL,
    CatalogueSnapshot,
    ListedModel,
    ListedProvider,
    ModelSource,
)
from adapters.models.store.catalogue import StoredModel
from adapters.models.store.providers import ModelConfigStore
from runtime.clock import wall

CHATS = "/api/v2/chats"
PATH = f"{CHATS}/model-configs"
BODY_BYTES_MAX = 256 * 1024
CONTEXT_LIMIT_MAX = 2**53  # the largest number that every client can count to
INVALID = "Invalid model config."


class ModelRoutes:
    def __init__(
        self, catalogue: Catalogue, configs: ModelConfigStore, *, organization: UUID
    ) -> None:
        self._catalogue = catalogue
        self._configs = configs
        self._organization = organization

    def endpoints(self) -> Sequence[Endpoint]:
        one = PATH + "/{modelConfig}"
        written = WriteChatModelConfigRequest
        rows = (
            (
                "GET",
                f"{CHATS}/models",
                self.models,
                "List the models that the user can ask, by type of provider.",
                None,
                {200: ChatModelsResponse},
            ),
            (
                "GET",
                PATH,
                self.list,
                "List the models: all of them for administrators, for others those on offer.",
                None,
                {200: Sequence[ChatModelConfig]},
            ),
            ("POST", PATH, self.add, "Add a model.", written, {201: ChatModelConfig}),
            ("PATCH", one, self.change, "Change a model.", written, {200: ChatModelConfig}),
            (
                "DELETE",
                one,
                self.remove,
                "Remove a model; its chats go on with the default.",
                None,
                {204: None},
            ),
        )
        return tuple(
            Endpoint(
                method=method,
                path=path,
                handle=handle,
                summary=says,
                tag="models",
                access=Access.USER if method == "GET" else Access.ADMIN,
                scope="models",
                body=body,
                body_bytes_max=BODY_BYTES_MAX,
                answers=answers,
                has_etag=method == "GET",
                refusals=() if method == "GET" else (409, 412),
            )
            for method, path, handle, says, body, answers in rows
        )

    async def models(self, call: Call) -> HttpResponse:
        snapshot = await self._catalogue.snapshot()
        own = await self._catalogue.own(call.user.id)
        return json_response(
            200, presenters.models(snapshot, own, allow_user_keys=self._catalogue.allow_user_keys)
        )

    async def list(self, call: Call) -> HttpResponse:
        listed = listed_models(await self._catalogue.snapshot(), call.user)
        return json_response(
            200, [presenters.model(each, organization=self._organization) for each in listed]
        )

    async def add(self, call: Call) -> HttpResponse:
        asked = call.read(WriteChatModelConfigRequest)
        snapshot = await self._catalogue.snapshot()
        if asked.ai_provider_id is None:
            refuse_if([("ai_provider_id", "is required")], INVALID)
        now = wall()
        new = StoredModel(
            ModelConfigId(uuid4()),
            asked.ai_provider_id or uuid4(),
            (asked.model or "").strip(),
            (asked.display_name or "").strip(),
            enabled=asked.enabled is not False,
            is_default=bool(asked.is_default),
            context_limit=asked.context_limit or 0,
            compression_threshold=THRESHOLD_USUAL
            if asked.compression_threshold is None
            else asked.compression_threshold,
            call=encode_call(asked.model_config),
            created_at=now,
            updated_at=now,
        )
        _check(new, _provider(snapshot, new))
        await self._configs.add(new)
        return json_response(201, await self._current(new.id))

    async def change(self, call: Call) -> HttpResponse:
        id = await self._stored_one(call)
        asked = call.read(WriteChatModelConfigRequest)
        snapshot = await self._catalogue.snapshot()

        def revise(stored: StoredModel) -> tuple[StoredModel, bool | None]:
            changed = _changed(stored, asked)
            if asked.ai_provider_id is not None:
                provider: ListedProvider | None = _provider(snapshot, changed)
            else:
                provider = snapshot.providers.get(stored.provider_id)
            _check(changed, provider)
            return changed, asked.is_default

        if not await self._configs.change(id, revise):
            raise not_found()
        return json_response(200, await self._current(id))

    async def remove(self, call: Call) -> HttpResponse:
        if not await self._configs.remove(await self._stored_one(call)):
            raise not_found()
        return no_content()

    async def _stored_one(self, call: Call) -> ModelConfigId:
        """Return the id of a model that is stored here; refuse any other."""
        id = ModelConfigId(call.uuid("modelConfig"))
        found = (await self._catalogue.snapshot()).models.get(id)
        if found is not None and found.source is not ModelSource.DATABASE:
            raise _elsewhere(found)
        return id

    async def _current(self, id: ModelConfigId) -> ChatModelConfig:
        found = (await self._catalogue.snapshot()).models.get(id)
        if found is None:
            raise not_found()
        return presenters.model(found, organization=self._organization)


def listed_models(snapshot: CatalogueSnapshot, caller: Caller) -> Sequence[ListedModel]:
    """Return the models that a caller may see: all for admins, for others those on offer."""
    seen = [model for model in snapshot.models.values() if caller.is_admin or model.is_offered]
    return sorted(seen, key=lambda model: model.order)


def _elsewhere(model: ListedModel) -> HttpError:
    if model.source is ModelSource.REHEARSAL or model.provider is None:
        return HttpError(
            409,
            "The rehearsal is built in.",
            detail="it goes away by itself with the first provider that is set up",
        )
    return HttpError(
        409,
        f"Model {model.model} comes from the environment.",
        detail=f"its provider was set up by {model.provider.variable}; {MODEL}=provider/model says"
        " which model it offers: change that and start the daemon again, or add a model config for"
        " the same provider here",
    )


def _provider(snapshot: CatalogueSnapshot, model: StoredModel) -> ListedProvider:
    """Return the provider of a model that is written; 412 if it cannot have models."""
    found = snapshot.providers.get(model.provider_id)
    if found is None or found.source is ModelSource.REHEARSAL:
        detail = f"there is no AI provider {model.provider_id}"
    elif not found.enabled:
        detail = f"provider {found.name} is disabled"
    else:
        return found
    validation = Validation("ai_provider_id", detail)
    raise HttpError(
        412, "The AI provider cannot be used.", detail=detail, validations=(validation,)
    )


def _changed(stored: StoredModel, asked: WriteChatModelConfigRequest) -> StoredModel:
    """Return a stored model as it is to be.

    An empty name changes nothing; the configuration of its calls is replaced as a whole.
    """
    model, display_name = (asked.model or "").strip(), (asked.display_name or "").strip()

    def either(wanted: int | None, was: int) -> int:
        return was if wanted is None else wanted

    return replace(
        stored,
        provider_id=asked.ai_provider_id or stored.provider_id,
        model=model or stored.model,
        display_name=display_name or stored.display_name,
        enabled=stored.enabled if asked.enabled is None else asked.enabled,
        context_limit=either(asked.context_limit, stored.context_limit),
        compression_threshold=either(asked.compression_threshold, stored.compression_threshold),
        call=stored.call if asked.model_config is None else encode_call(asked.model_config),
    )


def _check(model: StoredModel, provider: ListedProvider | None) -> None:
    refuse_if(_faults(model, provider), INVALID)


def _faults(model: StoredModel, provider: ListedProvider | None) -> Faults:
    if not model.model:
        yield "model", "is required"
    yield from text_faults("model", model.model)
    yield from text_faults("display_name", model.display_name)
    if (
        provider is not None
        and (wrong := misconfiguration(provider.config, model.model)) is not None
    ):
        yield "model", wrong
    if not 0 < model.context_limit <= CONTEXT_LIMIT_MAX:
        yield "context_limit", "is required, and must be above 0"
    if not 0 <= model.compression_threshold <= 100:
        yield "compression_threshold", "must be 0 to 100"
    for field, fact in faults_of(read_call(model.call)):
        yield f"model_config.{field}", fact
