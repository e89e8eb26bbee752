"""What the words of these commands have in common: which daemon, who asks, how it answers."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adapters.cli.asking.nearby import NEAR, listening_uids
from adapters.cli.settings import Form
from adapters.cli.tables import documented, table
from adapters.settings.refusals import CannotStart

if TYPE_CHECKING:
    from adapters.cli.asking.daemon import Daemon
    from adapters.cli.settings import Commands

URL = "http://127.0.0.1:7390"
PORTS = {"http": 80, "https": 443}
TOKEN_BYTES_MAX = 4096  # of a file; a longer one is no token

ELSEWHERE = f"""\
environment:
  PROMPTCORNER_URL          where the daemon is ({URL})
  PROMPTCORNER_TOKEN        a token; `promptcorner tokens create --help` says how to get one
  PROMPTCORNER_TOKEN_FILE   a file with it instead

On the machine of the daemon none is needed by whoever can read its secret key: the data directory
is looked for as `promptcorner serve` looks for it (PROMPTCORNER_DATA_DIR).

exit codes: 0 done, 1 not (a line says why), 2 wrong usage
"""


def add_verb(
    verbs: "Commands",
    name: str,
    run: Callable[[argparse.Namespace], int],
    *,
    says: str,
    teaches: str,
) -> argparse.ArgumentParser:
    """A verb that asks a daemon."""
    parser = verbs.add_parser(
        name,
        help=says,
        description=teaches,
        epilog=ELSEWHERE,
        formatter_class=Form,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    add_daemon(parser)
    return parser


def add_daemon(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", metavar="URL", help="where the daemon is [PROMPTCORNER_URL]")
    parser.add_argument(
        "--token",
        metavar="TOKEN",
        help="who asks; others may read a command line: better say [PROMPTCORNER_TOKEN]",
    )
    parser.add_argument("--json", action="store_true", help="the answer as it is, for programs")


def speaking(options: argparse.Namespace) -> "Daemon":
    """The daemon that was named, asked by whoever has this token."""
    return daemon_at(options, token_of(options))


def daemon_at(options: argparse.Namespace, token: str) -> "Daemon":
    # Not before: whoever asks for help does not wait for it.
    from adapters.cli.asking.daemon import Daemon

    return Daemon(url_of(options), token)


def url_of(options: argparse.Namespace) -> str:
    return str(options.url or os.environ.get("PROMPTCORNER_URL") or URL)


def token_of(options: argparse.Namespace) -> str:
    said = options.token or os.environ.get("PROMPTCORNER_TOKEN", "").strip()
    if said:
        return str(said)
    file = os.environ.get("PROMPTCORNER_TOKEN_FILE", "").strip()
    return secret_of(Path(file), "PROMPTCORNER_TOKEN_FILE") if file else _of_this_machine(options)


def _of_this_machine(options: argparse.Namespace) -> str:
    """Whoever can read the daemon's secret key needs no token of his own."""
    from adapters import settings as config
    from adapters.settings.secrets import FILE_NAME, local_token, open_vault
    from adapters.settings.table import default_config_file

    told = config.read_config({}, os.environ, default_config_file())
    url, file = urlsplit(url_of(options)), told.data_dir / FILE_NAME
    if url.hostname in NEAR and (told.secret_key or os.access(file, os.R_OK)):
        keepers = {0, os.geteuid(), *([] if told.secret_key else [file.stat().st_uid])}
        _refuse_strangers(url.port or PORTS.get(url.scheme, 0), keepers)
        return local_token(open_vault(told.secret_key, told.data_dir))
    raise CannotStart(
        "token",
        "none is set",
        "set PROMPTCORNER_TOKEN; `promptcorner tokens create --help` says how to get one",
    )


def _refuse_strangers(port: int, keepers: set[int]) -> None:
    """Who listens where the daemon should is told no secret unless he could read it anyway."""
    strangers = sorted(listening_uids(port) - keepers)
    if strangers:
        who = f"another user (uid {strangers[0]}) listens at port {port}"
        fact = f"none is set, and {who}, who is not told that of this machine"
        raise CannotStart("token", fact, "set PROMPTCORNER_TOKEN")


def secret_of(path: Path, subject: str) -> str:
    """What stands in a file, or, for `-`, comes in: a secret on a line of its own."""
    try:
        if str(path) == "-":
            text = sys.stdin.read(TOKEN_BYTES_MAX + 1)
        else:
            with path.open() as file:
                text = file.read(TOKEN_BYTES_MAX + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise CannotStart(subject, f"{path} cannot be read ({why})") from None
    if not text.strip() or len(text) > TOKEN_BYTES_MAX:
        raise CannotStart(subject, f"{path} must have 1..{TOKEN_BYTES_MAX} characters")
    return text.strip()


def shown(
    options: argparse.Namespace,
    answer: object,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
) -> int:
    """An answer as it is, or as a table."""
    sys.stdout.write(documented(answer) if options.json else table(head, rows))
    return 0


def told(options: argparse.Namespace, answer: object, text: str) -> int:
    """An answer as it is, or in a line."""
    sys.stdout.write(documented(answer) if options.json else text + "\n")
    return 0
