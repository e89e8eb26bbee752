"""Who said what: flags, environment, files that it names, credentials of systemd, a TOML file."""

import difflib
import os
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from adapters.settings.refusals import CannotStart
from adapters.settings.table import NAMED, PREFIX, SETTINGS, Setting

CONFIG_FLAG, CONFIG_VARIABLE = "--config", "PROMPTCORNER_CONFIG"
CREDENTIALS = "CREDENTIALS_DIRECTORY"  # of systemd: a file for each, named as the setting
SECRET_BYTES_MAX = 64 * 1024  # of a file that holds one; a longer one is refused
DOCUMENT_BYTES_MAX = 1024 * 1024  # of the TOML file; a longer one is refused
QUOTED_MAX = 80  # characters of a text that is refused
LIKENESS = 0.6  # of a name to the one that was perhaps meant; less, and none is offered

# Ours too, but of commands that speak to a daemon.
OTHERS = (CONFIG_VARIABLE, "PROMPTCORNER_URL", "PROMPTCORNER_TOKEN", "PROMPTCORNER_TOKEN_FILE")
# Kubernetes tells every container of every service in such variables: one that is called
# `promptcorner` must not keep the daemon from starting.
_OF_KUBERNETES = re.compile(
    rf"{PREFIX}(\w+_)?(SERVICE_HOST=.*|SERVICE_PORT(_\w+)?=\d+"
    r"|PORT=\w+://.*|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?=.*)"
)


@dataclass(frozen=True, slots=True)
class Said:
    """One setting and who set it; no text: nobody did, and there is no default."""

    setting: Setting
    source: str  # in the words of whoever set it
    text: str | None = field(repr=False, default=None)
    file: Path | None = None  # it was read from

    def refused(self, fact: str) -> CannotStart:
        if self.setting.secret:
            return CannotStart("config", f"{self.source} {fact}")
        if not self.text:
            return CannotStart("config", f"{self.source} is empty, {fact}")
        joint = " says " if " " in self.source else "="
        return CannotStart("config", f"{self.source}{joint}{self.text[:QUOTED_MAX]}, {fact}")


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that may say something, the first that does counts."""

    flags: Mapping[str, str | None]
    environment: Mapping[str, str]
    document: Mapping[str, object]  # of the TOML file
    path: Path | None  # of it

    def all(self) -> dict[str, Said]:
        return {setting.name: self.of(setting) for setting in SETTINGS}

    def of(self, setting: Setting) -> Said:
        for said in self._all_of(setting):
            return said
        if setting.default:
            return Said(setting, "default", setting.default)
        return Said(setting, "default")

    def _all_of(self, setting: Setting) -> Iterator[Said]:
        flag = self.flags.get(setting.name)
        if flag is not None and not setting.secret:
            yield Said(setting, setting.flag, flag)
        yield from self._of_environment(setting)
        if setting.secret:
            yield from self._of_credentials(setting)
        yield from self._of_document(setting)

    def _of_environment(self, setting: Setting) -> Iterator[Said]:
        for name in setting.variables:
            text = self.environment.get(name, "").strip()
            file = self.environment.get(f"{name}_FILE", "").strip() if setting.secret else ""
            if text and file:
                raise CannotStart("config", f"{name} and {name}_FILE are both set", "unset one")
            if text:
                yield Said(setting, name, text)
            if file:
                yield _from_file(setting, f"{name}_FILE", Path(file))

    def _of_credentials(self, setting: Setting) -> Iterator[Said]:
        directory = self.environment.get(CREDENTIALS)
        if directory and (path := Path(directory, setting.name)).is_file():
            yield _from_file(setting, f"credential {setting.name}", path)

    def _of_document(self, setting: Setting) -> Iterator[Said]:
        key = setting.name
        where = f"in {self.path}"
        if key in self.document and f"{key}_file" in self.document:
            fact = f"{key} and {key}_file both stand {where}"
            raise CannotStart("config", fact, "take one out")
        if key in self.document:
            text = _text(key, self.document[key], where)
            yield Said(setting, f"{key} {where}", text, self.path)
        if f"{key}_file" in self.document:
            name = _text(f"{key}_file", self.document[f"{key}_file"], where)
            assert self.path is not None, "a document has been read from somewhere"
            yield _from_file(setting, f"{key}_file {where}", self.path.parent / name)


def sources(
    flags: Mapping[str, str | None], environment: Mapping[str, str], usual_file: Path | None
) -> Sources:
    """`usual_file` is read if it is there; one that was asked for has to be."""
    _refuse_unknown_variables(environment)
    flag, variable = flags.get("config"), environment.get(CONFIG_VARIABLE)
    for source, name in ((CONFIG_FLAG, flag), (CONFIG_VARIABLE, variable)):
        if name:
            path = Path(name).expanduser().absolute()
            return Sources(flags, environment, _document(path, f"{source} {name}"), path)
    if usual_file is not None and os.path.exists(usual_file):  # no: also where we may not look
        document = _document(usual_file, str(usual_file))
        return Sources(flags, environment, document, usual_file)
    return Sources(flags, environment, {}, None)


def _refuse_unknown_variables(environment: Mapping[str, str]) -> None:
    known = {*OTHERS, *(name for each in SETTINGS for name in _variables(each))}
    for name, value in environment.items():
        ours = name.startswith(PREFIX) and value and name not in known
        if ours and not _OF_KUBERNETES.fullmatch(f"{name}={value}"):
            raise unknown(f"variable {name}", name, known)


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
    known = {*NAMED, *(f"{each.name}_file" for each in SETTINGS if each.secret)}
    for key in document:
        if key not in known:
            raise unknown(f"{key} in {path}", key, known)
    return document


def unknown(subject: str, name: str, known: Collection[str]) -> CannotStart:
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


def _from_file(setting: Setting, source: str, path: Path) -> Said:
    text = _bytes(path, SECRET_BYTES_MAX, f"{source} {path}")
    try:
        secret = text.decode().strip()
    except UnicodeDecodeError:
        raise CannotStart("config", f"{source} {path} is no text") from None
    if not secret:  # whoever names a file means what should be in it, not the default
        raise CannotStart("config", f"{source} {path} is empty")
    return Said(setting, f"{source} {path}", secret, path)


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
