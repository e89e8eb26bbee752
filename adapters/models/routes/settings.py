"""Settings of the deployment: the endpoints at /chats/config, for administrators.

Some of them only administrators may see; others are answered 404.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
from msgspec import UNSET

from actors.law.parts.vendors import VENDORS
from adapters.http.endpoints import (
    Access,
    Call,
    Endpoint,
    Handler,
    HttpResponse,
    json_response,
    no_content,
)
from adapters.http.refusals import HttpError
from adapters.models import settings as names
from adapters.models.catalogue import Catalogue
from adapters.models.prompt_texts import (
    DEFAULT_SYSTEM_PROMPT,
    PROMPT_BYTES_MAX,
    is_too_long,
    visible_text,
)
from adapters.models.routes import wire
from adapters.models.routes.checks import (
    checked_effort,
    invalid,
    model_id_of,
    override_json,
    without_nil,
)
from adapters.models.store.settings import SettingStore
from adapters.settings import ADVISOR_EXPERIMENT, DESKTOP_EXPERIMENT

CONFIG = "/api/v2/chats/config"
PROMPT_BODY_BYTES_MAX = 262_144
DAYS_MAX = 3_650
TTL_MS_MIN, TTL_MS_MAX = 60_000, 30 * 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class DaemonFeatures:
    """The optional features that the daemon was started with."""

    experiments: frozenset[str] = frozenset()
    debug_logging_forced: bool = False

    def require(self, experiment: str) -> None:
        if experiment not in self.experiments:
            detail = f"the experiment {experiment} is not switched on"
            raise HttpError(403, "This feature is not enabled.", detail=detail)


@dataclass(frozen=True, slots=True)
class NumberSetting:
    """A setting that is one whole number, of one name in the database, path and body."""

    name: str
    field: str
    read_type: Any  # of the answer
    written_type: Any  # of the request
    max_value: int
    help: str
    min_value: int = 1  # of a number other than 0

    def read(self, call: Call) -> int:
        value = getattr(call.read(self.written_type), self.field)
        if value is None:
            raise invalid(self.field, "is required")
        if value != 0 and not self.min_value <= value <= self.max_value:
            limits = f"{self.min_value} to {self.max_value}"
            raise invalid(self.field, f"is {value}, must be 0 or {limits}")
        return int(value)


NUMBERS = (
    NumberSetting(
        "retention-days",
        names.RETENTION_DAYS,
        wire.RetentionDays,
        wire.UpdateRetentionDays,
        DAYS_MAX,
        "after how many days archived chats are deleted; 0: never",
    ),
    NumberSetting(
        "debug-retention-days",
        names.DEBUG_RETENTION_DAYS,
        wire.DebugRetentionDays,
        wire.UpdateDebugRetentionDays,
        DAYS_MAX,
        "after how many days records of model calls are deleted; 0: never",
    ),
    NumberSetting(
        "auto-archive-days",
        names.AUTO_ARCHIVE_DAYS,
        wire.AutoArchiveDays,
        wire.UpdateAutoArchiveDays,
        DAYS_MAX,
        "after how many days without a word chats are archived; 0: never",
    ),
    NumberSetting(
        "workspace-ttl",
        names.WORKSPACE_TTL_MS,
        wire.WorkspaceTTL,
        wire.UpdateWorkspaceTTL,
        TTL_MS_MAX,
        "after how many milliseconds without use a workspace is stopped; 0: never",
        TTL_MS_MIN,
    ),
)


@dataclass(frozen=True, slots=True)
class SettingEndpoints:
    """The two endpoints of one setting: one reads it, with the other administrators set it.

    `handlers` and `wires` have two entries each: of the answer to GET, and of the body of PUT.
    """

    name: str
    seen_by: Access
    handlers: tuple[Handler, Handler]
    wires: tuple[Any, Any]
    help: str

    def endpoints(self) -> tuple[Endpoint, Endpoint]:
        see, put = self.handlers
        answer_type, body_type = self.wires
        see_it = Endpoint(
            method="GET",
            path=f"{CONFIG}/{self.name}",
            handle=see,
            summary=f"Get {self.help}.",
            tag="settings",
            access=self.seen_by,
            scope="settings",
            answers={200: answer_type},
        )
        put_it = replace(
            see_it,
            method="PUT",
            handle=put,
            summary=f"Set {self.help}.",
            access=Access.ADMIN,
            body=body_type,
            body_bytes_max=PROMPT_BODY_BYTES_MAX,
            answers={204: None},
        )
        return see_it, put_it


class SettingRoutes:
    def __init__(
        self, catalogue: Catalogue, settings: SettingStore, feature: DaemonFeatures | None = None
    ) -> None:
        self._catalogue = catalogue
        self._settings = settings
        self._feature = feature or DaemonFeatures()

    def endpoints(self) -> Sequence[Endpoint]:
        hidden, seen = Access.HIDDEN, Access.USER
        rows = (
            SettingEndpoints(
                "system-prompt",
                hidden,
                (self.system_prompt, self.put_system_prompt),
                (wire.SystemPrompt, wire.UpdateSystemPrompt),
                "the system prompt of new chats",
            ),
            SettingEndpoints(
                "plan-mode-instructions",
                hidden,
                (self.plan_mode, self.put_plan_mode),
                (wire.PlanModeInstructions, wire.UpdatePlanModeInstructions),
                "the instructions for chats in plan mode",
            ),
            SettingEndpoints(
                "model-override/{context}",
                hidden,
                (self.override, self.put_override),
                (wire.ModelOverride, wire.UpdateModelOverride),
                "the model of subagents, titles or summaries",
            ),
            SettingEndpoints(
                "personal-model-overrides",
                hidden,
                (self.own_overrides, self.put_own_overrides),
                (wire.AllowUsers, wire.UpdateAllowUsers),
                "whether users may choose these models themselves",
            ),
            SettingEndpoints(
                "debug-logging",
                hidden,
                (self.debug_logging, self.put_debug_logging),
                (wire.DebugLogging, wire.UpdateAllowUsers),
                "whether users may have their model calls recorded",
            ),
            SettingEndpoints(
                "computer-use-provider",
                seen,
                (self.computer_use, self.put_computer_use),
                (wire.ComputerUseProvider, wire.UpdateComputerUseProvider),
                "the provider whose model operates desktops",
            ),
            SettingEndpoints(
                "advisor",
                seen,
                (self.advisor, self.put_advisor),
                (wire.AdvisorConfig, wire.UpdateAdvisorConfig),
                "the model that agents ask for advice",
            ),
            *map(self._number, NUMBERS),
        )
        return tuple(endpoint for row in rows for endpoint in row.endpoints())

    # prompts

    async def system_prompt(self, call: Call) -> HttpResponse:
        settings = (await self._catalogue.snapshot()).settings
        prompt = settings.value(names.SYSTEM_PROMPT)
        included = settings.includes_default_prompt
        return json_response(200, wire.SystemPrompt(prompt, included, DEFAULT_SYSTEM_PROMPT))

    async def put_system_prompt(self, call: Call) -> HttpResponse:
        asked = call.read(wire.UpdateSystemPrompt)
        prompt = prompt_text(asked.system_prompt, "system_prompt")
        settings = (await self._catalogue.snapshot()).settings
        included = asked.include_default_system_prompt
        if included is None:
            included = settings.includes_default_prompt
        await self._settings.put(
            {names.INCLUDE_DEFAULT_SYSTEM_PROMPT: included, names.SYSTEM_PROMPT: prompt}
        )
        return no_content()

    async def plan_mode(self, call: Call) -> HttpResponse:
        settings = (await self._catalogue.snapshot()).settings
        return json_response(
            200, wire.PlanModeInstructions(settings.value(names.PLAN_MODE_INSTRUCTIONS))
        )

    async def put_plan_mode(self, call: Call) -> HttpResponse:
        asked = call.read(wire.UpdatePlanModeInstructions)
        text = prompt_text(asked.plan_mode_instructions, "plan_mode_instructions")
        await self._settings.put({names.PLAN_MODE_INSTRUCTIONS: text})
        return no_content()

    # models

    async def override(self, call: Call) -> HttpResponse:
        context = _context(call)
        settings = (await self._catalogue.snapshot()).settings
        return json_response(200, override_json(context, settings.override(context)))

    async def put_override(self, call: Call) -> HttpResponse:
        context = _context(call)
        asked = call.read(wire.UpdateModelOverride)
        id = model_id_of(asked.model_config_id)
        effort = await self._checked(call, id, asked.reasoning_effort)
        stored = names.override_text(id, effort)
        await self._settings.put({names.override_name(context): stored})
        return no_content()

    async def own_overrides(self, call: Call) -> HttpResponse:
        settings = (await self._catalogue.snapshot()).settings
        return json_response(200, wire.AllowUsers(bool(settings.value(names.ALLOW_OWN_OVERRIDES))))

    async def put_own_overrides(self, call: Call) -> HttpResponse:
        return await self._put_allowed(call, names.ALLOW_OWN_OVERRIDES)

    async def advisor(self, call: Call) -> HttpResponse:
        self._feature.require(ADVISOR_EXPERIMENT)
        stored = (await self._catalogue.snapshot()).settings.value(names.ADVISOR)
        config = msgspec.convert({"enabled": True, **_NO_ADVISOR, **stored}, wire.AdvisorConfig)
        return json_response(200, config)

    async def put_advisor(self, call: Call) -> HttpResponse:
        self._feature.require(ADVISOR_EXPERIMENT)
        asked = call.read(wire.UpdateAdvisorConfig)
        for field in ("max_uses_per_run", "max_output_tokens"):
            if (getattr(asked, field) or 0) < 0:
                raise invalid(field, "must not be negative")
        id = without_nil(asked.model_config_id)
        effort = await self._checked(call, id, asked.reasoning_effort)
        stored = wire.AdvisorConfig(
            enabled=True,
            max_uses_per_run=asked.max_uses_per_run or 0,
            max_output_tokens=asked.max_output_tokens or 0,
            model_config_id=id or wire.NIL,
            reasoning_effort=effort or UNSET,
        )
        await self._settings.put({names.ADVISOR: stored})
        return no_content()

    async def computer_use(self, call: Call) -> HttpResponse:
        self._feature.require(DESKTOP_EXPERIMENT)
        settings = (await self._catalogue.snapshot()).settings
        return json_response(
            200, wire.ComputerUseProvider(settings.value(names.COMPUTER_USE_PROVIDER))
        )

    async def put_computer_use(self, call: Call) -> HttpResponse:
        self._feature.require(DESKTOP_EXPERIMENT)
        provider = call.read(wire.UpdateComputerUseProvider).provider
        able = [vendor.type for vendor in VENDORS if vendor.desktop_model]
        if provider not in able:
            raise invalid("provider", f"must be {' or '.join(able)}")
        await self._settings.put({names.COMPUTER_USE_PROVIDER: provider})
        return no_content()

    # records of model calls

    async def debug_logging(self, call: Call) -> HttpResponse:
        settings = (await self._catalogue.snapshot()).settings
        allowed = bool(settings.value(names.ALLOW_DEBUG_LOGGING))
        return json_response(200, wire.DebugLogging(allowed, self._feature.debug_logging_forced))

    async def put_debug_logging(self, call: Call) -> HttpResponse:
        return await self._put_allowed(call, names.ALLOW_DEBUG_LOGGING)

    async def _put_allowed(self, call: Call, name: str) -> HttpResponse:
        asked = call.read(wire.UpdateAllowUsers)
        if asked.allow_users is None:
            raise invalid("allow_users", "is required")
        await self._settings.put({name: asked.allow_users})
        return no_content()

    async def _checked(self, call: Call, id: Any, effort: str | None) -> str | None:
        snapshot = await self._catalogue.snapshot()
        own = await self._catalogue.own(call.user.id)
        return checked_effort(
            snapshot, id, effort, own=own, allow_user_keys=self._catalogue.allow_user_keys
        )

    # numbers

    def _number(self, number: NumberSetting) -> SettingEndpoints:
        async def show(call: Call) -> HttpResponse:
            settings = (await self._catalogue.snapshot()).settings
            return json_response(200, number.read_type(settings.value(number.field)))

        async def put(call: Call) -> HttpResponse:
            await self._settings.put({number.field: number.read(call)})
            return no_content()

        wires = (number.read_type, number.written_type)
        return SettingEndpoints(number.name, Access.USER, (show, put), wires, number.help)


_NO_ADVISOR = {"max_uses_per_run": 0, "max_output_tokens": 0, "model_config_id": str(wire.NIL)}


def prompt_text(text: str | None, field: str) -> str:
    """Return a text as a model may read it; refuse one that is too long."""
    if text is None:
        raise invalid(field, "is required")
    clean = visible_text(text)
    if is_too_long(clean):
        raise invalid(field, f"has {len(clean.encode())} bytes, may have {PROMPT_BYTES_MAX}")
    return clean


def _context(call: Call) -> str:
    context = call.path["context"]
    if context not in names.CONTEXTS:
        raise invalid("context", f"must be one of {', '.join(names.CONTEXTS)}")
    return context
