"""What a workspace can be made of, as the operator has laid it out in the templates directory.

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
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from adapters.workspaces.disks.disk import Disk
from adapters.workspaces.sandbox import USUAL, Limits
from runtime.threads.limits import ThreadLimits

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
    memory_mb: _Positive = USUAL.memory_mb
    file_mb: _Positive = USUAL.file_mb
    processes: _Positive = USUAL.processes
    seconds: _Positive = USUAL.seconds
    disk_mb: _Positive = USUAL.disk_mb


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
    name: str
    display_name: str = ""
    description: str = ""
    readme: str = ""
    directory: Path | None = None  # copied or cloned
    git: str = ""  # cloned in its place
    branch: str = ""  # "": the one that the repository names
    setup: str = ""
    setup_seconds: int = SETUP_SECONDS
    limits: Limits = USUAL

    @property
    def shown_git(self) -> str:
        return without_credentials(self.git)

    @property
    def is_repository(self) -> bool:
        return self.directory is not None and _is_repository(self.directory)


@dataclass(frozen=True, slots=True)
class Faulty:
    """There is such a template, but its file cannot be read."""

    name: str
    why: str


EMPTY = Template(EMPTY_NAME, description="An empty directory")


class Templates:
    """Read each time: what the operator changes counts at once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._disk = Disk(str(directory), "the templates")

    async def all(self) -> Sequence[Template | Faulty]:
        """By name. DiskSilent: the disk does not answer."""
        return await self._disk.read(self._all, READING)

    async def named(self, name: str) -> Template | Faulty | None:
        return next((each for each in await self.all() if each.name == name), None)

    def _all(self) -> Sequence[Template | Faulty]:
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

    def _read(self, name: str) -> Template | Faulty:
        directory = self._directory / name
        try:
            said = _said(self._directory / f"{name}.toml")
        except (OSError, ValueError) as error:
            return Faulty(name, _fault(error))
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
            Limits(
                said.limits.memory_mb,
                said.limits.file_mb,
                said.limits.processes,
                said.limits.seconds,
                said.limits.disk_mb,
            ),
        )


def _said(path: Path) -> _File:
    """What the file says; as good as an empty one if there is none. ValueError: what is wrong."""
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
    """Its addresses as everybody may see them."""
    return _CREDENTIALS.sub(r"\1", text)


def _is_repository(directory: Path) -> bool:
    """With a work tree, or bare."""
    bare = (directory / "HEAD").is_file() and (directory / "objects").is_dir()
    return bare or (directory / ".git").exists()
