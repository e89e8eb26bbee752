"""The servers that a workspace names in its `.mcp.json`. Pure.

{"mcpServers": {"search": {"command": "npx", "args": ["-y", "search"], "env": {"LEVEL": "1"}},
                "wiki": {"url": "https://wiki.example.org/mcp", "headers": {"X-In": "${HOME}"}}}}

Variables are filled in. One entry that makes no sense is told of; the others count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, structs

FILLED_CHARACTERS_MAX = 65_536  # of a text with its values; a longer one is refused

_PLACE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
SERVERS_MAX = 32  # of a file; those that come after are told of, and left out
NAME_CHARACTERS_MAX = 64
SAID_CHARACTERS_MAX = 200  # of what is wrong
# Of a command with its arguments and what is shown of its variables, or of a url and the names of
# its headers: a person who is asked about more than that reads none of it, so it is refused.
SHOWN_CHARACTERS_MAX = 4_096

# Names of variables that say where programs, libraries, packages and options come from: with
# another PATH, NODE_OPTIONS or PIP_INDEX_URL the same command is another one.
_CODE = re.compile(
    r".*(path|home|lib|options|opts?|env|shell|command|preload|audit|startup"
    r"|registry|index|index_url|mirror|proxy)",
    re.IGNORECASE,
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
# What a session sets by itself.
_RESERVED = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "accept"}
)


class CannotFill(Exception):
    """The variables of a text cannot be filled in; the words say why, for people."""


def fill_variables(text: str, variables: Mapping[str, str]) -> str:
    """Fill in the variables of a text, `${NAME}`, or `${NAME:-other}` for where it is not set, or
    empty. CannotFill: why that is not possible.

    They are the variables that commands of the workspace find, and never our own. What looks
    otherwise stands as it is, and what was filled in is not looked at again.
    """

    def value(place: re.Match[str]) -> str:
        name, other = place[1], place[2]
        if name not in variables and other is None:
            raise CannotFill(
                f"the variable {name[:64]} is not set for commands of the workspace;"
                f" ${{{name[:64]}:-value}} says what counts then"
            )
        return variables.get(name) or other or ""

    text = _PLACE.sub(value, text)
    if len(text) > FILLED_CHARACTERS_MAX:
        raise CannotFill(f"with its variables it has more than {FILLED_CHARACTERS_MAX} characters")
    return text


@dataclass(frozen=True, slots=True)
class NamedProgram:
    """A server that is a program, spoken with over its standard streams."""

    command: str
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class NamedAddress:
    """A server behind HTTP."""

    url: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(repr=False, default=())
    is_sse: bool = False


@dataclass(frozen=True, slots=True)
class NamedEntry:
    """An entry of the file that can be used; `target` is what it leads to."""

    name: str
    target: NamedProgram | NamedAddress


@dataclass(frozen=True, slots=True)
class InvalidEntry:
    """An entry that cannot be used. `name` is empty if it is the whole file."""

    name: str
    why: str


class _Entry(Struct, frozen=True):
    type: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str | None = None
    headers: Mapping[str, str] = {}
    disabled: bool = False


class _File(Struct, frozen=True):
    servers: Mapping[str, msgspec.Raw] = msgspec.field(name="mcpServers", default_factory=dict)


def read_config_file(
    content: bytes, variables: Mapping[str, str]
) -> Sequence[NamedEntry | InvalidEntry]:
    """Return the entries of a file, in the order of their names. `variables` are those that the
    workspace's commands find."""
    try:
        servers = msgspec.json.decode(content, type=_File).servers
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return [InvalidEntry("", _words(error))]
    names = sorted(servers)
    over = [
        InvalidEntry(name, f"a workspace can have {SERVERS_MAX}") for name in names[SERVERS_MAX:]
    ]
    found = (_one(name, bytes(servers[name]), variables) for name in names[:SERVERS_MAX])
    return [*(one for one in found if one is not None), *over]


def _one(
    name: str, content: bytes, variables: Mapping[str, str]
) -> NamedEntry | InvalidEntry | None:
    """Return an entry, or None if it is switched off."""
    try:
        entry = msgspec.json.decode(content, type=_Entry)
        if entry.disabled:
            return None
        entry = _filled(entry, variables)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, CannotFill) as error:
        return InvalidEntry(name, _words(error))
    if why := next(_faults(name, entry), None):
        return InvalidEntry(name, why)
    if entry.command is not None:
        return NamedEntry(name, NamedProgram(entry.command, entry.args, tuple(entry.env.items())))
    headers = tuple(entry.headers.items())
    return NamedEntry(name, NamedAddress(entry.url or "", headers, entry.type == "sse"))


def decides_what_is_run(variable: str) -> bool:
    """Return whether a person who is asked about a program has to see this variable's value."""
    return _CODE.fullmatch(variable) is not None


def _filled(entry: _Entry, variables: Mapping[str, str]) -> _Entry:
    def fill(text: str) -> str:
        return fill_variables(text, variables)

    return structs.replace(
        entry,
        command=None if entry.command is None else fill(entry.command),
        args=tuple(map(fill, entry.args)),
        env={name: fill(value) for name, value in entry.env.items()},
        url=None if entry.url is None else fill(entry.url),
        headers={name: fill(value) for name, value in entry.headers.items()},
    )


def _faults(name: str, entry: _Entry) -> Iterator[str]:
    if not name.strip() or len(name) > NAME_CHARACTERS_MAX or not name.isprintable():
        yield f"a name has 1 to {NAME_CHARACTERS_MAX} visible characters"
    if (entry.command is None) is (entry.url is None):
        yield "a server has a command or a url"
    kinds = ("stdio",) if entry.command is not None else ("http", "streamable-http", "sse")
    values = (value for name, value in entry.env.items() if decides_what_is_run(name))
    texts = (entry.command or "", *entry.args, *entry.env, entry.url or "", *entry.headers)
    shown = (*texts, *values)
    if (size := sum(map(len, shown))) > SHOWN_CHARACTERS_MAX:
        most = SHOWN_CHARACTERS_MAX
        yield f"it has {size} characters to be shown to a person, and {most} are allowed"
    if entry.type is not None and entry.type not in kinds:
        yield f"its type is {entry.type[:40]!r}, not {' or '.join(kinds)}"
    if entry.command is not None:
        yield from _program_faults(entry.command, entry)
    else:
        yield from _address_faults(entry.url or "", entry)


def _program_faults(command: str, entry: _Entry) -> Iterator[str]:
    if not command.strip():
        yield "its command is empty"
    if any("\0" in text for text in (command, *entry.args, *entry.env.values())):
        yield "a zero byte is in it"
    for name in entry.env:
        if not _VARIABLE.fullmatch(name):
            yield f"{name[:40]!r} is not the name of a variable"


def _address_faults(url: str, entry: _Entry) -> Iterator[str]:
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or not url.isprintable() or " " in url:
        yield "its url is no http or https address"
    for name, value in entry.headers.items():
        if not _HEADER.fullmatch(name) or name.lower() in _RESERVED:
            yield f"the header {name[:40]!r} cannot be set"
        if not (value.isascii() and (value.isprintable() or not value)):
            yield f"the header {name[:40]!r} has a value that no header can have"


def _words(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return (str(error) or "it is nested too deeply")[:SAID_CHARACTERS_MAX]
