"""A load run against a running daemon."""

import argparse
import os
import resource
import sys
from collections.abc import Sequence
from urllib.parse import urlsplit

from adapters.cli.asking.daemon import Daemon
from adapters.cli.asking.nearby import NEAR
from adapters.cli.asking.providers import MODELS, PROVIDERS
from adapters.cli.asking.words import daemon_at, token_of
from adapters.cli.measuring.figures import PERCENTILES, Seen, document, rows, summary
from adapters.cli.measuring.load import Load, client_of
from adapters.cli.measuring.load import run as run_load
from adapters.cli.tables import documented, table
from adapters.models.routes.wire import AIProvider, ChatModelConfig
from adapters.settings import names
from adapters.settings.refusals import CannotStart

REHEARSAL = "rehearsal"  # the source of a model that costs nothing


def run(options: argparse.Namespace) -> int:
    token = token_of(options)
    with daemon_at(options, token) as daemon:
        model = _model(options, daemon)
        if not options.force:
            _refuse_costs(options, daemon, model)
    load = Load(
        options.chats,
        options.turns,
        options.prompt,
        str(model.id),
        options.seconds,
        options.keep,
    )
    _allow_many_connections()
    if not options.json:
        cores = os.cpu_count()
        sys.stdout.write(
            f"{load.chats} chats x {load.turns} turns of {model.model} at {daemon.url},"
            f" this client on {cores} cores\n"
        )
    seen, seconds = names.run(_run, daemon.url, token, load)
    _print(options, seen, seconds)
    return 1 if seen.faults else 0


async def _run(url: str, token: str, load: Load) -> tuple[Seen, float]:
    async with client_of(url, token) as client:
        return await run_load(client, load)


def _print(options: argparse.Namespace, seen: Seen, seconds: float) -> None:
    if options.json:
        sys.stdout.write(documented(document(seen, seconds)))
        return
    head = ("milliseconds", "count", *(f"p{percent}" for percent in PERCENTILES))
    sys.stdout.write(table(head, rows(seen)) + summary(seen, seconds))


def _model(options: argparse.Namespace, daemon: Daemon) -> ChatModelConfig:
    """The one that was named, or the default, or whichever there is."""
    models = _offered(daemon)
    if options.model:
        found = [each for each in models if options.model in (str(each.id), each.model)]
    else:
        found = sorted(models, key=lambda each: not each.is_default)
    if found:
        return found[0]
    there = ", ".join(model.model for model in models) or "none"
    what = f"no model {options.model}" if options.model else "no model"
    raise CannotStart("bench", f"there is {what}; there are: {there}", "choose one with --model")


def _offered(daemon: Daemon) -> Sequence[ChatModelConfig]:
    """Those that can be asked: admins are shown the others, too."""
    models, _ = daemon.get(MODELS, list[ChatModelConfig])
    providers = daemon.get_if_allowed(PROVIDERS, list[AIProvider])
    if providers is None:
        return models
    there = {provider.id for provider in providers if provider.enabled}
    return [model for model in models if model.enabled and model.ai_provider_id in there]


def _refuse_costs(options: argparse.Namespace, daemon: Daemon, model: ChatModelConfig) -> None:
    if urlsplit(daemon.url).hostname not in NEAR:
        fact = f"{daemon.url} is another machine, and others may be using it"
        raise CannotStart("bench", fact, "say --force if it is meant")
    if model.source != REHEARSAL:
        calls = options.chats * options.turns
        fact = f"it would ask {model.model} {calls} times, which may cost money"
        raise CannotStart("bench", fact, "say --force if it is meant")


def _allow_many_connections() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
