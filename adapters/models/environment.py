"""Providers that the environment offers: a key that is there is one, without further steps. Pure.

The variables stand in `actors.law.parts.vendors`. PROMPTCORNER_MODEL=provider/model says which
model is asked by chats that name none.
"""

from collections.abc import Iterable, Iterator, Mapping

from actors.law.parts.vendors import VENDORS, Login, Vendor
from adapters.models.configured import (
    ModelConfig,
    ProviderConfig,
    misconfigured,
    named_model,
    named_provider,
)
from adapters.models.providers.bedrock.aws import ambient, region_of
from adapters.settings.refusals import CannotStart

MODEL = "PROMPTCORNER_MODEL"


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
    for vendor in VENDORS:
        found = _of_aws(vendor, environ) if vendor.login is Login.AWS else _keyed(vendor, environ)
        if found is not None:
            yield _model(found, vendor.default_model)


def _keyed(vendor: Vendor, environ: Mapping[str, str]) -> ProviderConfig | None:
    """Return the provider whose key the environment has; None: it has not what is needed."""
    keys = vendor.key.names if vendor.key else ()
    places = vendor.base_url_variable.names if vendor.base_url_variable else ()
    variable = next((name for name in keys if _said(environ, name)), "")
    place = next((name for name in places if _said(environ, name)), "")
    if not (variable or (place and vendor.login is Login.OPTIONAL_KEY)):
        return None
    if vendor.needs_base_url and not place:
        return None
    return ProviderConfig(
        named_provider(vendor.type),
        vendor.type,
        vendor.type,
        _said(environ, variable),
        _said(environ, place) or None,
        variable=variable or place,
    )


def _of_aws(vendor: Vendor, environ: Mapping[str, str]) -> ProviderConfig | None:
    """Return the provider that AWS credentials of the environment stand for, if there are any."""
    credentials = ambient(environ)
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


def _said(environ: Mapping[str, str], name: str) -> str:
    """Blanks around it come with files and quotes; alone they say nothing."""
    return environ.get(name, "").strip()


def _model(provider: ProviderConfig, name: str) -> ModelConfig:
    return ModelConfig(named_model(provider.name, name), provider, name)
