"""`promptcorner bench`: a load run against a running daemon."""

import argparse
import os
import resource
import sys
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from adapters.cli.admin.connection import (
    DAEMON_HELP,
    LOCAL_HOSTS,
    DaemonClient,
    add_daemon,
    connect_with,
    token_of,
)
from adapters.cli.admin.providers import MODELS, PROVIDERS
from adapters.cli.command_line import describe, json_text, table
from adapters.cli.load import (
    PERCENTILES,
    Load,
    LoadFigures,
    document,
    open_load_client,
    rows,
    run_load,
    summary,
)
from adapters.models.routes.wire import AIProvider, ChatModelConfig
from adapters.settings import names
from adapters.settings.refusals import CannotStart

REHEARSAL = "rehearsal"  # the source of a model that costs nothing
CHATS, CHATS_MAX = 50, 5_000  # more is refused: start several of these instead
TURNS, TURNS_MAX = 3, 100
SECONDS, SECONDS_MAX = 300, 3_600  # then what has not ended counts as failed
PROMPT = "Reply with one short sentence."

DESCRIPTION = """\
Load a running daemon through its API, and print what its clients saw: all chats begin at once, each
on connections of its own, and follow-ups are sent together when all first turns are over.

  promptcorner fake-provider --deltas 100 &
  OPENAI_COMPAT_BASE_URL=http://127.0.0.1:7391/v1 promptcorner serve &
  promptcorner bench --chats 200 --turns 5 --force
  promptcorner bench --chats 1 --turns 1 --model claude-sonnet-4-5 --force

Every turn asks a model, which may cost money: unless the model is the daemon's own rehearsal and
the daemon is on this machine, --force is needed. Rate limits do not hold for an admin.
The benchmarks of the parts themselves are in a checkout: make bench.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the size of the run, and the daemon to load."""
    describe(parser, DESCRIPTION, run=run, epilog=DAEMON_HELP)
    for flag, default, maximum, help in (
        ("--chats", CHATS, CHATS_MAX, "at once"),
        ("--turns", TURNS, TURNS_MAX, "of each chat"),
        (
            "--seconds",
            SECONDS,
            SECONDS_MAX,
            "for all of it; turns that have not ended then have failed",
        ),
    ):
        parser.add_argument(
            flag,
            metavar="N",
            type=_number_up_to(maximum),
            default=default,
            help=f"{help} (1..{maximum}, default {default})",
        )
    parser.add_argument("--prompt", metavar="TEXT", default=PROMPT, help="the message of each turn")
    parser.add_argument("--model", metavar="NAME", help="a name or id, if not the default one")
    parser.add_argument("--keep", action="store_true", help="do not archive the chats afterwards")
    parser.add_argument("--force", action="store_true", help="even if it may cost money")
    add_daemon(parser)


def _number_up_to(maximum: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= maximum):
            raise argparse.ArgumentTypeError(f"must be 1..{maximum}")
        return int(text)

    return number


def run(options: argparse.Namespace) -> int:
    """Load the daemon and print the figures; return 1 if a turn failed."""
    token = token_of(options)
    with connect_with(options, token) as daemon:
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
    figures, seconds = names.run(_run, daemon.url, token, load)
    _print(options, figures, seconds)
    return 1 if figures.faults else 0


async def _run(url: str, token: str, load: Load) -> tuple[LoadFigures, float]:
    async with open_load_client(url, token) as client:
        return await run_load(client, load)


def _print(options: argparse.Namespace, figures: LoadFigures, seconds: float) -> None:
    if options.json:
        sys.stdout.write(json_text(document(figures, seconds)))
        return
    head = ("milliseconds", "count", *(f"p{percent}" for percent in PERCENTILES))
    sys.stdout.write(table(head, rows(figures)) + summary(figures, seconds))


def _model(options: argparse.Namespace, daemon: DaemonClient) -> ChatModelConfig:
    """Return the model that was named, or the default, or the first there is."""
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


def _offered(daemon: DaemonClient) -> Sequence[ChatModelConfig]:
    """Return the models that can be asked; admins are also shown those that cannot."""
    models, _ = daemon.get(MODELS, list[ChatModelConfig])
    providers = daemon.get_if_allowed(PROVIDERS, list[AIProvider])
    if providers is None:
        return models
    there = {provider.id for provider in providers if provider.enabled}
    return [model for model in models if model.enabled and model.ai_provider_id in there]


def _refuse_costs(
    options: argparse.Namespace, daemon: DaemonClient, model: ChatModelConfig
) -> None:
    if urlsplit(daemon.url).hostname not in LOCAL_HOSTS:
        fact = f"{daemon.url} is another machine, and others may be using it"
        raise CannotStart("bench", fact, "add --force if that is what you want")
    if model.source != REHEARSAL:
        calls = options.chats * options.turns
        fact = f"it would ask {model.model} {calls} times, which may cost money"
        raise CannotStart("bench", fact, "add --force if that is what you want")


def _allow_many_connections() -> None:
    _, limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
