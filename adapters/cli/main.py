"""The command `promptcorner`: words in, an exit code out. 0 done, 1 cannot, 2 not understood."""

import argparse
import importlib.metadata
import os
import sys
from collections.abc import Sequence

from runtime.errors import Misuse, require_assertions

SERVE = "serve"

DESCRIPTION = """\
A self-hosted, durable daemon that runs LLM-agent chats.

  promptcorner serve                           on an embedded PostgreSQL, at 127.0.0.1:7390
  promptcorner serve --listen 0.0.0.0:8080     for others too
  DATABASE_URL=postgresql://... promptcorner serve     on a PostgreSQL of your own (15 or newer)
  promptcorner fake-provider                   a model provider for tests, at 127.0.0.1:7391
  curl http://127.0.0.1:7390/readyz            is it ready, and if not, what is missing
"""

DATA = """\
Chats are kept in one directory: --data-dir, or PROMPTCORNER_DATA_DIR, or
{default}. Several processes may share it; they share one server. To back it up,
stop the daemon and copy the directory, or use DATABASE_URL and PostgreSQL's own tools.

environment (a flag comes before it):
  PROMPTCORNER_LISTEN          HOST:PORT; port 0 takes any free one
  PROMPTCORNER_DATA_DIR        where the embedded database lives
  DATABASE_URL                 a server of your own instead: postgresql://user:password@host/name
  PROMPTCORNER_POSTGRES_USER   whom the embedded server runs as when started by root
                               (default: promptcorner, postgres or nobody, the first there is)
  PROMPTCORNER_POOL_SIZE       database connections, 1..64 (default 8), beside six of its own
  PROMPTCORNER_ROOT_CHATS      chats at work at once, 1..100000 (default 5000); more wait
  PROMPTCORNER_CHILD_CHATS     chats that other chats began, 0..100000 (default 10000)
  PROMPTCORNER_LEASE_SECONDS   a process that gives no sign of life loses its chats to others,
                               1..600 (default 30); the same for all processes of a database
  PROMPTCORNER_STARTUP_SECONDS from asking a model to its first word, 0.1..86400 (default 60)
  PROMPTCORNER_SILENCE_SECONDS between two words, 0.1..86400 (default 600); then it is asked again
  PROMPTCORNER_DRAIN_SECONDS   for steps that run when it is told to stop, 0..3600 (default 30);
                               then they are cut, and another process makes them again
  PROMPTCORNER_LOG             text, json or auto (text on a terminal)
  PROMPTCORNER_LOG_LEVEL       debug, info, warning or error

providers (each that has its key is there; chats that name no model get the first one's):
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY, AI_GATEWAY_API_KEY,
  AZURE_OPENAI_API_KEY, AWS_ACCESS_KEY_ID; with ANTHROPIC_BASE_URL, OPENAI_BASE_URL ... elsewhere
  OPENAI_COMPAT_BASE_URL       vLLM, Ollama and their like; OPENAI_COMPAT_API_KEY if they want one
  PROMPTCORNER_MODEL           the model of chats that name none: provider/model

exit codes: 0 stopped in good order, 1 cannot start (a line says why and what to do), 2 wrong usage
"""

SERVE_SETTINGS = (
    ("--listen", "HOST:PORT", "default 127.0.0.1:7390"),
    ("--root-chats", "N", "chats at work at once (5000); more wait"),
    ("--child-chats", "N", "of those that other chats began (10000)"),
    ("--lease-seconds", "S", "without a sign of life others take its chats after so long (30)"),
    ("--startup-seconds", "S", "how long a model may take to its first word (60)"),
    ("--silence-seconds", "S", "how long it may be silent between two (600)"),
    ("--drain-seconds", "S", "how long steps may go on once it is told to stop (30)"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        require_assertions()
    except Misuse as misuse:
        return _refuse(str(misuse))
    options = parser().parse_args(arguments)
    from adapters.refusals import CannotStart

    try:
        return _run(options)
    except CannotStart as refusal:
        return _refuse(str(refusal))


def _run(options: argparse.Namespace) -> int:
    # Each command imports what it needs: who asks for help does not wait for a database driver,
    # and the fake provider knows nothing of the daemon.
    import trio

    from adapters.cli import fake_provider

    if options.command == fake_provider.NAME:
        return fake_provider.run(options)

    from adapters import config, daemon, logs
    from adapters.cli import migrate
    from adapters.directories import default_config_file

    settings = config.read(vars(options), os.environ, default_config_file())
    logs.set_up(settings.log, settings.log_level)
    if options.command == SERVE:
        trio.run(daemon.serve, settings)
        return 0
    return trio.run(migrate.run, settings, options.check)


def parser() -> argparse.ArgumentParser:
    from adapters.cli import fake_provider
    from adapters.directories import default_data_dir

    data = DATA.format(default=default_data_dir())
    form = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        "promptcorner",
        description=DESCRIPTION,
        epilog=data,
        formatter_class=form,
        allow_abbrev=False,
    )
    version = importlib.metadata.version("promptcorner")
    top.add_argument("--version", action="version", version=f"promptcorner {version}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    where = argparse.ArgumentParser(add_help=False)
    where.add_argument("--data-dir", metavar="DIR", help="where the embedded database lives")
    where.add_argument("--log", metavar="FORMAT", help="text, json or auto")
    where.add_argument("--log-level", metavar="LEVEL", help="debug, info, warning or error")

    serve = commands.add_parser(
        SERVE,
        parents=[where],
        help="run the daemon",
        description="Run the daemon until SIGTERM or ctrl-C; a second one exits at once.",
        epilog=data,
        formatter_class=form,
        allow_abbrev=False,
    )
    for name, metavar, teaches in SERVE_SETTINGS:
        serve.add_argument(name, metavar=metavar, help=teaches)
    migrate = commands.add_parser(
        "migrate",
        parents=[where],
        help="bring the database's schema up to date",
        description="Apply what the schema lacks and name it. `serve` does so by itself.",
        epilog=data,
        formatter_class=form,
        allow_abbrev=False,
    )
    migrate.add_argument(
        "--check", action="store_true", help="apply nothing; exit with 1 if steps are missing"
    )
    fake_provider.add_to(commands)
    return top


def _refuse(why: str) -> int:
    sys.stderr.write(f"promptcorner: {why}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
