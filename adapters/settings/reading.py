"""The configuration, read from everything that may set it: valid, or it does not exist.

A flag counts before the environment, that before a systemd credential, that before the TOML file,
that before the default.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from adapters.settings.areas.oversight import check_hooks
from adapters.settings.kinds import PORT_MAX, HostAddress, InvalidValue
from adapters.settings.refusals import CannotStart
from adapters.settings.setting import PREFIX, Setting, Subject
from adapters.settings.table import SETTINGS, SETTINGS_BY_NAME, Config

CONFIG_FLAG, CONFIG_VARIABLE = "--config", "PROMPTCORNER_CONFIG"
CREDENTIALS = "CREDENTIALS_DIRECTORY"  # of systemd: a file for each, named as the setting
SECRET_BYTES_MAX = 64 * 1024  # of a file that holds one; a longer one is refused
DOCUMENT_BYTES_MAX = 1024 * 1024  # of the TOML file; a longer one is refused
QUOTED_MAX = 80  # characters of a text that is refused
LIKENESS = 0.6  # of a name to the one that was perhaps meant; less, and none is offered

# Variables of commands that speak to a daemon.
OTHERS = (CONFIG_VARIABLE, "PROMPTCORNER_URL", "PROMPTCORNER_TOKEN", "PROMPTCORNER_TOKEN_FILE")
# Kubernetes tells every container of every service in such variables: one that is called
# `promptcorner` must not keep the daemon from starting.
_OF_KUBERNETES = re.compile(
    rf"{PREFIX}(\w+_)?(SERVICE_HOST=.*|SERVICE_PORT(_\w+)?=\d+"
    r"|PORT=\w+://.*|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?=.*)"
)
EVERY_ADDRESS = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """The value of a setting for people to read. Of a secret only that it is set."""

    name: str
    value: str  # "": there is none
    origin: str


def read_config(
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    default_file: Path | None = None,
) -> Config:
    """Read the configuration from flags, environment and file.

    `flags` are by the names of the settings, and `config` names the file. CannotStart says what is
    wrong with one of them.
    """
    return _config(_open_sources(flags, environment, default_file).all(), environment)


def list_settings(
    flags: Mapping[str, str | None],
    environment: Mapping[str, str],
    default_file: Path | None = None,
) -> Sequence[ShownSetting]:
    """List every setting with its value and origin, in the order of the table.

    An invalid configuration is refused in the same words as by `read_config`.
    """
    found = _open_sources(flags, environment, default_file).all()
    _config(found, environment)
    return [
        ShownSetting(each.setting.name, each.shown_text, each.source) for each in found.values()
    ]


@dataclass(frozen=True, slots=True)
class _SettingText:
    """The text of a setting, and where it was set. No text: it is not set, and has no default."""

    setting: Setting
    source: str  # in the words of the person who set it
    text: str | None = field(repr=False, default=None)
    file: Path | None = None  # that it was read from

    @property
    def shown_text(self) -> str:
        if self.text is None:
            return ""
        return "(set)" if self.setting.secret else self.text

    def refused(self, fact: str) -> CannotStart:
        """Make the refusal of this text. It quotes no secret."""
        if self.setting.secret:
            return CannotStart("config", f"{self.source} {fact}")
        if not self.text:
            return CannotStart("config", f"{self.source} is empty, {fact}")
        joint = " says " if " " in self.source else "="
        return CannotStart("config", f"{self.source}{joint}{self.text[:QUOTED_MAX]}, {fact}")


@dataclass(frozen=True, slots=True)
class _Sources:
    """Everything that may set a setting. The first source that sets it counts."""

    flags: Mapping[str, str | None]
    environment: Mapping[str, str]
    document: Mapping[str, object]  # the content of the TOML file
    path: Path | None  # of that file

    def all(self) -> dict[str, _SettingText]:
        return {setting.name: self.of(setting) for setting in SETTINGS}

    def of(self, setting: Setting) -> _SettingText:
        for found in self._all_of(setting):
            return found
        if setting.default:
            return _SettingText(setting, "default", setting.default)
        return _SettingText(setting, "default")

    def _all_of(self, setting: Setting) -> Iterator[_SettingText]:
        flag = self.flags.get(setting.name)
        if flag is not None and not setting.secret:
            yield _SettingText(setting, setting.flag, flag)
        yield from self._of_environment(setting)
        if setting.secret:
            yield from self._of_credentials(setting)
        yield from self._of_document(setting)

    def _of_environment(self, setting: Setting) -> Iterator[_SettingText]:
        for name in setting.variables:
            text = self.environment.get(name, "").strip()
            file = self.environment.get(f"{name}_FILE", "").strip() if setting.secret else ""
            if text and file:
                raise CannotStart("config", f"{name} and {name}_FILE are both set", "unset one")
            if text:
                yield _SettingText(setting, name, text)
            if file:
                yield _from_file(setting, f"{name}_FILE", Path(file))

    def _of_credentials(self, setting: Setting) -> Iterator[_SettingText]:
        directory = self.environment.get(CREDENTIALS)
        if directory and (path := Path(directory, setting.name)).is_file():
            yield _from_file(setting, f"credential {setting.name}", path)

    def _of_document(self, setting: Setting) -> Iterator[_SettingText]:
        key = setting.name
        where = f"in {self.path}"
        if key in self.document and f"{key}_file" in self.document:
            fact = f"{key} and {key}_file both stand {where}"
            raise CannotStart("config", fact, "take one out")
        if key in self.document:
            text = _text(key, self.document[key], where)
            yield _SettingText(setting, f"{key} {where}", text, self.path)
        if f"{key}_file" in self.document:
            name = _text(f"{key}_file", self.document[f"{key}_file"], where)
            assert self.path is not None, "a document has been read from somewhere"
            yield _from_file(setting, f"{key}_file {where}", self.path.parent / name)


def _open_sources(
    flags: Mapping[str, str | None], environment: Mapping[str, str], default_file: Path | None
) -> _Sources:
    """Open the sources. `default_file` is read if it exists; a file that is named must exist."""
    _refuse_unknown_variables(environment)
    flag, variable = flags.get("config"), environment.get(CONFIG_VARIABLE)
    for source, name in ((CONFIG_FLAG, flag), (CONFIG_VARIABLE, variable)):
        if name:
            path = Path(name).expanduser().absolute()
            return _Sources(flags, environment, _document(path, f"{source} {name}"), path)
    # `exists` is False also where we may not look.
    if default_file is not None and os.path.exists(default_file):
        document = _document(default_file, str(default_file))
        return _Sources(flags, environment, document, default_file)
    return _Sources(flags, environment, {}, None)


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {*OTHERS, *(name for each in SETTINGS for name in _variables(each))}
    for name, value in environment.items():
        ours = name.startswith(PREFIX) and value and name not in known
        if ours and not _OF_KUBERNETES.fullmatch(f"{name}={value}"):
            raise _unknown(f"variable {name}", name, known)


def _variables(setting: Setting) -> Iterator[str]:
    for name in setting.variables:
        yield name
        if setting.secret:
            yield f"{name}_FILE"


def _document(path: Path, source: str) -> Mapping[str, object]:
    text = _bytes(path, DOCUMENT_BYTES_MAX, source)
    try:
        document = tomllib.loads(text.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise CannotStart("config", f"{source} is no TOML ({error})") from None
    known = {*SETTINGS_BY_NAME, *(f"{each.name}_file" for each in SETTINGS if each.secret)}
    for key in document:
        if key not in known:
            raise _unknown(f"{key} in {path}", key, known)
    return document


def _unknown(subject: str, name: str, known: Collection[str]) -> CannotStart:
    fact = f"{subject} is none of ours"
    plain = re.sub("_file$", "", name, flags=re.IGNORECASE)  # only secrets are read from files
    apart = {each.removeprefix(PREFIX): each for each in sorted(known)}
    wanted = name.removeprefix(PREFIX)
    nearest = difflib.get_close_matches(wanted, apart, n=1, cutoff=LIKENESS)
    if plain in known or nearest:
        meant = plain if plain in known else apart[nearest[0]]
        return CannotStart("config", fact, f"did you mean {meant}?")
    return CannotStart("config", fact, "`promptcorner config show` lists those that are")


def _text(key: str, value: object, where: str) -> str:
    match value:
        case bool():
            return "on" if value else "off"
        case str():
            return value
        case int() | float():
            return f"{value:.15g}"
    raise CannotStart("config", f"{key} {where} must be a string, a number or a boolean")


def _from_file(setting: Setting, source: str, path: Path) -> _SettingText:
    text = _bytes(path, SECRET_BYTES_MAX, f"{source} {path}")
    try:
        secret = text.decode().strip()
    except UnicodeDecodeError:
        raise CannotStart("config", f"{source} {path} is no text") from None
    if not secret:  # a file that is named stands for what should be in it, not for the default
        raise CannotStart("config", f"{source} {path} is empty")
    return _SettingText(setting, f"{source} {path}", secret, path)


def _bytes(path: Path, bytes_max: int, source: str) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(bytes_max + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "a zero byte in its name"
        raise CannotStart("config", f"{source} cannot be read ({why})") from None
    if len(text) > bytes_max:
        raise CannotStart("config", f"{source} has more than {bytes_max} bytes")
    return text


def _config(found: Mapping[str, _SettingText], environment: Mapping[str, str]) -> Config:
    values = {name: _value(text) for name, text in found.items()}
    if (values["tls_cert"] is None) is not (values["tls_key"] is None):
        fact = "of tls_cert and tls_key only one is set"
        raise CannotStart("config", fact, "set both, or none")
    providers = [row.name for row in SETTINGS if row.subject is Subject.PROVIDERS]
    set_providers = [found[name] for name in providers if values.pop(name) is not None]
    files = frozenset(text.file for text in found.values() if text.file is not None)
    environ = _environ(set_providers, environment)
    config = Config(**values, environ=environ, files=files)  # type: ignore[arg-type]
    check_hooks(config)
    _check_relay(config.relay_listen, config.relay_url, processes=config.processes)
    return config


def _value(text: _SettingText) -> object:
    if text.text is None:
        return None
    try:
        return text.setting.kind.read(text.text)
    except InvalidValue as invalid:
        raise text.refused(str(invalid)) from None


def _environ(
    providers: Sequence[_SettingText], environment: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the environment as if all settings of providers had been set in it."""
    values = {text.setting.variables[0]: text.text or "" for text in providers}
    return {**environment, **values}


def _check_relay(listen: HostAddress | None, url: str | None, *, processes: int) -> None:
    """Refuse addresses at which the other processes would not find one of this start.

    Each process of one start has an address of its own: the next port of `relay_listen`, and the
    next one of `relay_url` if that is how the others see it.
    """
    if listen is not None:
        if url is None and listen.host in EVERY_ADDRESS:
            fact = f"relay_listen={listen} is every address of this machine, others need one"
            raise CannotStart("config", fact, "name it there, or in relay_url")
        _check_ports("relay_listen", listen.port, processes)
    if url is not None:
        _check_relay_url(url, listen, processes=processes)


def _check_relay_url(url: str, listen: HostAddress | None, *, processes: int) -> None:
    if listen is None or listen.port == 0:
        fact = f"relay_url={url} leads to no port that is known"
        raise CannotStart("config", fact, "set relay_listen to HOST:PORT with that port")
    port = urlsplit(url).port
    if port is None and processes > 1:
        fact = f"relay_url={url} has no port, and {processes} processes need one each"
        raise CannotStart("config", fact, "add that of the first, the others take the next ones")
    _check_ports("relay_url", port or 0, processes)


def _check_ports(name: str, first: int, processes: int) -> None:
    """Refuse ports above the highest. A first port of 0 means any port, or none."""
    last = first + processes - 1
    if first and last > PORT_MAX:
        fact = f"{processes} processes take the ports {first}..{last} of {name}"
        raise CannotStart("config", fact, f"the first must be {last - PORT_MAX} less, or lower")
