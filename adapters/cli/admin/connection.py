"""A running daemon as the commands ask it: its address, who asks, and how answers are printed.

A user who can read the daemon's secret key needs no token: the command makes one with the key. It
is sent only to a listener whose user could read the key as well, because while the daemon is away
any user of the machine may listen at its address. The system says which user a socket belongs to;
where it does not (no /proc), the listener is trusted.
"""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar
from urllib.parse import quote, urlsplit

import httpx2
import msgspec

from adapters import settings as config
from adapters.cli.command_line import DaemonAway, Run, add_command, describe, json_text, table
from adapters.cli.harmless import harmless
from adapters.daemon.listening.certificates import context_of
from adapters.daemon.listening.daemons import ListeningDaemon, daemon_here
from adapters.daemon.listening.trusted_files import PORTS, listening_uids
from adapters.http.refusals import RefusalBody
from adapters.settings.kinds import InvalidValue, WebAddress
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import FILE_NAME, LOCAL_TOKEN, local_token, open_vault
from adapters.settings.table import default_config_file

LOCAL_HOSTS = ("127.0.0.1", "::1", "localhost")  # this machine; no proxy stands before these
ANSWER_SECONDS = 30.0  # for each step of an answer; then the command gives up
SECRET_CHARACTERS_MAX = 4096  # of a file with a secret; a longer one is refused
FORBIDDEN = 403
NOT_THERE = 404
UNKNOWN_TOKEN = 401
NO_QUERY: Mapping[str, str] = {}

ENVIRONMENT_HELP = """\
environment:
  PROMPTCORNER_URL          where the daemon is
  PROMPTCORNER_TOKEN        a token; `promptcorner tokens create --help` says how to get one
  PROMPTCORNER_TOKEN_FILE   a file with it instead

On the daemon's own machine neither is needed: its data directory, which is looked for as
`promptcorner serve` looks for it (PROMPTCORNER_DATA_DIR), says where it listens, and users who can
read the secret key there need no token.
"""
EXIT_CODES_HELP = """
exit codes: 0 done, 1 not (a line says why), 2 wrong usage, 4 the daemon cannot be reached
"""
DAEMON_HELP = ENVIRONMENT_HELP + EXIT_CODES_HELP
NOT_OURS = "it is not the daemon of the data directory here, whose key it does not know"
NOT_OURS_ADVICE = "set PROMPTCORNER_DATA_DIR to its own, or PROMPTCORNER_TOKEN"
ADVICE = {
    UNKNOWN_TOKEN: "set PROMPTCORNER_TOKEN to a token that is good",
    FORBIDDEN: "ask an admin, or use a token that may do more",
}

Answer = TypeVar("Answer")


def add_verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Run,
    *,
    help: str,
    description: str,
) -> argparse.ArgumentParser:
    """Add a verb that asks a daemon."""
    parser = add_command(verbs, name, help)
    describe(parser, description, run=run, epilog=DAEMON_HELP)
    add_daemon(parser)
    return parser


def add_daemon(parser: "argparse.ArgumentParser | argparse._ArgumentGroup") -> None:
    """Add the flags that say which daemon is asked, and with which token."""
    parser.add_argument("--url", metavar="URL", help="where the daemon is [PROMPTCORNER_URL]")
    parser.add_argument(
        "--token",
        metavar="TOKEN",
        help="other users may read a command line: better set [PROMPTCORNER_TOKEN]",
    )
    parser.add_argument("--json", action="store_true", help="the answer as it is, for programs")


class DaemonClient:
    """Makes one request after the other; close it, or use it as a block."""

    def __init__(self, url: str, token: str, *, certificate: str = "") -> None:
        """`certificate` is the only one that is believed; without one, those of the system are."""
        try:
            self.url = WebAddress().read(url)
        except InvalidValue as invalid:
            raise CannotStart("url", f"{url}, {invalid}") from None
        self._is_local = token.startswith(LOCAL_TOKEN)
        headers = {"Coder-Session-Token": token} if token else {}
        self._http = httpx2.Client(
            headers={**headers, "User-Agent": "promptcorner"},
            timeout=ANSWER_SECONDS,
            trust_env=not certificate and urlsplit(self.url).hostname not in LOCAL_HOSTS,
            verify=context_of(certificate) if certificate else True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._http.close()

    def get(
        self, path: str, wanted: type[Answer], query: Mapping[str, str] = NO_QUERY
    ) -> tuple[Answer, object]:
        """Return an answer as a struct of the wire, and as plain JSON."""
        return self._read(self._ask("GET", path, query=query), wanted)

    def post(self, path: str, body: object, wanted: type[Answer]) -> tuple[Answer, object]:
        return self._read(self._ask("POST", path, body), wanted)

    def put(self, path: str, body: object, wanted: type[Answer]) -> tuple[Answer, object]:
        return self._read(self._ask("PUT", path, body), wanted)

    def patch(self, path: str, body: object, wanted: type[Answer]) -> tuple[Answer, object]:
        return self._read(self._ask("PATCH", path, body), wanted)

    def delete(self, path: str) -> None:
        self._ask("DELETE", path)

    def end_session(self) -> None:
        """Log out if that is still possible."""
        self._send("POST", "/api/v2/users/logout", None, NO_QUERY)

    def get_if_allowed(self, path: str, wanted: type[Answer]) -> Answer | None:
        """Return an answer, or None if this user may not have it."""
        answer = self._send("GET", path, None, NO_QUERY)
        return self._unless(FORBIDDEN, answer, wanted)

    def get_if_there(self, path: str, wanted: type[Answer]) -> Answer | None:
        """Return an answer, or None if there is nothing at this path."""
        return self._unless(NOT_THERE, self._send("GET", path, None, NO_QUERY), wanted)

    def _unless(self, none: int, answer: httpx2.Response, wanted: type[Answer]) -> Answer | None:
        if answer.status_code == none:
            return None
        if not answer.is_success:
            raise self._refusal(answer)
        return self._read(answer.content, wanted)[0]

    def _ask(
        self, method: str, path: str, body: object = None, *, query: Mapping[str, str] = NO_QUERY
    ) -> bytes:
        answer = self._send(method, path, body, query)
        if not answer.is_success:
            raise self._refusal(answer)
        return answer.content

    def _send(
        self, method: str, path: str, body: object, query: Mapping[str, str]
    ) -> httpx2.Response:
        content = None if body is None else msgspec.json.encode(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        try:
            return self._http.request(
                method, self.url + path, content=content, headers=kind, params=dict(query)
            )
        except httpx2.TimeoutException:
            fact = f"no answer within {ANSWER_SECONDS:g} s"
            raise DaemonAway(f"daemon {self.url}", fact) from None
        except httpx2.HTTPError as error:
            raise DaemonAway(
                f"daemon {self.url}",
                f"cannot be reached ({error})",
                DaemonAway.advice,
            ) from None

    def _read(self, answer: bytes, wanted: type[Answer]) -> tuple[Answer, object]:
        try:
            return msgspec.json.decode(answer, type=wanted), msgspec.json.decode(answer)
        except msgspec.MsgspecError as error:
            fact = f"its answer cannot be understood ({error})"
            raise CannotStart(f"daemon {self.url}", fact, "is it of another version?") from None

    def _refusal(self, answer: httpx2.Response) -> CannotStart:
        try:
            body = msgspec.json.decode(answer.content, type=RefusalBody)
        except msgspec.MsgspecError:
            return CannotStart(f"daemon {self.url}", f"answers {answer.status_code}")
        faults = [f"{each.field} {each.detail}" for each in body.validations]
        detail = "; ".join(filter(None, [body.detail, *faults]))
        fact = body.message.rstrip(".!") + (f" ({detail})" if detail else "")
        advice = ADVICE.get(answer.status_code, "")
        if answer.status_code == UNKNOWN_TOKEN and self._is_local:
            fact, advice = NOT_OURS, NOT_OURS_ADVICE
        return CannotStart(f"daemon {self.url}", f"{answer.status_code} {fact}", advice)


def path_of(*names: str) -> str:
    """Return names as segments of a path, whatever characters they have."""
    return "/".join(quote(name, safe="") for name in names)


def connect(options: argparse.Namespace) -> DaemonClient:
    """Return a client of the daemon that was named, with the token of this user."""
    return connect_with(options, token_of(options))


def connect_with(options: argparse.Namespace, token: str) -> DaemonClient:
    daemon = daemon_of(options)
    return DaemonClient(daemon.url, token, certificate=daemon.certificate)


def daemon_of(options: argparse.Namespace) -> ListeningDaemon:
    """Return the daemon that was named, or that of the data directory here."""
    if named := options.url or os.environ.get("PROMPTCORNER_URL"):
        return ListeningDaemon(str(named))
    return daemon_here(config.read_config({}, os.environ, default_config_file()))


def token_of(options: argparse.Namespace) -> str:
    """Return the token that was given, or one made with the daemon's secret key on this machine."""
    token = options.token or os.environ.get("PROMPTCORNER_TOKEN", "").strip()
    if token:
        return str(token)
    file = os.environ.get("PROMPTCORNER_TOKEN_FILE", "").strip()
    return secret_of(Path(file), "PROMPTCORNER_TOKEN_FILE") if file else _local_token(options)


def _local_token(options: argparse.Namespace) -> str:
    settings = config.read_config({}, os.environ, default_config_file())
    return local_token_for(settings, daemon_of(options).url)


def local_token_for(settings: config.Config, address: str) -> str:
    """Return a token made with the daemon's secret key, if it can be read and a daemon of this
    machine is asked."""
    url, file = urlsplit(address), settings.data_dir / FILE_NAME
    if url.hostname in LOCAL_HOSTS and (settings.secret_key or os.access(file, os.R_OK)):
        readers = {0, os.geteuid(), *([] if settings.secret_key else [file.stat().st_uid])}
        _refuse_strangers(url.port or PORTS.get(url.scheme, 0), readers)
        return local_token(open_vault(settings.secret_key, settings.data_dir))
    raise CannotStart(
        "token",
        "none is set",
        "set PROMPTCORNER_TOKEN; `promptcorner tokens create --help` says how to get one",
    )


def _refuse_strangers(port: int, readers: set[int]) -> None:
    """Refuse to tell the secret to a listener that could not read it anyway."""
    strangers = sorted(listening_uids(port) - readers)
    if strangers:
        who = f"another user (uid {strangers[0]}) listens at port {port}"
        fact = f"none is set, and {who}, who is not told that of this machine"
        raise CannotStart("token", fact, "set PROMPTCORNER_TOKEN")


def secret_of(path: Path, subject: str) -> str:
    """Return the secret in a file, or, for `-`, the one on standard input."""
    try:
        if str(path) == "-":
            text = sys.stdin.read(SECRET_CHARACTERS_MAX + 1)
        else:
            with path.open() as file:
                text = file.read(SECRET_CHARACTERS_MAX + 1)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise CannotStart(subject, f"{path} cannot be read ({why})") from None
    if not text.strip() or len(text) > SECRET_CHARACTERS_MAX:
        raise CannotStart(subject, f"{path} must have 1..{SECRET_CHARACTERS_MAX} characters")
    return text.strip()


def print_table(
    options: argparse.Namespace,
    answer: object,
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
) -> int:
    """Print an answer as a table, or with --json as it is; return the exit code 0."""
    sys.stdout.write(json_text(answer) if options.json else table(head, rows))
    return 0


def print_line(options: argparse.Namespace, answer: object, text: str) -> int:
    """Print an answer as a line, or with --json as it is; return the exit code 0."""
    sys.stdout.write(json_text(answer) if options.json else harmless(text) + "\n")
    return 0
