"""The one module that a plugin imports: `from promptcorner import ext` (docs/plugins.md).

tools      makes tools of typed async functions
arguments  makes the schema of a tool's arguments, and reads them
providers  says what a provider of models is
identity   says what an identity source is
testing    checks for the author's own tests, which the daemon's own parts pass as well

Everything that is named here stays as it is within one `API_VERSION`: names and fields may be
added, and none goes or changes its meaning. `tests/promptcorner/ext/test_surface.py` holds that.
"""

from msgspec import Meta

from actors.law.parts.deltas import (
    AnswerFinished,
    Delta,
    FailureKind,
    FileMade,
    FinishReason,
    ReasoningDelta,
    ReasoningEnded,
    SourceFound,
    TextDelta,
    TextEnded,
    ToolCall,
    ToolInputDelta,
    ToolInputStarted,
    UsageReported,
)
from actors.law.parts.message import (
    FilePart,
    JsonText,
    ReasoningPart,
    TextPart,
    TokenUsage,
    ToolCallPart,
    ToolResultPart,
)
from actors.law.parts.prompt import (
    AssistantOutput,
    CallSettings,
    Prompt,
    ToolAnswer,
    ToolDefinition,
    ToolResults,
    UserInput,
)
from promptcorner.ext.identity import Identity, IdentityRequest, IdentitySource
from promptcorner.ext.providers import ModelProvider, PluginModel, ProviderError
from promptcorner.ext.tools import CallResult, PluginTool, ToolContext, ToolFailure, tool

API_VERSION = 1  # of this module; a plugin says in PROMPTCORNER_API which one it was written for

__all__ = [
    "API_VERSION",
    "AnswerFinished",
    "AssistantOutput",
    "CallResult",
    "CallSettings",
    "Delta",
    "FailureKind",
    "FileMade",
    "FilePart",
    "FinishReason",
    "Identity",
    "IdentityRequest",
    "IdentitySource",
    "JsonText",
    "Meta",
    "ModelProvider",
    "PluginModel",
    "PluginTool",
    "Prompt",
    "ProviderError",
    "ReasoningDelta",
    "ReasoningEnded",
    "ReasoningPart",
    "SourceFound",
    "TextDelta",
    "TextEnded",
    "TextPart",
    "TokenUsage",
    "ToolAnswer",
    "ToolCall",
    "ToolCallPart",
    "ToolContext",
    "ToolDefinition",
    "ToolFailure",
    "ToolInputDelta",
    "ToolInputStarted",
    "ToolResultPart",
    "ToolResults",
    "UsageReported",
    "UserInput",
    "tool",
]
