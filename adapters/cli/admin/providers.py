"""`promptcorner providers`: providers of models, beside those of the daemon's environment."""

import argparse
from pathlib import Path
from uuid import UUID

from actors.law.parts.vendors import VENDORS, vendor_of
from adapters.cli.admin.connection import (
    DaemonClient,
    add_verb,
    connect,
    path_of,
    print_line,
    print_table,
    secret_of,
)
from adapters.cli.command_line import describe
from adapters.models.routes.wire import (
    AIProvider,
    AIProviderKeyChange,
    ChatModelConfig,
    CreateAIProviderRequest,
    UpdateAIProviderRequest,
    WriteChatModelConfigRequest,
)
from adapters.settings.refusals import CannotStart

PROVIDERS = "/api/v2/ai/providers"
MODELS = "/api/experimental/chats/model-configs"
CONTEXT_LIMIT, CONTEXT_LIMIT_MAX = 200_000, 100_000_000  # tokens of a model
HEAD = ("name", "type", "from", "enabled", "keys", "base url", "models")

TYPES = [vendor.type for vendor in VENDORS if vendor.takes_keys]

DESCRIPTION = """\
Manage providers and their models. Those whose keys are in the daemon's environment are there
without any of this, and cannot be changed here. Keys are stored sealed, and never shown.

  promptcorner providers list
  promptcorner providers add claude --type anthropic --model claude-sonnet-4-5 --key-file key.txt
  promptcorner providers add local --type openai-compat --base-url http://127.0.0.1:11434/v1 \\
      --model llama3.3 --context 128000
  promptcorner providers key claude --key-file -         a new key, read from standard input
  promptcorner providers disable claude
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verbs."""
    describe(parser, DESCRIPTION)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    example = "  promptcorner providers {}\n".format
    add_verb(
        verbs, "list", list_providers, help="all, with their models", description=example("list")
    )
    key = "claude --type anthropic --model claude-sonnet-4-5 --key-file key.txt"
    adding = add_verb(
        verbs, "add", add, help="a provider, with its models", description=example(f"add {key}")
    )
    adding.add_argument("--type", metavar="TYPE", required=True, help=", ".join(TYPES))
    adding.add_argument("--base-url", metavar="URL", help="its address, if it is not the vendor's")
    adding.add_argument(
        "--model", metavar="MODEL", action="append", required=True, help="again for more"
    )
    adding.add_argument(
        "--context",
        metavar="N",
        type=_context,
        default=CONTEXT_LIMIT,
        help=f"tokens that fit into its models (1..{CONTEXT_LIMIT_MAX}, default {CONTEXT_LIMIT})",
    )
    replacing = add_verb(
        verbs,
        "key",
        replace_key,
        help="a new key instead of all",
        description=example("key claude --key-file -"),
    )
    for verb in (adding, replacing):
        verb.add_argument(
            "--key-file",
            metavar="FILE",
            required=verb is replacing,
            help="a file with its key; - is standard input",
        )
    enabling = add_verb(
        verbs, "enable", enable, help="offer a provider again", description=example("enable claude")
    )
    disabling = add_verb(
        verbs,
        "disable",
        disable,
        help="ask a provider no more",
        description=example("disable claude"),
    )
    removing = add_verb(
        verbs,
        "remove",
        remove,
        help="remove a provider and its keys",
        description=example("remove claude"),
    )
    for verb in (adding, replacing, enabling, disabling, removing):
        verb.add_argument("name", metavar="NAME", help="small letters, digits, hyphens between")


def list_providers(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        providers, answer = daemon.get(PROVIDERS, list[AIProvider])
        models, _ = daemon.get(MODELS, list[ChatModelConfig])
    names: dict[UUID, list[str]] = {}
    for model in models:
        mark = "*" if model.is_default else ""
        names.setdefault(model.ai_provider_id, []).append(model.model + mark)
    rows = [_row(provider, names.get(provider.id, [])) for provider in providers]
    return print_table(options, answer, HEAD, rows)


def add(options: argparse.Namespace) -> int:
    wanted = CreateAIProviderRequest(
        type=options.type,
        name=options.name,
        enabled=True,
        base_url=_base_url(options),
        api_keys=[_key(options)] if options.key_file else [],
    )
    with connect(options) as daemon:
        provider, _ = daemon.post(PROVIDERS, wanted, AIProvider)
        try:
            for model in options.model:
                _add_model(options, daemon, provider, model)
        except CannotStart:
            daemon.delete(f"{PROVIDERS}/{provider.id}")
            raise
        provider, answer = daemon.get(f"{PROVIDERS}/{provider.id}", AIProvider)
        return print_table(options, answer, HEAD, [_row(provider, options.model)])


def _add_model(
    options: argparse.Namespace, daemon: DaemonClient, provider: AIProvider, name: str
) -> None:
    model = WriteChatModelConfigRequest(
        ai_provider_id=provider.id, model=name, context_limit=options.context
    )
    daemon.post(MODELS, model, ChatModelConfig)


def replace_key(options: argparse.Namespace) -> int:
    new = AIProviderKeyChange(api_key=_key(options))
    return _change(options, UpdateAIProviderRequest(api_keys=[new]))


def enable(options: argparse.Namespace) -> int:
    return _change(options, UpdateAIProviderRequest(enabled=True))


def disable(options: argparse.Namespace) -> int:
    return _change(options, UpdateAIProviderRequest(enabled=False))


def _change(options: argparse.Namespace, change: UpdateAIProviderRequest) -> int:
    with connect(options) as daemon:
        path = f"{PROVIDERS}/{path_of(options.name)}"
        provider, answer = daemon.patch(path, change, AIProvider)
        return print_table(options, answer, HEAD[:-1], [_row(provider, [])[:-1]])


def remove(options: argparse.Namespace) -> int:
    with connect(options) as daemon:
        daemon.delete(f"{PROVIDERS}/{path_of(options.name)}")
        return print_line(options, {}, f"{options.name} is removed")


def _row(provider: AIProvider, models: list[str]) -> tuple[str, ...]:
    return (
        provider.name,
        provider.type,
        provider.source,
        "yes" if provider.enabled else "no",
        ",".join(key.masked for key in provider.api_keys) or "-",
        provider.base_url or "-",
        ", ".join(models) or "-",
    )


def _base_url(options: argparse.Namespace) -> str | None:
    if options.base_url is not None:
        return str(options.base_url)
    vendor = vendor_of(options.type)
    if vendor.needs_base_url:
        fact = f"the type {options.type} has no address of its own"
        raise CannotStart("providers", fact, "name one with --base-url")
    return vendor.base_url


def _key(options: argparse.Namespace) -> str:
    return secret_of(Path(options.key_file), "--key-file")


def _context(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= CONTEXT_LIMIT_MAX):
        raise argparse.ArgumentTypeError(f"must be 1..{CONTEXT_LIMIT_MAX}")
    return int(text)
