"""Settings of users for themselves: the endpoints at /chats/config/user-…"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from actors.law.ids import ModelConfigId
from adapters.http.endpoints import Call, Endpoint, Handler, HttpResponse, json_response, no_content
from adapters.http.refusals import HttpError, forbidden, not_found
from adapters.models import settings as names
from adapters.models.catalogue import Catalogue
from adapters.models.routes import wire
from adapters.models.routes.checks import (
    checked_effort,
    invalid,
    model_id_of,
    override_json,
    own_override_json,
)
from adapters.models.routes.settings import (
    CONFIG,
    PROMPT_BODY_BYTES_MAX,
    DaemonFeatures,
    prompt_text,
)
from adapters.models.store.settings import SettingStore


class UserSettingRoutes:
    def __init__(
        self, catalogue: Catalogue, settings: SettingStore, feature: DaemonFeatures | None = None
    ) -> None:
        self._catalogue = catalogue
        self._settings = settings
        self._feature = feature or DaemonFeatures()

    def endpoints(self) -> Sequence[Endpoint]:
        return (*self._of_models(), *self._of_words(), *self._of_summaries())

    def _of_models(self) -> Iterator[Endpoint]:
        path = "user-personal-model-overrides"
        yield _row(
            "GET",
            path,
            self.overrides,
            summary="Get the models that the user has chosen for themselves.",
            answers={200: wire.PersonalOverrides},
        )
        yield _row(
            "PUT",
            path + "/{context}",
            self.put_override,
            answers={204: None},
            summary="Choose a model for the user's own chats or agents.",
            body=wire.UpdatePersonalOverride,
        )
        path = "user-debug-logging"
        yield _row(
            "GET",
            path,
            self.debug_logging,
            answers={200: wire.UserDebugLogging},
            summary="Get whether the user's model calls are recorded.",
        )
        yield _row(
            "PUT",
            path,
            self.put_debug_logging,
            answers={204: None},
            refusals=(409,),
            summary="Set whether the user's model calls are recorded.",
            body=wire.UpdateUserDebugLogging,
        )

    def _of_words(self) -> Iterator[Endpoint]:
        yield _row(
            "GET",
            "user-prompt",
            self.prompt,
            answers={200: wire.UserPrompt},
            summary="Get the user's own instructions for all of their chats.",
        )
        yield _row(
            "PUT",
            "user-prompt",
            self.put_prompt,
            answers={200: wire.UserPrompt},
            summary="Set the user's own instructions for all of their chats.",
            body=wire.UpdateUserPrompt,
        )

    def _of_summaries(self) -> Iterator[Endpoint]:
        path = "user-compaction-thresholds"
        one = path + "/{modelConfig}"
        yield _row(
            "GET",
            path,
            self.thresholds,
            answers={200: wire.CompactionThresholds},
            summary="Get at which share of the context the user's chats are compacted, by model.",
        )
        yield _row(
            "PUT",
            one,
            self.put_threshold,
            answers={200: wire.CompactionThreshold},
            summary="Set at which share of the context chats with a model are compacted.",
            body=wire.UpdateCompactionThreshold,
        )
        yield _row(
            "DELETE",
            one,
            self.drop_threshold,
            answers={204: None},
            summary="Let the model's own threshold hold for the user's chats again.",
        )

    # models

    async def overrides(self, call: Call) -> HttpResponse:
        settings = (await self._catalogue.snapshot()).settings
        own = (await self._catalogue.own(call.user.id)).settings
        root, general, explore = (
            own_override_json(context, own.override(context)) for context in names.OWN_CONTEXTS
        )
        defaults = wire.DeploymentDefaults(
            override_json("general", settings.override("general")),
            override_json("explore", settings.override("explore")),
        )
        enabled = bool(settings.value(names.ALLOW_OWN_OVERRIDES))
        return json_response(200, wire.PersonalOverrides(enabled, root, general, explore, defaults))

    async def put_override(self, call: Call) -> HttpResponse:
        snapshot = await self._catalogue.snapshot()
        if not snapshot.settings.value(names.ALLOW_OWN_OVERRIDES):
            raise forbidden("an administrator has not enabled personal model overrides")
        context = call.path["context"]
        if context not in names.OWN_CONTEXTS:
            raise invalid("context", f"must be one of {', '.join(names.OWN_CONTEXTS)}")
        asked = call.read(wire.UpdatePersonalOverride)
        mode, id = asked.mode or "", model_id_of(asked.model_config_id)
        _check_mode(context, mode, id)
        own = await self._catalogue.own(call.user.id)
        allow_user_keys = self._catalogue.allow_user_keys
        effort = checked_effort(
            snapshot, id, asked.reasoning_effort, own=own, allow_user_keys=allow_user_keys
        )
        stored = names.own_override_text(mode, id, effort)
        await self._settings.put_own(call.user.id, names.override_name(context), stored)
        return no_content()

    # records of model calls

    async def debug_logging(self, call: Call) -> HttpResponse:
        own = (await self._catalogue.own(call.user.id)).settings
        forced = self._feature.debug_logging_forced
        allowed = not forced and await self._may_toggle()
        wanted = forced or (allowed and own.wants_debug_logging)
        return json_response(200, wire.UserDebugLogging(wanted, allowed, forced))

    async def put_debug_logging(self, call: Call) -> HttpResponse:
        if self._feature.debug_logging_forced:
            raise HttpError(409, "Debug logging is forced by the deployment.")
        if not await self._may_toggle():
            raise forbidden("an administrator has not allowed users to record model calls")
        wanted = call.read(wire.UpdateUserDebugLogging).debug_logging_enabled
        if wanted is None:
            raise invalid("debug_logging_enabled", "is required")
        await self._settings.put_own(call.user.id, names.OWN_DEBUG_LOGGING, wanted)
        return no_content()

    async def _may_toggle(self) -> bool:
        return bool((await self._catalogue.snapshot()).settings.value(names.ALLOW_DEBUG_LOGGING))

    # prompt

    async def prompt(self, call: Call) -> HttpResponse:
        own = (await self._catalogue.own(call.user.id)).settings
        return json_response(200, wire.UserPrompt(own.prompt))

    async def put_prompt(self, call: Call) -> HttpResponse:
        prompt = prompt_text(call.read(wire.UpdateUserPrompt).custom_prompt, "custom_prompt")
        await self._settings.put_own(call.user.id, names.OWN_PROMPT, prompt)
        return json_response(200, wire.UserPrompt(prompt))

    # summaries

    async def thresholds(self, call: Call) -> HttpResponse:
        own = (await self._catalogue.own(call.user.id)).settings
        found = [wire.CompactionThreshold(*each) for each in sorted(own.thresholds.items())]
        return json_response(200, wire.CompactionThresholds(found))

    async def put_threshold(self, call: Call) -> HttpResponse:
        id = call.uuid("modelConfig")
        percent = call.read(wire.UpdateCompactionThreshold).threshold_percent
        if percent is None or not 0 <= percent <= 100:
            raise invalid("threshold_percent", "must be 0 to 100")
        model = (await self._catalogue.snapshot()).models.get(ModelConfigId(id))
        if model is None:
            raise not_found()
        if not model.is_offered:
            raise invalid("model_config_id", f"model {model.model} is disabled")
        await self._settings.put_own(call.user.id, names.threshold_name(id), percent)
        return json_response(200, wire.CompactionThreshold(id, percent))

    async def drop_threshold(self, call: Call) -> HttpResponse:
        name = names.threshold_name(call.uuid("modelConfig"))
        await self._settings.drop_own(call.user.id, name)
        return no_content()


def _row(method: str, path: str, handle: Handler, **more: Any) -> Endpoint:
    return Endpoint(
        method=method,
        path=f"{CONFIG}/{path}",
        handle=handle,
        tag="settings",
        scope="settings",
        body_bytes_max=PROMPT_BODY_BYTES_MAX,
        **more,
    )


def _check_mode(context: str, mode: str, id: UUID | None) -> None:
    if mode not in names.OWN_MODES:
        raise invalid("mode", f"must be one of {', '.join(names.OWN_MODES)}")
    if mode == "deployment_default" and context == "root":
        raise invalid("mode", "there is no deployment default for root")
    if mode == "model" and id is None:
        raise invalid("model_config_id", "is required with mode model")
    if mode != "model" and id is not None:
        raise invalid("model_config_id", f"cannot be set with mode {mode}")
