"""Kinds of settings: how a value is written, and how it is read. Pure."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import ClassVar, Generic, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from actors.tools.approval_rules import ApprovalRule, read_rules

PORT_MAX = 65535

LogFormat = Literal["auto", "text", "json"]
LOG_FORMATS: tuple[LogFormat, ...] = ("auto", "text", "json")

_Value = TypeVar("_Value", covariant=True)
_Word = TypeVar("_Word", bound=str)

_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_DISTRIBUTION = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,98}[A-Za-z0-9])?")
_ORIGIN = re.compile(
    r"https?://([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(:([0-9]{1,5}|\*))?"
)
_VISIBLE = re.compile(r"[!-~]+")


class InvalidValue(Exception):
    """A text that is no value of its kind. The message says what it must be. It never quotes the
    text, which may be a secret."""


class ValueKind(Protocol[_Value]):
    """A kind of values: how one is written, and how it is read."""

    @property
    def shape(self) -> str:
        """Stands for the value in usage: `N`."""
        ...

    @property
    def bounds(self) -> str:
        """The values that are allowed, in words. "": the shape says it all."""
        ...

    @property
    def must(self) -> str:
        """The words of a refusal: `must be 1..64`."""
        ...

    def read(self, text: str) -> _Value:
        """Read a value. Raise `InvalidValue` if the text is none of this kind."""
        ...


@dataclass(frozen=True, slots=True)
class HostAddress:
    """A host and a port to listen at."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class HostPort:
    shape: ClassVar[str] = "HOST:PORT"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = f"must be HOST:PORT with a port of 0..{PORT_MAX}"

    def read(self, text: str) -> HostAddress:
        host, colon, port = text.rpartition(":")
        host = host.removeprefix("[").removesuffix("]")
        if not (colon and host and port.isdecimal() and int(port) <= PORT_MAX):
            raise InvalidValue(self.must)
        return HostAddress(host, int(port))


@dataclass(frozen=True, slots=True)
class Count:
    low: int
    high: int
    shape: ClassVar[str] = "N"

    @property
    def bounds(self) -> str:
        return f"{self.low}..{self.high}"

    @property
    def must(self) -> str:
        return f"must be {self.bounds}"

    def read(self, text: str) -> int:
        if not _WHOLE.fullmatch(text) or not self.low <= int(text) <= self.high:
            raise InvalidValue(self.must)
        return int(text)


@dataclass(frozen=True, slots=True)
class Seconds:
    low: float
    high: float
    shape: ClassVar[str] = "S"

    @property
    def bounds(self) -> str:
        return f"{self.low:g}..{self.high:.10g}"

    @property
    def must(self) -> str:
        return f"must be {self.bounds}"

    def read(self, text: str) -> float:
        if not _DECIMAL.fullmatch(text) or not self.low <= float(text) <= self.high:
            raise InvalidValue(self.must)
        return float(text)


@dataclass(frozen=True, slots=True)
class OneOf(Generic[_Word]):
    """One of these words."""

    words: tuple[_Word, ...]
    shape: ClassVar[str] = "WORD"

    @property
    def bounds(self) -> str:
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"

    @property
    def must(self) -> str:
        return f"must be {self.bounds}"

    def read(self, text: str) -> _Word:
        for word in self.words:
            if word == text:
                return word
        raise InvalidValue(self.must)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Any of these words, or `none`."""

    words: tuple[str, ...]
    shape: ClassVar[str] = "WORD,…"

    @property
    def bounds(self) -> str:
        return f"none, or any of {', '.join(self.words)}"

    @property
    def must(self) -> str:
        return f"must be {self.bounds}, with commas between them"

    def read(self, text: str) -> frozenset[str]:
        said = frozenset(word.strip() for word in text.split(",")) - {"", "none"}
        if not said <= frozenset(self.words):
            raise InvalidValue(self.must)
        return said


@dataclass(frozen=True, slots=True)
class Names:
    """Names of distributions, in their order, or `none`."""

    shape: ClassVar[str] = "NAME,…"
    bounds: ClassVar[str] = "none, or names with commas between them"
    must: ClassVar[str] = "must be none, or names of distributions with commas between them"

    def read(self, text: str) -> tuple[str, ...]:
        if text == "none":
            return ()
        names = tuple(name.strip() for name in text.split(","))
        if not all(_DISTRIBUTION.fullmatch(name) for name in names):
            raise InvalidValue(self.must)
        return names


@dataclass(frozen=True, slots=True)
class ApprovalRules:
    """Rules of what tools may do, by patterns of their names, or `none`."""

    shape: ClassVar[str] = "TOOL=WORD,…"
    bounds: ClassVar[str] = "none, or TOOL=allow, TOOL=ask, TOOL=deny with commas between them"
    must: ClassVar[str] = f"must be {bounds}"

    def read(self, text: str) -> tuple[ApprovalRule, ...]:
        try:
            return () if text == "none" else read_rules(text)
        except ValueError as error:
            raise InvalidValue(str(error)) from None


@dataclass(frozen=True, slots=True)
class OnOff:
    shape: ClassVar[str] = "on|off"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = "must be on or off"

    def read(self, text: str) -> bool:
        match text.lower():
            case "on" | "true" | "yes" | "1":
                return True
            case "off" | "false" | "no" | "0":
                return False
        raise InvalidValue(self.must)


@dataclass(frozen=True, slots=True)
class PlainText:
    """Any text that is not empty. Its reader says what it means."""

    shape: str = "NAME"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = "must not be empty"

    def read(self, text: str) -> str:
        if not text:
            raise InvalidValue(self.must)
        return text


@dataclass(frozen=True, slots=True)
class FilePath:
    """A directory or a file. A relative path begins at the working directory."""

    what: str
    shape: str
    bounds: ClassVar[str] = ""

    @property
    def must(self) -> str:
        return f"must name a {self.what}"

    def read(self, text: str) -> Path:
        if not text:  # of a script whose variable was not set: `--data-dir "$DIR"`
            raise InvalidValue(self.must)
        if "\0" in text:
            raise InvalidValue(f"{self.must}, and has a zero byte in it")
        return Path(text).expanduser().absolute()


@dataclass(frozen=True, slots=True)
class WebAddress:
    shape: ClassVar[str] = "URL"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = "must be http:// or https://, a host, at most a port and a path"

    def read(self, text: str) -> str:
        try:
            parts = urlsplit(text)
            whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            whole = False
        if not whole or parts.query or parts.fragment or parts.username or parts.password:
            raise InvalidValue(self.must)
        return text.rstrip("/")


@dataclass(frozen=True, slots=True)
class FrameOrigins:
    """Origins of pages, as browsers and their policies write them, in their order."""

    shape: ClassVar[str] = "ORIGIN,…"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = (
        "must be none, or origins, as https://portal.example.org,http://10.0.0.1:*"
    )

    def read(self, text: str) -> tuple[str, ...]:
        if text == "none":
            return ()
        origins = tuple(word.strip().lower() for word in text.split(","))
        if not all(_ORIGIN.fullmatch(origin) for origin in origins):
            raise InvalidValue(self.must)
        return origins


@dataclass(frozen=True, slots=True)
class Networks:
    shape: ClassVar[str] = "ADDRESS,…"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = "must be none, or addresses and networks, as 10.0.0.1,192.0.2.0/24"

    def read(self, text: str) -> frozenset[IPv4Network | IPv6Network]:
        said = {word.strip() for word in text.split(",")} - {"", "none"}
        try:
            return frozenset(map(ip_network, said))
        except ValueError:
            raise InvalidValue(self.must) from None


@dataclass(frozen=True, slots=True)
class Origins:
    shape: ClassVar[str] = "ORIGIN,…"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = "must be none, or origins of pages, as https://app.example.org"

    def read(self, text: str) -> frozenset[str]:
        said = {word.strip().lower() for word in text.split(",")} - {"", "none"}
        if not all(map(_is_origin, said)):
            raise InvalidValue(self.must)
        return frozenset(said)


def _is_origin(text: str) -> bool:
    """Return whether a text is a scheme and a host, perhaps a port, and nothing else."""
    try:
        parts = urlsplit(text)
        is_whole = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return False
    return bool(is_whole) and text == f"{parts.scheme}://{parts.netloc}" and "@" not in text


@dataclass(frozen=True, slots=True)
class DatabaseAddress:
    shape: ClassVar[str] = "URL"
    bounds: ClassVar[str] = ""
    must: ClassVar[str] = (
        "is not a PostgreSQL address; write postgresql://user:password@host:5432/database"
    )

    def read(self, text: str) -> str:
        # Imported late: it takes longer than all of --help, which needs only the table.
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict

        try:
            conninfo_to_dict(text)
        except ProgrammingError:  # its text quotes the address, and that has a password in it
            raise InvalidValue(self.must) from None
        return text


@dataclass(frozen=True, slots=True)
class SecretText:
    """Visible characters in one piece, as they stand in a header or a shell."""

    low: int
    high: int
    shape: ClassVar[str] = "SECRET"

    @property
    def bounds(self) -> str:
        return f"{self.low}..{self.high} characters"

    @property
    def must(self) -> str:
        return f"must be {self.low}..{self.high} visible characters without a blank"

    def read(self, text: str) -> str:
        if not (_VISIBLE.fullmatch(text) and self.low <= len(text) <= self.high):
            raise InvalidValue(self.must)
        return text
