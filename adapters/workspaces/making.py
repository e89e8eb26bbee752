"""The directory of a workspace, made of a template: copied or cloned, beside its place first.

Clones are made by the daemon itself, for it is the operator who has named what is cloned and may
have given it the keys, which stay with it; nothing of what is cloned is run.
"""

import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import trio

from adapters.workspaces.disks.disk import MAKING, Disk, DiskSilent
from adapters.workspaces.disks.programs import Programs
from adapters.workspaces.templates import Template, without_credentials
from runtime.threads.work import check_wanted

COPIED_BYTES_MAX = 4 * 1024 * 1024 * 1024  # of a template; then it is refused
CLONE_SECONDS = 600.0  # for a clone; then it is given up
# That is waited for what is half made to be removed; its thread does it to the end in any case.
CLEANUP_SECONDS = 5.0
SAID_CHARACTERS_MAX = 500  # of what git says of why it does not clone
_OWN = 0o700  # of what other users of the machine need not see

HOME, PASSING = "home", "tmp"  # in a workspace's directory: what it is about, and its /tmp
# Likewise, until it is registered: who finds it much later may remove it, as nobody knows of it.
UNREGISTERED = "unregistered"


class NotMade(Exception):
    """Why, in words for the model."""


@dataclass
class TooMany(NotMade):
    """Its user has as many as he may have."""

    count: int
    most: int

    def __str__(self) -> str:
        return (
            f"this user has {self.count} workspaces (at most {self.most}); he can remove some over"
            " the API, or let this chat work in one of them"
        )


async def make(template: Template, place: Path, environ: Mapping[str, str]) -> None:
    """`place` is there as a whole afterwards, or not at all. It has to be `registered` then."""
    beside, disk = place.with_name(f".{place.name}.new"), disk_of(place)
    try:
        await disk.write(partial(_begin, beside), MAKING)
        await _fill(template, beside / HOME, disk, environ)
        await disk.write(partial(os.rename, beside, place), MAKING)
    except (OSError, shutil.Error) as error:
        raise NotMade(f"template {template.name}: {_fact(error)}") from error
    except DiskSilent as silent:
        raise NotMade(str(silent)) from silent
    finally:
        with trio.move_on_after(CLEANUP_SECONDS, shield=True), suppress(DiskSilent):
            remove = partial(shutil.rmtree, beside, ignore_errors=True)
            await disk.write(remove, MAKING, seconds=0)


async def registered(place: Path) -> None:
    with suppress(OSError, DiskSilent):  # that somebody knows of it counts for more
        await disk_of(place).write((place / UNREGISTERED).unlink, MAKING)


def disk_of(place: Path) -> Disk:
    return Disk(str(place), "the workspace")


def _begin(beside: Path) -> None:
    """What a process that was killed has left there is none of ours."""
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(_OWN, parents=True)
    (beside / PASSING).mkdir()
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
        raise NotMade(f"template {template.name}: not cloned within {CLONE_SECONDS:g} s")
    if done.code:
        said = without_credentials(done.said.decode(errors="replace").strip())
        said = said[:SAID_CHARACTERS_MAX]
        raise NotMade(f"template {template.name}: git does not clone it: {said}")


class _Copying:
    """Of a directory: files, directories and symbolic links; nothing that waits or never ends."""

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
            raise NotMade(f"{self._source.name}: more than {COPIED_BYTES_MAX} bytes to copy")
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
