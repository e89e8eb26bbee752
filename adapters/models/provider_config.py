"""Providers and models as they are set up, and those that the environment offers. Pure.

A key in the environment is a provider, without further steps. The variables stand in
`actors.law.parts.vendors`; PROMPTCORNER_MODEL=provider/model says which model is asked by chats
that name none. Keys stay out of every repr.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from actors.chat.turn.ports import ConfiguredProvider
from actors.law.ids import ModelConfigId
from actors.law.parts.prompt import EFFORTS, CallSettings, ComputerUse, Effort, ProviderTool
from actors.law.parts.vendors import OPENAI, VENDORS, Login, Vendor, vendor_of
from actors.tools.desktop.geometry import FOR_OPENAI, NATIVE, size_for_anthropic
from adapters.models.providers.bedrock.aws import Credentials, aws_credentials, region_of
from adapters.models.providers.dial import split_url
from adapters.settings.refusals import CannotStart

MODEL = "PROMPTCORNER_MODEL"  # provider/model: the model of chats that name none

# The namespace of ids that are made of names, so that they are the same in every process and start.
_NAMES = UUID("6f1f3d06-6a0c-4d2e-9a52-0d4f2f6d9b51")


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """One provider as it is set up; two keys of one vendor are two of these."""

    id: UUID
    type: str  # of its vendor
    name: str
    key: str = field(repr=False, default="")
    base_url: str | None = None  # None: the vendor's own
    credentials: Credentials | None = field(repr=False, default=None)  # of bedrock
    region: str = ""  # of bedrock
    variable: str = ""  # of the environment that sets it up; empty if it is stored
    # Of a plugin: the provider itself, which is not made by us.
    ready_made: ConfiguredProvider | None = field(repr=False, default=None)

    @property
    def vendor(self) -> Vendor:
        """Return the facts about its vendor."""
        return vendor_of(self.type)


DEFAULT_SETTINGS = CallSettings()


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """One model of a provider, and how it is called."""

    id: ModelConfigId
    provider: ProviderConfig
    model: str
    settings: CallSettings = DEFAULT_SETTINGS
    # The highest that a chat may ask for. None: the effort of the settings.
    effort_max: Effort | None = None
    provider_tools: tuple[ProviderTool, ...] = ()
    context_limit: int | None = None
    use_responses_api: bool | None = None  # None: by the name of the model

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.model}"


def with_effort(config: ModelConfig, wanted: str | None) -> CallSettings:
    """Return a model's settings with the effort of a chat.

    The chat's effort counts if the configuration has one, and never beyond its highest.
    """
    settings = config.settings
    if settings.effort is None:
        return settings
    asked = wanted if wanted in EFFORTS else settings.effort
    highest = config.effort_max or settings.effort
    return replace(settings, effort=min(asked, highest, key=EFFORTS.index))


def desktop_config(config: ModelConfig, provider: ProviderConfig) -> ModelConfig:
    """Return how a vendor's model that operates desktops is called, for a chat whose own model is
    called like this."""
    vendor = provider.vendor
    size = FOR_OPENAI if vendor is OPENAI else size_for_anthropic(NATIVE)
    own = config.provider_tools if vendor is config.provider.vendor else ()
    return replace(
        config,
        provider=provider,
        model=vendor.desktop_model,
        provider_tools=(*own, ComputerUse(size.width, size.height)),
        use_responses_api=True,
    )


def named_provider(name: str) -> UUID:
    """Return the id of a provider that is known by its name alone."""
    return uuid5(_NAMES, f"provider/{name}")


def named_model(provider: str, model: str) -> ModelConfigId:
    """Return the id of a model that is known by its name alone."""
    return ModelConfigId(uuid5(_NAMES, f"model/{provider}/{model}"))


def misconfiguration(provider: ProviderConfig, model: str) -> str | None:
    """Return what is wrong with a provider or model and would only come out in a call.

    None: nothing that we know of.
    """
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


def models_of_environment(
    environ: Mapping[str, str], of_plugins: Sequence[ModelConfig] = (), *, is_whole: bool = True
) -> tuple[ModelConfig, ...]:
    """Return one model for each provider with a key, and those of plugins; the default first.

    `is_whole`: there will be no others, so a default that is not among them is refused.
    """
    models = tuple(_models(environ, of_plugins, is_whole=is_whole))
    for model in models:
        if (wrong := misconfiguration(model.provider, model.model)) is not None:
            raise CannotStart(f"config: model {model}", wrong)
    return models


def _models(
    environ: Mapping[str, str], of_plugins: Sequence[ModelConfig], *, is_whole: bool
) -> Iterable[ModelConfig]:
    found = (*_providers_found(environ), *of_plugins)
    wanted = _value(environ, MODEL)
    if not wanted:
        return found
    provider, _, name = wanted.partition("/")
    if not (provider and name):
        raise CannotStart("config", f"{MODEL}={wanted}, must be provider/model")
    its_own = [model for model in found if model.provider.name == provider]
    others = [model for model in found if model.provider.name != provider]
    if not its_own and is_whole:
        there = ", ".join(dict.fromkeys(model.provider.name for model in found)) or "none"
        raise CannotStart("config", f"{MODEL}={wanted}, but the providers with a key are: {there}")
    if its_own and its_own[0].provider.ready_made is None:  # a vendor may have any model
        return (_model(its_own[0].provider, name), *others)
    named = [model for model in its_own if model.model == name]
    if its_own and not named:
        there = ", ".join(model.model for model in its_own)
        raise CannotStart("config", f"{MODEL}={wanted}, but {provider} has: {there}")
    return (*named, *(model for model in found if model not in named))


def _providers_found(environ: Mapping[str, str]) -> Iterator[ModelConfig]:
    for vendor in VENDORS:
        found = (
            _provider_of_aws(vendor, environ)
            if vendor.login is Login.AWS
            else _provider_with_key(vendor, environ)
        )
        if found is not None:
            yield _model(found, vendor.default_model)


def _provider_with_key(vendor: Vendor, environ: Mapping[str, str]) -> ProviderConfig | None:
    """Return the provider whose key the environment has; None: something it needs is missing."""
    keys = vendor.key.names if vendor.key else ()
    places = vendor.base_url_variable.names if vendor.base_url_variable else ()
    variable = next((name for name in keys if _value(environ, name)), "")
    place = next((name for name in places if _value(environ, name)), "")
    if not (variable or (place and vendor.login is Login.OPTIONAL_KEY)):
        return None
    if vendor.needs_base_url and not place:
        return None
    return ProviderConfig(
        named_provider(vendor.type),
        vendor.type,
        vendor.type,
        _value(environ, variable),
        _value(environ, place) or None,
        variable=variable or place,
    )


def _provider_of_aws(vendor: Vendor, environ: Mapping[str, str]) -> ProviderConfig | None:
    """Return the provider that AWS credentials of the environment stand for, if there are any."""
    credentials = aws_credentials(environ)
    if credentials is None:
        return None
    return ProviderConfig(
        named_provider(vendor.type),
        vendor.type,
        vendor.type,
        credentials=credentials,
        region=region_of(environ),
        variable="AWS credentials",
    )


def _value(environ: Mapping[str, str], name: str) -> str:
    """Return a variable without the blanks around it, which come with files and quotes.

    A value of nothing but blanks is empty.
    """
    return environ.get(name, "").strip()


def _model(provider: ProviderConfig, name: str) -> ModelConfig:
    return ModelConfig(named_model(provider.name, name), provider, name)
