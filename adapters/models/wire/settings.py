"""Settings of the deployment and of users, and users' skills, as clients write and see them. Pure.

In what clients write null is as good as absent.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from msgspec import UNSET, Struct, UnsetType

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
