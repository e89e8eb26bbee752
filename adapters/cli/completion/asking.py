"""The daemon, asked for chats and models while a person types: at once, or not at all.

It is looked for as other commands do it: PROMPTCORNER_URL, or the locked file in the data
directory (`adapters.daemon.listening.daemons`). Only the standard library is imported, because
`adapters.settings` takes longer to import than a person should wait; a test compares both ways.
"""

import contextlib
import fcntl
import hmac
import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from adapters.daemon.listening.certificates import context_of
from adapters.daemon.listening.trusted_files import why_not_trusted, why_stranger

ANSWER_SECONDS = 0.4  # for each step of an answer; then nothing is offered
ANSWER_BYTES_MAX = 4 * 1024 * 1024  # of an answer; a longer one is not read
CHATS_MAX = 50  # the latest, that are offered
SECRET_BYTES_MAX = 4096
FILE_BYTES_MAX = 32 * 1024  # of one that says where a daemon listens

SYSTEM_DATA_DIR = Path("/var/lib/promptcorner")
SYSTEM_CONFIG_DIR = Path("/etc/promptcorner")

CHATS = f"/api/experimental/chats?limit={CHATS_MAX}"
MODELS = "/api/experimental/chats/model-configs"
PROVIDERS = "/api/v2/ai/providers"

FAULTS = (OSError, ValueError, KeyError, TypeError, AttributeError, HTTPException)

Candidate = tuple[str, str]
"""A word, and what it stands for."""


def chats(environ: Mapping[str, str]) -> Sequence[Candidate]:
    """Return the latest chats with their titles, or nothing if no daemon answers."""
    return [(each["id"], each["title"] or "(no title)") for each in _ask(environ, CHATS)]


def model_ids(environ: Mapping[str, str]) -> Sequence[Candidate]:
    """Return the models that chats may use, by their ids."""
    return [(each["id"], each["display_name"] or each["model"]) for each in _models(environ)]


def model_names(environ: Mapping[str, str]) -> Sequence[Candidate]:
    """Return the models as PROVIDER/MODEL, with a word at the default one."""
    names = {each["id"]: each["name"] for each in _ask(environ, PROVIDERS)}
    return [
        (f"{names[each['ai_provider_id']]}/{each['model']}", "default" * each["is_default"])
        for each in _models(environ)
        if each["ai_provider_id"] in names
    ]


def providers(environ: Mapping[str, str]) -> Sequence[Candidate]:
    """Return the providers with their types."""
    return [(each["name"], each["type"]) for each in _ask(environ, PROVIDERS)]


def _models(environ: Mapping[str, str]) -> Sequence[Any]:
    return [each for each in _ask(environ, MODELS) if each["enabled"]]


def _ask(environ: Mapping[str, str], path: str) -> Sequence[Any]:
    """Return the list at a path of the daemon, or nothing."""
    try:
        home = data_dir(environ)
        url, certificate = environ.get("PROMPTCORNER_URL", ""), ""
        if not url:
            url, certificate = listening_daemon(home)
        if not url:
            return []
        token = token_of(environ, home, is_named="PROMPTCORNER_URL" in environ)
        answer = json.loads(_get(url, certificate, path, token))
    except FAULTS:
        return []
    return answer if isinstance(answer, list) else []


def _get(url: str, certificate: str, path: str, token: str) -> bytes:
    to = urlsplit(url)
    if to.scheme == "https":
        context = context_of(certificate) if certificate else None
        made: HTTPConnection = HTTPSConnection(to.netloc, timeout=ANSWER_SECONDS, context=context)
    else:
        made = HTTPConnection(to.netloc, timeout=ANSWER_SECONDS)
    with contextlib.closing(made) as connection:
        connection.request(
            "GET", to.path.rstrip("/") + path, headers={"Coder-Session-Token": token}
        )
        answer = connection.getresponse()
        if answer.status != 200:
            raise ValueError(answer.status)
        return answer.read(ANSWER_BYTES_MAX)


def data_dir(environ: Mapping[str, str]) -> Path:
    """Return the data directory, as the setting of that name is read."""
    if said := environ.get("PROMPTCORNER_DATA_DIR"):
        return Path(said)
    file = Path(environ.get("PROMPTCORNER_CONFIG") or _config_file())
    with contextlib.suppress(OSError, ValueError):
        if isinstance(said := tomllib.loads(file.read_text()).get("data_dir"), str):
            return Path(said).absolute()
    if os.geteuid() == 0:
        return SYSTEM_DATA_DIR
    import platformdirs  # only here: most daemons of a person are found without it

    return Path(platformdirs.user_data_dir("promptcorner", appauthor=False))


def _config_file() -> Path:
    if os.geteuid() != 0:
        import platformdirs

        folder = Path(platformdirs.user_config_dir("promptcorner", appauthor=False))
        if (own := folder / "promptcorner.toml").exists():
            return own
    return SYSTEM_CONFIG_DIR / "promptcorner.toml"


def listening_daemon(home: Path) -> tuple[str, str]:
    """Return where the latest daemon of a data directory listens that still runs, or "", and the
    certificate that it shows, or ""."""
    found: list[tuple[int, str, str]] = []
    for path in (home / "listening").glob("[!.]*.json"):
        with (
            contextlib.suppress(OSError, ValueError),
            os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file,
        ):
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:  # the daemon lives and holds it
                said = json.loads(file.read(FILE_BYTES_MAX))
                url = said["url"]
                if why_not_trusted(file.fileno(), path) or why_stranger(url, home):
                    continue
                at = os.fstat(file.fileno()).st_mtime_ns
                found.append((at, url, said.get("certificate", "")))
    return max(found)[1:] if found else ("", "")


def token_of(environ: Mapping[str, str], home: Path, *, is_named: bool) -> str:
    """Return the token of this user; one made with the key only for a daemon that was found."""
    if token := environ.get("PROMPTCORNER_TOKEN", "").strip():
        return token
    if file := environ.get("PROMPTCORNER_TOKEN_FILE", "").strip():
        with open(file) as opened:
            return opened.read(SECRET_BYTES_MAX).strip()
    if is_named:
        return ""  # another user may listen there
    master = environ.get("PROMPTCORNER_SECRET_KEY") or (home / "secret.key").read_text()
    return f"local-{_derived(master.strip().encode(), b'promptcorner/local token').hex()}"


def _derived(master: bytes, info: bytes) -> bytes:
    """Return the key that `Vault.derived` returns: HKDF with SHA-256, of one block."""
    extracted = hmac.digest(b"\0" * 32, master, "sha256")
    return hmac.digest(extracted, info + b"\x01", "sha256")
