"""A provider and a model as somebody set them up. Pure data; keys stay out of every repr."""

from dataclasses import dataclass, field
from uuid import UUID, uuid5

from actors.law.ids import ModelConfigId
from actors.law.parts.prompt import CallSettings, Effort, ProviderTool
from actors.law.parts.vendors import Vendor, vendor_of
from adapters.models.providers.bedrock.aws import Credentials
from adapters.models.providers.dial import split_url

# Ids of what is configured by name only: the same name is the same id in every process and start.
_NAMES = UUID("6f1f3d06-6a0c-4d2e-9a52-0d4f2f6d9b51")


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One instance: two keys of one vendor are two of these."""

    id: UUID
    type: str  # of its vendor
    name: str
    key: str = field(repr=False, default="")
    base_url: str | None = None  # None: the vendor's own
    credentials: Credentials | None = field(repr=False, default=None)  # of bedrock
    region: str = ""  # of bedrock
    variable: str = ""  # of the environment, that it comes from

    @property
    def vendor(self) -> Vendor:
        """Return the facts about its vendor."""
        return vendor_of(self.type)


DEFAULT_SETTINGS = CallSettings()


@dataclass(frozen=True, slots=True)
class ModelConfig:
    id: ModelConfigId
    provider: ProviderConfig
    model: str
    settings: CallSettings = DEFAULT_SETTINGS
    effort_max: Effort | None = None  # that a chat may ask for; None: the effort of the settings
    provider_tools: tuple[ProviderTool, ...] = ()
    context_limit: int | None = None
    use_responses_api: bool | None = None  # None: by the name of the model

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.model}"


def named_provider(name: str) -> UUID:
    return uuid5(_NAMES, f"provider/{name}")


def named_model(provider: str, model: str) -> ModelConfigId:
    return ModelConfigId(uuid5(_NAMES, f"model/{provider}/{model}"))


def misconfigured(provider: ProviderConfig, model: str) -> str | None:
    """What is wrong with them and would only come out when asked; None: nothing we know of."""
    if provider.base_url is None:
        return "needs a base URL" if provider.vendor.needs_base_url else None
    try:
        origin, _ = split_url(provider.base_url)
    except ValueError as error:
        return str(error)
    for host, type in provider.vendor.foreign_hosts:
        if f".{origin.host}".endswith(f".{host}") and "/" in model:
            other = vendor_of(type)
            return f"the base URL is that of {other.name}, which needs a provider of type {type}"
    return None
