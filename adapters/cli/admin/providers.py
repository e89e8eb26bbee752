"""`promptcorner providers`: providers of models, beside those of the daemon's environment."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
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
from adapters.cli.harmless import harmless
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
FROM_DATABASE = "database"  # the source of models that can be changed over the API
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
  promptcorner providers default lab/qwen3               the model of chats that name none
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
    for verb in (adding, replacing, *_add_switches(verbs)):
        verb.add_argument("name", metavar="NAME", help="small letters, digits, hyphens between")


def _add_switches(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> Sequence[argparse.ArgumentParser]:
    """Add the verbs that say what is offered; return those that name a provider."""
    example = "  promptcorner providers {}\n".format
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
    disabling.add_argument(
        "--default",
        metavar="MODEL",
        help="the default from then on, if it is a model of this provider",
    )
    choosing = add_verb(
        verbs,
        "default",
        choose_default,
        help="show the default model, or set it",
        description=example("default lab/qwen3"),
    )
    choosing.add_argument(
        "model", nargs="?", metavar="MODEL", help="PROVIDER/MODEL, or MODEL if it is the only one"
    )
    removing = add_verb(
        verbs,
        "remove",
        remove,
        help="remove a provider and its keys",
        description=example("remove claude"),
    )
    return enabling, disabling, removing


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
    """Disable a provider. Chats that name no model need another default then, which is offered."""
    with connect(options) as daemon:
        offers = _read_offers(daemon)
    lost = offers.default
    if lost is None or lost.provider.name != options.name:
        return _change(options, UpdateAIProviderRequest(enabled=False))
    others = [each for each in offers.all if each.can_follow(lost)]
    wanted = options.default or _ask_for_default(lost, others)
    if wanted:
        with connect(options) as daemon:
            _set_default(daemon, offers, wanted)
    code = _change(options, UpdateAIProviderRequest(enabled=False))
    if not wanted:
        advice = f"choose another: promptcorner providers default {others[0]}" if others else ""
        words = f"{lost} stays the default: chats that name no model are refused; {advice}"
        sys.stderr.write(harmless(words.removesuffix("; ")) + "\n")
    return code


@dataclass(frozen=True, slots=True)
class OfferedModel:
    """A model with its provider, which people write as PROVIDER/MODEL."""

    provider: AIProvider
    model: ChatModelConfig

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.model.model}"

    def can_follow(self, lost: "OfferedModel") -> bool:
        """Tell whether it can be the default when the provider of another model is disabled."""
        is_on = self.provider.enabled and self.model.enabled
        return is_on and self.provider.id != lost.provider.id


@dataclass(frozen=True, slots=True)
class ModelOffers:
    """All models of all providers."""

    all: Sequence[OfferedModel]

    @property
    def default(self) -> OfferedModel | None:
        return next((each for each in self.all if each.model.is_default), None)


def choose_default(options: argparse.Namespace) -> int:
    """Show the default model, or set it."""
    with connect(options) as daemon:
        if options.model is not None:
            _set_default(daemon, _read_offers(daemon), options.model)
        found = _read_offers(daemon).default
    text = "there is none: add a provider with a model" if found is None else str(found)
    answer = {"default": None if found is None else text}
    return print_line(options, answer, text)


def _read_offers(daemon: DaemonClient) -> ModelOffers:
    providers, _ = daemon.get(PROVIDERS, list[AIProvider])
    models, _ = daemon.get(MODELS, list[ChatModelConfig])
    by_id = {provider.id: provider for provider in providers}
    known = [each for each in models if each.ai_provider_id in by_id]
    return ModelOffers([OfferedModel(by_id[each.ai_provider_id], each) for each in known])


def _set_default(daemon: DaemonClient, offers: ModelOffers, name: str) -> None:
    """Mark a model as the default. One of the environment is it as long as no other is marked."""
    found = [each for each in offers.all if name in (str(each), each.model.model)]
    if len(found) != 1:
        fact = f"{name} is no model" if not found else f"{name} is a model of several providers"
        names = ", ".join(str(each) for each in found or offers.all) or "none"
        raise CannotStart("providers", fact, f"there are: {names}")
    [wanted] = found
    if wanted.model.is_default:
        return
    if wanted.model.source == FROM_DATABASE:
        _mark(daemon, wanted, is_default=True)
        return
    if offers.default is not None and offers.default.model.source == FROM_DATABASE:
        _mark(daemon, offers.default, is_default=False)
    if (now := _read_offers(daemon).default) is None or now.model.id != wanted.model.id:
        advice = f"start the daemon with PROMPTCORNER_MODEL={wanted}"
        raise CannotStart("providers", f"{wanted} is in the daemon's environment", advice)


def _mark(daemon: DaemonClient, model: OfferedModel, *, is_default: bool) -> None:
    change = WriteChatModelConfigRequest(is_default=is_default)
    daemon.patch(f"{MODELS}/{model.model.id}", change, ChatModelConfig)


def _ask_for_default(lost: OfferedModel, others: Sequence[OfferedModel]) -> str:
    """Ask a person which model takes the place of the default; a script is not asked."""
    if not others or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    rows = [f"  {number}  {each}" for number, each in enumerate(others, 1)]
    question = f"{lost} is the default; which one instead?"
    sys.stderr.write(harmless("\n".join([question, *rows, ""])))
    sys.stderr.write(f"1..{len(others)}, or nothing for none: ")
    sys.stderr.flush()
    said = sys.stdin.readline().strip()
    is_one = said.isascii() and said.isdecimal() and 1 <= int(said) <= len(others)
    return str(others[int(said) - 1]) if is_one else ""


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
