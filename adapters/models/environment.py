"""What the environment offers: a key that is there is a provider, without any further step. Pure.

ANTHROPIC_API_KEY    [ANTHROPIC_BASE_URL]
OPENAI_API_KEY       [OPENAI_BASE_URL]
GEMINI_API_KEY, GOOGLE_API_KEY  [GEMINI_BASE_URL]
OPENROUTER_API_KEY   [OPENROUTER_BASE_URL]
AI_GATEWAY_API_KEY   [AI_GATEWAY_BASE_URL]   (Vercel)
AZURE_OPENAI_API_KEY, AZURE_OPENAI_BASE_URL
OPENAI_COMPAT_BASE_URL  [OPENAI_COMPAT_API_KEY]   vLLM, Ollama and their like
AWS_…                (Bedrock; see adapters/models/providers/bedrock/credentials.py)

PROMPTCORNER_MODEL=provider/model   the model of chats that name none
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from adapters.models.configured import (
    NEED_BASE_URL,
    ModelConfig,
    ProviderConfig,
    misconfigured,
    named_model,
    named_provider,
)
from adapters.models.providers.bedrock.credentials import ambient, region_of
from adapters.settings.refusals import CannotStart

MODEL = "PROMPTCORNER_MODEL"


@dataclass(frozen=True, slots=True)
class _Vendor:
    type: str
    keys: tuple[str, ...]
    base_url: str
    model: str  # for chats that name none, where PROMPTCORNER_MODEL does not say either
    needs_key: bool = True


_VENDORS = (
    _Vendor("anthropic", ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", "claude-sonnet-4-5"),
    _Vendor("openai", ("OPENAI_API_KEY",), "OPENAI_BASE_URL", "gpt-5"),
    _Vendor("google", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "GEMINI_BASE_URL", "gemini-2.5-pro"),
    _Vendor("openrouter", ("OPENROUTER_API_KEY",), "OPENROUTER_BASE_URL", "openrouter/auto"),
    _Vendor("vercel", ("AI_GATEWAY_API_KEY",), "AI_GATEWAY_BASE_URL", "openai/gpt-5"),
    _Vendor("azure", ("AZURE_OPENAI_API_KEY",), "AZURE_OPENAI_BASE_URL", "gpt-5"),
    _Vendor(
        "openai-compat",
        ("OPENAI_COMPAT_API_KEY",),
        "OPENAI_COMPAT_BASE_URL",
        "default",
        needs_key=False,
    ),
)
_BEDROCK_MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"  # wherever the region is


def offered(environ: Mapping[str, str]) -> tuple[ModelConfig, ...]:
    """One model for each provider that is there, the default first; none: there is no key."""
    models = tuple(_chosen(environ))
    for model in models:
        if (wrong := misconfigured(model.provider, model.model)) is not None:
            raise CannotStart(f"config: model {model}", wrong)
    return models


def _chosen(environ: Mapping[str, str]) -> Iterable[ModelConfig]:
    models = {model.provider.name: model for model in _found(environ)}
    wanted = _said(environ, MODEL)
    if not wanted:
        return models.values()
    provider, _, name = wanted.partition("/")
    if not (provider and name):
        raise CannotStart("config", f"{MODEL}={wanted}, must be provider/model")
    if provider not in models:
        there = ", ".join(models) or "none"
        raise CannotStart("config", f"{MODEL}={wanted}, but the providers with a key are: {there}")
    first = _model(models.pop(provider).provider, name)
    return (first, *models.values())


def _found(environ: Mapping[str, str]) -> Iterator[ModelConfig]:
    for vendor in _VENDORS:
        variable = next((name for name in vendor.keys if _said(environ, name)), "")
        base_url = _said(environ, vendor.base_url) or None
        if (variable or not vendor.needs_key) and (base_url or vendor.type not in NEED_BASE_URL):
            id, key = named_provider(vendor.type), _said(environ, variable)
            found = ProviderConfig(id, vendor.type, vendor.type, key, base_url)
            yield _model(replace(found, variable=variable or vendor.base_url), vendor.model)
    if credentials := ambient(environ):
        id = named_provider("bedrock")
        region = region_of(environ)
        bedrock = ProviderConfig(id, "bedrock", "bedrock", credentials=credentials, region=region)
        yield _model(replace(bedrock, variable="AWS credentials"), _BEDROCK_MODEL)


def _said(environ: Mapping[str, str], name: str) -> str:
    """Blanks around it come with files and quotes; alone they say nothing."""
    return environ.get(name, "").strip()


def _model(provider: ProviderConfig, name: str) -> ModelConfig:
    return ModelConfig(named_model(provider.name, name), provider, name)
