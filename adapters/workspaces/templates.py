"""Templates of workspaces, as the operator has laid them out in a directory, and how a workspace is
made of one.

A template NAME is a directory NAME (copied, or cloned if it is a git repository), a file NAME.toml,
or both. The file says more, and all of it may be left out:

    display_name = "Web service"
    description = "Python, with our linters"
    git = "https://git.example.org/team/service.git"   # cloned in place of the directory
    branch = "main"
    setup = "make install"                             # run in it once, in the sandbox
    setup_seconds = 600

    [limits]
    memory_mb = 4096
    file_mb = 4096
    processes = 1024
    seconds = 86400
    disk_mb = 10240

Where there is none at all, there is an empty one.

A workspace's directory is copied or cloned beside its place first. Clones are made by the daemon
itself, because it is the operator who has named what is cloned and may have given the daemon its
keys, which stay with it; nothing of what is cloned is run.
"""

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

import msgspec
import trio

from adapters.workspaces.commands.sandbox import DEFAULT_LIMITS, CommandLimits
from adapters.workspaces.disk import MAKING, Disk, DiskSilent, Programs
from runtime.threads import ThreadLimits, check_wanted

TEMPLATES_MAX = 500  # by name; those that are over are not seen
README_CHARACTERS_MAX = 8_000  # of a template's README.md; the rest is left out
SETUP_SECONDS = 600
READING = ThreadLimits("templates", 4, wait_seconds=5.0, answer_seconds=10.0)
EMPTY_NAME = "empty"

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_README = "README.md"
_CREDENTIALS = re.compile(r"(https?://)[^/\s]*@")

_Positive = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]


class _Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    memory_mb: _Positive = DEFAULT_LIMITS.memory_mb
    file_mb: _Positive = DEFAULT_LIMITS.file_mb
    processes: _Positive = DEFAULT_LIMITS.processes
    seconds: _Positive = DEFAULT_LIMITS.seconds
    disk_mb: _Positive = DEFAULT_LIMITS.disk_mb


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    display_name: str = ""
    description: str = ""
    git: str = ""
    branch: str = ""
    setup: str = ""
    setup_seconds: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = SETUP_SECONDS
    limits: _Limits = _Limits()


@dataclass(frozen=True, slots=True)
class Template:
    """A template from which workspaces are made."""

    name: str
    display_name: str = ""
    description: str = ""
    readme: str = ""
    directory: Path | None = None  # copied or cloned
    git: str = ""  # cloned in its place
    branch: str = ""  # "": the one that the repository names
    setup: str = ""
    setup_seconds: int = SETUP_SECONDS
    limits: CommandLimits = DEFAULT_LIMITS

    @property
    def shown_git(self) -> str:
        return without_credentials(self.git)

    @property
    def is_repository(self) -> bool:
        return self.directory is not None and _is_repository(self.directory)


@dataclass(frozen=True, slots=True)
class FaultyTemplate:
    """A template whose file cannot be read, and why."""

    name: str
    why: str


EMPTY = Template(EMPTY_NAME, description="An empty directory")


class Templates:
    """The templates in a directory. They are read each time: what the operator changes counts at
    once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._disk = Disk(str(directory), "the templates")

    async def all(self) -> Sequence[Template | FaultyTemplate]:
        """Return all templates by name. DiskSilent: the disk does not answer."""
        return await self._disk.read(self._all, READING)

    async def named(self, name: str) -> Template | FaultyTemplate | None:
        return next((each for each in await self.all() if each.name == name), None)

    def _all(self) -> Sequence[Template | FaultyTemplate]:
        names = sorted(set(self._names()))[:TEMPLATES_MAX]
        return [self._read(name) for name in names] or [EMPTY]

    def _names(self) -> Iterator[str]:
        try:
            paths = list(self._directory.iterdir())
        except OSError:
            return
        for path in paths:
            name = path.stem if path.suffix == ".toml" and path.is_file() else path.name
            if _NAME.fullmatch(name) and (path.is_dir() or path.suffix == ".toml"):
                yield name

    def _read(self, name: str) -> Template | FaultyTemplate:
        directory = self._directory / name
        try:
            said = _read_file(self._directory / f"{name}.toml")
        except (OSError, ValueError) as error:
            return FaultyTemplate(name, _fault(error))
        has_one = directory.is_dir()
        return Template(
            name,
            said.display_name,
            said.description,
            _readme(directory) if has_one else "",
            directory if has_one else None,
            said.git,
            said.branch,
            said.setup,
            said.setup_seconds,
            CommandLimits(
                said.limits.memory_mb,
                said.limits.file_mb,
                said.limits.processes,
                said.limits.seconds,
                said.limits.disk_mb,
            ),
        )


def _read_file(path: Path) -> _File:
    """Read a template's file; an empty one if there is none. ValueError: what is wrong with it."""
    if not path.exists():
        return _File()
    return msgspec.toml.decode(path.read_bytes(), type=_File)


def _fault(error: OSError | ValueError) -> str:
    if isinstance(error, OSError):
        return os.strerror(error.errno or 0).lower()
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _readme(directory: Path) -> str:
    path = directory / _README
    if not path.is_file():
        return ""
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(README_CHARACTERS_MAX)


def without_credentials(text: str) -> str:
    """Return the text with its addresses as everybody may see them."""
    return _CREDENTIALS.sub(r"\1", text)


def _is_repository(directory: Path) -> bool:
    """Return whether it is a git repository, with a work tree or bare."""
    bare = (directory / "HEAD").is_file() and (directory / "objects").is_dir()
    return bare or (directory / ".git").exists()


COPIED_BYTES_MAX = 4 * 1024 * 1024 * 1024  # of a template; then it is refused
CLONE_SECONDS = 600.0  # for a clone; then it is given up
# That is waited for what is half made to be removed; its thread does it to the end in any case.
CLEANUP_SECONDS = 5.0
SAID_CHARACTERS_MAX = 500  # of what git says of why it does not clone
_OWN = 0o700  # of what other users of the machine need not see

HOME, TMP = "home", "tmp"  # in a workspace's directory: what it is about, and its /tmp
# Stands there until it is registered: a process that finds it much later may remove the directory.
UNREGISTERED = "unregistered"


class WorkspaceNotMade(Exception):
    """The workspace was not made; the words say why, for the model."""


@dataclass
class TooManyWorkspaces(WorkspaceNotMade):
    """The user has as many workspaces as they may have."""

    count: int
    count_max: int

    def __str__(self) -> str:
        return (
            f"this user has {self.count} workspaces (at most {self.count_max}); they can remove"
            " some over the API, or let this chat work in one of them"
        )


async def make_directory(template: Template, place: Path, environ: Mapping[str, str]) -> None:
    """Make `place`, whole or not at all. It has to be marked as registered afterwards."""
    beside, disk = place.with_name(f".{place.name}.new"), disk_of(place)
    try:
        await disk.write(partial(_begin, beside), MAKING)
        await _fill(template, beside / HOME, disk, environ)
        await disk.write(partial(os.rename, beside, place), MAKING)
    except (OSError, shutil.Error) as error:
        raise WorkspaceNotMade(f"template {template.name}: {_fact(error)}") from error
    except DiskSilent as silent:
        raise WorkspaceNotMade(str(silent)) from silent
    finally:
        with trio.move_on_after(CLEANUP_SECONDS, shield=True), suppress(DiskSilent):
            remove = partial(shutil.rmtree, beside, ignore_errors=True)
            await disk.write(remove, MAKING, seconds=0)


async def mark_registered(place: Path) -> None:
    with suppress(OSError, DiskSilent):  # that it is registered counts for more
        await disk_of(place).write((place / UNREGISTERED).unlink, MAKING)


def disk_of(place: Path) -> Disk:
    return Disk(str(place), "the workspace")


def _begin(beside: Path) -> None:
    """Make an empty place. What a process that was killed has left there is removed first."""
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(_OWN, parents=True)
    (beside / TMP).mkdir()
    (beside / UNREGISTERED).touch()


async def _fill(template: Template, home: Path, disk: Disk, environ: Mapping[str, str]) -> None:
    if source := template.git or await disk.read(partial(_repository, template), MAKING):
        await _clone(template, source, home, environ)
    elif template.directory is not None:
        await disk.write(partial(_Copying(template.directory).into, home), MAKING)
    else:
        await disk.write(home.mkdir, MAKING)


def _repository(template: Template) -> str:
    return str(template.directory) if template.is_repository else ""


async def _clone(template: Template, source: str, home: Path, environ: Mapping[str, str]) -> None:
    branch = ["--branch", template.branch] if template.branch else []
    where = [*branch, "--", source, str(home)]
    await _git(template, ["clone", "--quiet", "--no-hardlinks", *where], environ)
    if (shown := without_credentials(source)) != source:
        address = ["remote", "set-url", "origin", shown]
        await _git(template, ["-C", str(home), *address], environ)


async def _git(template: Template, words: Sequence[str], environ: Mapping[str, str]) -> None:
    quiet = {**environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true"}
    done = await Programs().run(
        ["git", *words], key=None, seconds=CLONE_SECONDS, environ=quiet, hears_errors=True
    )
    if done is None:
        raise WorkspaceNotMade(f"template {template.name}: not cloned within {CLONE_SECONDS:g} s")
    if done.code:
        said = without_credentials(done.said.decode(errors="replace").strip())
        said = said[:SAID_CHARACTERS_MAX]
        raise WorkspaceNotMade(f"template {template.name}: git does not clone it: {said}")


class _Copying:
    """A copy of a directory: files, directories and symbolic links, nothing that waits or never
    ends."""

    def __init__(self, source: Path) -> None:
        self._source = source
        self._bytes = 0

    def into(self, home: Path) -> None:
        shutil.copytree(
            self._source, home, symlinks=True, ignore=_special, copy_function=self._copy
        )

    def _copy(self, source: str, target: str) -> None:
        check_wanted()
        self._bytes += os.lstat(source).st_size
        if self._bytes > COPIED_BYTES_MAX:
            raise WorkspaceNotMade(
                f"{self._source.name}: more than {COPIED_BYTES_MAX} bytes to copy"
            )
        shutil.copy2(source, target, follow_symlinks=False)


def _special(folder: str, names: Sequence[str]) -> list[str]:
    def is_one(name: str) -> bool:
        mode = os.lstat(os.path.join(folder, name)).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))

    return [name for name in names if is_one(name)]


def _fact(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    return "some of its files cannot be copied"
