"""The settings of the deployment and of users, by name, and how they are stored. Pure.

A model that stands in for another is stored as `<uuid>[:<effort>]`, a user's own choice of one as
`chat_default`, `deployment_default` or `model:<uuid>[:<effort>]`. A value that cannot be read
counts as not set, and is marked as malformed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.law.ids import ModelConfigId
from actors.law.parts.prompt import EFFORTS
from actors.law.parts.vendors import ANTHROPIC
from adapters.models.prompt_texts import DEFAULT_SYSTEM_PROMPT

CONTEXTS = ("general", "explore", "title_generation", "compaction")  # of the deployment
OWN_CONTEXTS = ("root", "general", "explore")  # of a user
OWN_MODES = ("chat_default", "deployment_default", "model")

SYSTEM_PROMPT = "system_prompt"
INCLUDE_DEFAULT_SYSTEM_PROMPT = "include_default_system_prompt"
PLAN_MODE_INSTRUCTIONS = "plan_mode_instructions"
ALLOW_OWN_OVERRIDES = "personal_model_overrides"
COMPUTER_USE_PROVIDER = "computer_use_provider"
ALLOW_DEBUG_LOGGING = "debug_logging"
ADVISOR = "advisor"
WORKSPACE_TTL_MS = "workspace_ttl_ms"
RETENTION_DAYS = "retention_days"
DEBUG_RETENTION_DAYS = "debug_retention_days"
AUTO_ARCHIVE_DAYS = "auto_archive_days"
MODEL_PRICES = "model_prices"  # that administrators state, by "provider/model"
DEFAULT_PRICE = "default_model_price"  # of models without one; none: a limit refuses these
SPEND_LIMITED = "spend_limited"  # whether there is any limit; written with the limits themselves

OWN_PROMPT = "custom_prompt"
OWN_DEBUG_LOGGING = "debug_logging"

# The values that hold if nothing is set.
DEFAULTS: Mapping[str, Any] = {
    SYSTEM_PROMPT: "",
    PLAN_MODE_INSTRUCTIONS: "",
    ALLOW_OWN_OVERRIDES: False,
    COMPUTER_USE_PROVIDER: ANTHROPIC.type,
    ALLOW_DEBUG_LOGGING: False,
    ADVISOR: {},
    WORKSPACE_TTL_MS: 0,
    RETENTION_DAYS: 30,
    DEBUG_RETENTION_DAYS: 30,
    AUTO_ARCHIVE_DAYS: 0,
    MODEL_PRICES: {},
    DEFAULT_PRICE: None,
    SPEND_LIMITED: False,
}


def override_name(context: str) -> str:
    """Return the name of the setting that overrides a model in a context."""
    return f"model_override/{context}"


def threshold_name(model: UUID) -> str:
    """Return the name of the setting that says when chats of a model are compacted."""
    return f"{_THRESHOLD}{model}"


_THRESHOLD = "compaction_threshold/"
_PERCENTAGES = frozenset(map(str, range(101)))


@dataclass(frozen=True, slots=True)
class Override:
    """A model that stands in for another. `id` is None if none is set."""

    id: ModelConfigId | None = None
    effort: str | None = None
    is_malformed: bool = False


@dataclass(frozen=True, slots=True)
class UserOverride:
    """A user's own choice of a model."""

    mode: str
    model: Override = Override()
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class AdvisorSettings:
    """The settings of the model that agents ask for advice.

    0 means no limit to uses, and the default number of tokens.
    """

    uses_max: int = 0  # in one turn
    output_tokens_max: int = 0
    model: Override = Override()  # none: the chat's own


@dataclass(frozen=True, slots=True)
class DeploymentSettings:
    """The settings that an administrator has made for all."""

    values: Mapping[str, Any]

    def value(self, name: str) -> Any:
        return self.values.get(name, DEFAULTS[name])

    @property
    def includes_default_prompt(self) -> bool:
        """Return whether new chats begin with the default system prompt.

        If nothing was set, they do, unless there is a prompt of the deployment's own from before.
        """
        return bool(self.values.get(INCLUDE_DEFAULT_SYSTEM_PROMPT, not self.value(SYSTEM_PROMPT)))

    @property
    def system_prompt(self) -> str:
        """Return the system prompt that every new chat begins with."""
        default = DEFAULT_SYSTEM_PROMPT if self.includes_default_prompt else ""
        return "\n\n".join(filter(None, (default, self.value(SYSTEM_PROMPT))))

    def override(self, context: str) -> Override:
        return _override(self.values.get(override_name(context)))

    @property
    def advisor(self) -> AdvisorSettings:
        stored = self.value(ADVISOR)
        id, effort = stored.get("model_config_id"), stored.get("reasoning_effort")
        model = _override(override_text(id, effort))
        return AdvisorSettings(
            int(stored.get("max_uses_per_run", 0)),
            int(stored.get("max_output_tokens", 0)),
            model if model.id is not None and model.id.int else Override(),
        )


@dataclass(frozen=True, slots=True)
class UserSettings:
    """The settings that a user has made for themselves."""

    values: Mapping[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.values.get(OWN_PROMPT, ""))

    @property
    def wants_debug_logging(self) -> bool:
        return bool(self.values.get(OWN_DEBUG_LOGGING, False))

    def override(self, context: str) -> UserOverride:
        stored = self.values.get(override_name(context))
        usual = "chat_default" if context == "root" else "deployment_default"
        if stored is None:
            return UserOverride(usual)
        mode, _, rest = str(stored).partition(":")
        if mode == "model":
            model = _override(rest)
            is_sound = model.id is not None
            return UserOverride("model" if is_sound else usual, model, is_set=True)
        is_known = mode in OWN_MODES and not (mode == "deployment_default" and context == "root")
        return UserOverride(
            mode if is_known else usual, Override(is_malformed=not is_known), is_set=True
        )

    @property
    def thresholds(self) -> Mapping[UUID, int]:
        """Return at how many percent of its context a model's chats are compacted, by model.

        A stored value that is no percentage is ignored, because a chat must not fail for it.
        """
        return {
            UUID(name.removeprefix(_THRESHOLD)): int(percent)
            for name, percent in self.values.items()
            if name.startswith(_THRESHOLD) and str(percent) in _PERCENTAGES
        }


def override_text(id: UUID | str | None, effort: str | None) -> str:
    """Return a model that stands in for another, as it is stored."""
    return "" if id is None else f"{id}:{effort}" if effort else str(id)


def own_override_text(mode: str, id: UUID | None, effort: str | None) -> str:
    """Return a user's own choice of a model, as it is stored."""
    return f"model:{override_text(id, effort)}" if mode == "model" else mode


def _override(stored: object) -> Override:
    if not stored:
        return Override()
    id, _, effort = str(stored).partition(":")
    try:
        if effort and effort not in EFFORTS:
            raise ValueError(effort)
        return Override(ModelConfigId(UUID(id)), effort or None)
    except ValueError:
        return Override(is_malformed=True)
