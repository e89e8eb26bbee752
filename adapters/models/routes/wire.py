"""The JSON of providers, keys, models, settings and skills. Pure.

No answer ever has a key in it. In requests null means the same as a field that is left out.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

import msgspec
from msgspec import UNSET, Struct, UnsetType

from adapters.http.schemas import REQUIRED
from adapters.models.call_config import CallConfig


class AIProviderKey(Struct, frozen=True):
    id: UUID
    masked: str
    created_at: datetime


class BedrockSettings(Struct, frozen=True, kw_only=True):
    type: str = msgspec.field(name="_type", default="bedrock")
    version: int = msgspec.field(name="_version", default=1)
    region: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    small_fast_model: str | UnsetType = UNSET
    protocol: str | UnsetType = UNSET


class AIProvider(Struct, frozen=True, kw_only=True):
    id: UUID
    type: str
    name: str
    display_name: str
    icon: str
    enabled: bool
    base_url: str
    api_keys: Sequence[AIProviderKey]
    settings: BedrockSettings | None
    created_at: datetime
    updated_at: datetime
    source: str  # database, environment, rehearsal: only the first can be changed here
    fault: str | UnsetType = UNSET  # why its key cannot be used


class WrittenBedrockSettings(Struct, frozen=True, kw_only=True):
    """The settings of a bedrock provider, as they are written.

    `access_key` and `access_key_secret` are never shown again; if both are left out, they stay.
    """

    region: str | None = None
    model: str | None = None
    small_fast_model: str | None = None
    access_key: str | None = None
    access_key_secret: str | None = None
    role_arn: str | None = None
    protocol: str | None = None

    def __repr__(self) -> str:
        return f"WrittenBedrockSettings(region={self.region!r})"


class CreateAIProviderRequest(Struct, frozen=True, kw_only=True):
    type: Annotated[str | None, REQUIRED] = None
    name: Annotated[str | None, REQUIRED] = None
    display_name: str | None = None
    icon: str | None = None
    enabled: bool | None = None
    base_url: Annotated[str | None, REQUIRED] = None
    api_keys: Sequence[str] | None = None
    settings: WrittenBedrockSettings | None = None

    def __repr__(self) -> str:
        return f"CreateAIProviderRequest(name={self.name!r})"


class AIProviderKeyChange(Struct, frozen=True, kw_only=True):
    """One key of a provider: one that stays (`id`), or a new one (`api_key`)."""

    id: UUID | None = None
    api_key: str | None = None

    def __repr__(self) -> str:
        return f"AIProviderKeyChange(id={self.id})"


class UpdateAIProviderRequest(Struct, frozen=True, kw_only=True):
    display_name: str | None = None
    icon: str | None = None
    enabled: bool | None = None
    base_url: str | None = None
    api_keys: Sequence[AIProviderKeyChange] | None = None
    settings: WrittenBedrockSettings | None = None

    def __repr__(self) -> str:
        return "UpdateAIProviderRequest()"


class AIProviderSummary(Struct, frozen=True, kw_only=True):
    id: UUID
    type: str
    name: str
    display_name: str
    icon: str
    enabled: bool
    deleted: bool = False


class UserAIProviderKeyConfig(Struct, frozen=True, kw_only=True):
    provider: AIProviderSummary
    has_user_api_key: bool
    has_provider_api_key: bool
    byok_enabled: bool


class UpsertUserAIProviderKeyRequest(Struct, frozen=True):
    api_key: Annotated[str | None, REQUIRED] = None

    def __repr__(self) -> str:
        return "UpsertUserAIProviderKeyRequest()"


class ChatModelConfig(Struct, frozen=True, kw_only=True):
    id: UUID
    organization_id: UUID
    ai_provider_id: UUID
    provider: str  # the type of its provider; "": it was deleted
    model: str
    display_name: str
    enabled: bool
    is_default: bool
    context_limit: int
    compression_threshold: int
    model_config: CallConfig | UnsetType = UNSET
    reasoning_efforts: Sequence[str] | UnsetType = UNSET
    created_at: datetime
    updated_at: datetime
    source: str
    # Sentences about what is switched on and has no effect at this model.
    warnings: Sequence[str] | UnsetType = UNSET


class WriteChatModelConfigRequest(Struct, frozen=True, kw_only=True):
    """A model to add or to change; what is left out of a change stays."""

    ai_provider_id: UUID | None = None
    model: str | None = None
    display_name: str | None = None
    enabled: bool | None = None
    is_default: bool | None = None
    context_limit: int | None = None
    compression_threshold: int | None = None
    model_config: CallConfig | None = None


class KnownChatModel(Struct, frozen=True):
    """A model that a vendor is known to have."""

    model: str
    display_name: str
    context_limit: int


class ChatModel(Struct, frozen=True, kw_only=True):
    id: str
    provider: str
    model: str
    display_name: str


class ChatModelProvider(Struct, frozen=True, kw_only=True):
    provider: str
    available: bool
    unavailable_reason: str | UnsetType = UNSET
    models: Sequence[ChatModel]


class UnsupportedProvider(Struct, frozen=True):
    provider: str
    display_name: str


class ChatModelsResponse(Struct, frozen=True):
    providers: Sequence[ChatModelProvider]
    unsupported_providers: Sequence[UnsupportedProvider]


class ChatModelProviderDescriptor(Struct, frozen=True, kw_only=True):
    """A provider as users may know of it: whether they can ask it, and if not why."""

    id: UUID
    type: str
    display_name: str
    icon: str
    enabled: bool
    has_api_key: bool
    has_user_api_key: bool
    has_effective_api_key: bool
    allow_user_api_key: bool
    available: bool
    unavailable_reason: str | UnsetType = UNSET


class OrganizationChatModels(Struct, frozen=True):
    """The models of an organization, and the providers that have them."""

    models: Sequence[ChatModelConfig]
    providers: Sequence[ChatModelProviderDescriptor]
    unsupported_providers: Sequence[UnsupportedProvider]


NIL = UUID(int=0)


class SystemPrompt(Struct, frozen=True):
    system_prompt: str
    include_default_system_prompt: bool
    default_system_prompt: str


class UpdateSystemPrompt(Struct, frozen=True):
    system_prompt: str | None = None
    include_default_system_prompt: bool | None = None


class PlanModeInstructions(Struct, frozen=True):
    plan_mode_instructions: str


class UpdatePlanModeInstructions(Struct, frozen=True):
    plan_mode_instructions: str | None = None


class ModelOverride(Struct, frozen=True, kw_only=True):
    context: str
    model_config_id: str  # "": none is set
    reasoning_effort: str | UnsetType = UNSET
    is_malformed: bool = False


class UpdateModelOverride(Struct, frozen=True):
    model_config_id: str | None = None
    reasoning_effort: str | None = None


class AllowUsers(Struct, frozen=True):
    allow_users: bool


class UpdateAllowUsers(Struct, frozen=True):
    allow_users: bool | None = None


class PersonalOverride(Struct, frozen=True, kw_only=True):
    context: str
    mode: str
    model_config_id: str
    reasoning_effort: str | UnsetType = UNSET
    is_set: bool
    is_malformed: bool


class DeploymentDefaults(Struct, frozen=True):
    general: ModelOverride
    explore: ModelOverride


class PersonalOverrides(Struct, frozen=True):
    enabled: bool
    root: PersonalOverride
    general: PersonalOverride
    explore: PersonalOverride
    deployment_defaults: DeploymentDefaults


class UpdatePersonalOverride(Struct, frozen=True):
    mode: str | None = None
    model_config_id: str | None = None
    reasoning_effort: str | None = None


class ComputerUseProvider(Struct, frozen=True):
    provider: str


class UpdateComputerUseProvider(Struct, frozen=True):
    provider: str | None = None


class DebugLogging(Struct, frozen=True):
    allow_users: bool
    forced_by_deployment: bool


class UserDebugLogging(Struct, frozen=True):
    debug_logging_enabled: bool
    user_toggle_allowed: bool
    forced_by_deployment: bool


class UpdateUserDebugLogging(Struct, frozen=True):
    debug_logging_enabled: bool | None = None


class AdvisorConfig(Struct, frozen=True, kw_only=True):
    enabled: bool
    max_uses_per_run: int
    max_output_tokens: int
    model_config_id: UUID
    reasoning_effort: str | UnsetType = UNSET


class UpdateAdvisorConfig(Struct, frozen=True, kw_only=True):
    max_uses_per_run: int | None = None
    max_output_tokens: int | None = None
    model_config_id: UUID | None = None
    reasoning_effort: str | None = None


class UserPrompt(Struct, frozen=True):
    custom_prompt: str


class UpdateUserPrompt(Struct, frozen=True):
    custom_prompt: str | None = None


class CompactionThreshold(Struct, frozen=True):
    model_config_id: UUID
    threshold_percent: int


class CompactionThresholds(Struct, frozen=True):
    thresholds: Sequence[CompactionThreshold]


class UpdateCompactionThreshold(Struct, frozen=True):
    threshold_percent: int | None = None


class WorkspaceTTL(Struct, frozen=True):
    workspace_ttl_ms: int


class UpdateWorkspaceTTL(Struct, frozen=True):
    workspace_ttl_ms: int | None = None


class RetentionDays(Struct, frozen=True):
    retention_days: int


class UpdateRetentionDays(Struct, frozen=True):
    retention_days: int | None = None


class DebugRetentionDays(Struct, frozen=True):
    debug_retention_days: int


class UpdateDebugRetentionDays(Struct, frozen=True):
    debug_retention_days: int | None = None


class AutoArchiveDays(Struct, frozen=True):
    auto_archive_days: int


class UpdateAutoArchiveDays(Struct, frozen=True):
    auto_archive_days: int | None = None


class UserSkillMetadata(Struct, frozen=True, kw_only=True):
    id: UUID
    name: str
    description: str
    created_at: datetime
    updated_at: datetime


class UserSkill(UserSkillMetadata, frozen=True, kw_only=True):
    content: str


class WriteUserSkillRequest(Struct, frozen=True):
    content: str | None = None
