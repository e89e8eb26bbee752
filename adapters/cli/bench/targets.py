"""The daemon that is asked, and its model: one that is there, or one that asks our fake provider.

Only endpoints are used that the documentation of the API has, so that any daemon of it will do. Our
provider is made known as the reference's load generator does it: a provider, and a model of it.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import msgspec

from adapters.cli.admin.connection import LOCAL_HOSTS, DaemonClient
from adapters.cli.bench.plan import LoadTarget
from adapters.cli.bench.telling.documents import NOT_TOLD
from adapters.settings.refusals import CannotStart

REHEARSAL = "rehearsal"  # the source of a model that costs nothing
NAME, MODEL = "promptcorner-bench", "bench-model"  # of our provider, at a daemon that is asked
CONTEXT = 1_000_000  # tokens: nothing of a long run is compacted
ME, MODELS = "/api/v2/users/me", "/api/experimental/chats/model-configs"
PROVIDERS, BUILD = "/api/v2/ai/providers", "/api/v2/buildinfo"

Json = dict[str, Any]


class Me(msgspec.Struct, frozen=True):
    """The user whose token it is."""

    organization_ids: list[str]


class AskableModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model of a daemon, as far as every daemon of this API tells it."""

    id: str
    model: str
    ai_provider_id: str | None = None
    is_default: bool = False
    enabled: bool = True
    source: str = ""


class KnownProvider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider of a daemon."""

    id: str
    enabled: bool = True


def organization_of(daemon: DaemonClient) -> str:
    """Return the first organisation of the user."""
    me, _ = daemon.get(ME, Me)
    if not me.organization_ids:
        raise CannotStart("bench", "the user of this token is in no organisation")
    return me.organization_ids[0]


def model_of(daemon: DaemonClient, name: str | None) -> AskableModel:
    """Return the model that was named, or the default, or the first there is."""
    models = _offered(daemon)
    if name:
        found = [each for each in models if name in (each.id, each.model)]
    else:
        found = sorted(models, key=lambda each: not each.is_default)
    if found:
        return found[0]
    there = ", ".join(model.model for model in models) or "none"
    what = f"no model {name}" if name else "no model"
    raise CannotStart("bench", f"there is {what}; there are: {there}", "choose one with --model")


def _offered(daemon: DaemonClient) -> Sequence[AskableModel]:
    """Return the models that can be asked; admins are also shown those that cannot."""
    models, _ = daemon.get(MODELS, list[AskableModel])
    providers = daemon.get_if_allowed(PROVIDERS, list[KnownProvider])
    if providers is None:
        return models
    there = {provider.id for provider in providers if provider.enabled}
    return [model for model in models if model.enabled and model.ai_provider_id in there]


def refuse_costs(options: argparse.Namespace, url: str, model: AskableModel, calls: int) -> None:
    """Refuse what may cost money or disturb others, unless it is meant."""
    if options.force:
        return
    if urlsplit(url).hostname not in LOCAL_HOSTS:
        fact = f"{url} is another machine, and others may be using it"
        raise CannotStart("bench", fact, "add --force if that is what you want")
    if model.source != REHEARSAL:
        fact = f"it would ask {model.model} {calls} times, which may cost money"
        raise CannotStart("bench", fact, "add --force if that is what you want")


@contextmanager
def our_model(daemon: DaemonClient, provider: str) -> Iterator[str]:
    """Make our fake provider known to a daemon, and yield the id of its model."""
    known = _our_provider(daemon, provider)
    try:
        yield _our_model(daemon, known)
    finally:
        for model in daemon.get(MODELS, list[AskableModel])[0]:
            if model.ai_provider_id == known:
                daemon.delete(f"{MODELS}/{model.id}")
        daemon.delete(f"{PROVIDERS}/{NAME}")


def _our_provider(daemon: DaemonClient, url: str) -> str:
    """Return the id of our provider, which a run that was killed may have left."""
    there: Json = {"base_url": url, "enabled": True}
    if daemon.get_if_there(f"{PROVIDERS}/{NAME}", KnownProvider) is not None:
        return daemon.patch(f"{PROVIDERS}/{NAME}", there, KnownProvider)[0].id
    said = {"type": "openai-compat", "name": NAME, "display_name": "Bench", "api_keys": ["bench"]}
    return daemon.post(PROVIDERS, said | there, KnownProvider)[0].id


def _our_model(daemon: DaemonClient, provider: str) -> str:
    for each in daemon.get(MODELS, list[AskableModel])[0]:
        if each.ai_provider_id == provider:
            return each.id
    wished: Json = {"ai_provider_id": provider, "model": MODEL, "display_name": "Bench"}
    wished |= {"enabled": True, "is_default": False, "context_limit": CONTEXT}
    return daemon.post(MODELS, wished, AskableModel)[0].id


class ToldBuild(msgspec.Struct, frozen=True):
    """A daemon as it tells of itself."""

    version: str = NOT_TOLD


def version_of(daemon: DaemonClient) -> str:
    """Return a daemon's version, if it tells."""
    info = daemon.get_if_there(BUILD, ToldBuild)
    return NOT_TOLD if info is None else info.version


def target_of(
    daemon: DaemonClient, token: str, *, model: str | None, provider: str | None
) -> LoadTarget:
    """Return the target of a run."""
    return LoadTarget(
        url=daemon.url,
        token=token,
        organization=organization_of(daemon),
        model=model,
        provider=provider,
    )
