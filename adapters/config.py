"""What may be set: a flag before the environment before the default, each within its bounds.

Read once, before anything is started; what is wrong is refused here, in the words of whoever set
it. Secrets stay out of every message and every repr.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from adapters.directories import default_data_dir
from adapters.refusals import CannotStart

LISTEN = "127.0.0.1:7390"
PORT_MAX = 65535
LOG_LEVELS = ("debug", "info", "warning", "error")
LOG_FORMATS = ("auto", "text", "json")  # auto: text on a terminal

_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")

LogFormat = Literal["auto", "text", "json"]

ENVIRONMENT = {
    "listen": "PROMPTCORNER_LISTEN",
    "data_dir": "PROMPTCORNER_DATA_DIR",
    "database_url": "DATABASE_URL",
    "postgres_user": "PROMPTCORNER_POSTGRES_USER",
    "pool_size": "PROMPTCORNER_POOL_SIZE",
    "root_chats": "PROMPTCORNER_ROOT_CHATS",
    "child_chats": "PROMPTCORNER_CHILD_CHATS",
    "lease_seconds": "PROMPTCORNER_LEASE_SECONDS",
    "startup_seconds": "PROMPTCORNER_STARTUP_SECONDS",
    "silence_seconds": "PROMPTCORNER_SILENCE_SECONDS",
    "drain_seconds": "PROMPTCORNER_DRAIN_SECONDS",
    "log": "PROMPTCORNER_LOG",
    "log_level": "PROMPTCORNER_LOG_LEVEL",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything the daemon is told; valid, or it does not exist."""

    host: str
    port: int  # 0: any free one, told in the line `daemon.ready`
    data_dir: Path
    database_url: str | None = field(repr=False)  # None: the embedded server
    postgres_user: str | None  # whom the embedded server runs as, when we are root
    pool_size: int  # connections for readers and for writes that cannot be grouped
    root_chats: int  # at work in this process at once
    child_chats: int
    lease_seconds: float  # the same in all processes of a database
    startup_seconds: float
    silence_seconds: float
    drain_seconds: float
    log: LogFormat
    log_level: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """Of a number: what it is if nobody says, and from where to where it may be said."""

    usual: float
    low: float
    high: float


BOUNDS = {
    # Connections for readers and for writes that cannot be grouped; the embedded server takes 100.
    "pool_size": Bounds(8, 1, 64),
    # At work in this process at once; more wait until one has ended.
    "root_chats": Bounds(5_000, 1, 100_000),
    "child_chats": Bounds(10_000, 0, 100_000),
    "lease_seconds": Bounds(30, 1, 600),
    "startup_seconds": Bounds(60, 0.1, 86_400),
    "silence_seconds": Bounds(600, 0.1, 86_400),
    "drain_seconds": Bounds(30, 0, 3_600),
}


@dataclass(frozen=True, slots=True)
class _Said:
    """One setting and who set it."""

    source: str
    text: str

    def refused(self, fact: str) -> CannotStart:
        return CannotStart("config", f"{self.source}={self.text}, {fact}")


def read(flags: Mapping[str, str | None], environment: Mapping[str, str]) -> Config:
    """The configuration that flags (by their names in ENVIRONMENT) and environment say."""

    def said(name: str, default: str) -> _Said:
        flag = flags.get(name)
        if flag is not None:
            return _Said("--" + name.replace("_", "-"), flag)
        return _Said(ENVIRONMENT[name], environment.get(ENVIRONMENT[name]) or default)

    def number(name: str, form: re.Pattern[str]) -> float:
        bounds = BOUNDS[name]
        return _number(said(name, f"{bounds.usual:g}"), form, bounds)

    host, port = _address(said("listen", LISTEN))
    return Config(
        host=host,
        port=port,
        data_dir=_directory(said("data_dir", str(default_data_dir()))),
        database_url=_database_url(said("database_url", "")),
        postgres_user=said("postgres_user", "").text or None,
        pool_size=int(number("pool_size", _WHOLE)),
        root_chats=int(number("root_chats", _WHOLE)),
        child_chats=int(number("child_chats", _WHOLE)),
        lease_seconds=number("lease_seconds", _DECIMAL),
        startup_seconds=number("startup_seconds", _DECIMAL),
        silence_seconds=number("silence_seconds", _DECIMAL),
        drain_seconds=number("drain_seconds", _DECIMAL),
        log=cast("LogFormat", _one_of(said("log", "auto"), LOG_FORMATS)),
        log_level=_one_of(said("log_level", "info"), LOG_LEVELS),
    )


def _address(said: _Said) -> tuple[str, int]:
    host, colon, port = said.text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isdecimal() and int(port) <= PORT_MAX):
        raise said.refused(f"must be HOST:PORT with a port of 0..{PORT_MAX}")
    return host, int(port)


def _directory(said: _Said) -> Path:
    if not said.text:  # a variable that was not set, in a script: `--data-dir "$DIR"`
        raise CannotStart("config", f"{said.source} is empty, must name a directory")
    if "\0" in said.text:
        raise CannotStart("config", f"{said.source} has a zero byte in it")
    return Path(said.text).expanduser().absolute()


def _number(said: _Said, form: re.Pattern[str], bounds: Bounds) -> float:
    if not form.fullmatch(said.text) or not bounds.low <= float(said.text) <= bounds.high:
        raise said.refused(f"must be {bounds.low:g}..{bounds.high:g}")
    return float(said.text)


def _one_of(said: _Said, words: tuple[str, ...]) -> str:
    if said.text not in words:
        raise said.refused(f"must be {', '.join(words[:-1])} or {words[-1]}")
    return said.text


def _database_url(said: _Said) -> str | None:
    if not said.text:
        return None
    try:
        conninfo_to_dict(said.text)
    except ProgrammingError:  # its text quotes the value, and that has a password in it
        raise CannotStart(
            "config",
            f"{said.source} is not a PostgreSQL address",
            "write postgresql://user:password@host:5432/database",
        ) from None
    return said.text
