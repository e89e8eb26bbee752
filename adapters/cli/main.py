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
  PROMPTCORNER_POOL_SIZE       database connections, 1..64 (default 8)
  PROMPTCORNER_LOG             text, json or auto (text on a terminal)
  PROMPTCORNER_LOG_LEVEL       debug, info, warning or error

exit codes: 0 stopped in good order, 1 cannot start (a line says why and what to do), 2 wrong usage
"""


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        require_assertions()
    except Misuse as misuse:
        return _refuse(str(misuse))
    options = parser().parse_args(arguments)
    # Not before: whoever asks for help does not wait for a database driver.
    import trio

    from adapters import config, daemon, logs
    from adapters.cli import fake_provider, migrate
    from adapters.refusals import CannotStart

    try:
        if options.command == fake_provider.NAME:
            return fake_provider.run(options)
        settings = config.read(vars(options), os.environ)
        logs.set_up(settings.log, settings.log_level)
        if options.command == SERVE:
            trio.run(daemon.serve, settings)
            return 0
        return trio.run(migrate.run, settings, options.check)
    except CannotStart as refusal:
        return _refuse(str(refusal))


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
    serve.add_argument("--listen", metavar="HOST:PORT", help="default 127.0.0.1:7390")
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
