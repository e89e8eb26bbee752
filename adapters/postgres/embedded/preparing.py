"""Everything a server needs before it can start: directories, an owner, a cluster made by initdb.

Done under the cluster's lock. What stands there is checked, never repaired: it holds chats.
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from adapters.postgres.embedded import account as accounts
from adapters.postgres.embedded import binaries as programs
from adapters.postgres.embedded import refusals
from adapters.postgres.embedded.account import Account
from adapters.postgres.embedded.binaries import Binaries
from adapters.postgres.embedded.options import ClusterOptions
from adapters.settings.directories import make_directory

INITDB_SECONDS_MAX = 60.0  # takes half a second; a slow disk may need more
SUPERUSER = "promptcorner"
FORBIDDEN_MODE = 0o027  # the server itself refuses such a directory
INITDB = (
    f"--username={SUPERUSER}",
    "--auth=trust",  # the socket's directory lets in only the owner and root
    "--encoding=UTF8",
    "--locale=C",
)
# Letters of every script have capitals, whatever the locales of this machine.
BUILTIN_SINCE = 17
BUILTIN = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
CTYPE = "--lc-ctype=UTF-8" if sys.platform == "darwin" else "--lc-ctype=C.UTF-8"


@dataclass(frozen=True, slots=True)
class PreparedCluster:
    """A cluster that can be started."""

    account: Account
    binaries: Binaries


def make_home(home: Path) -> None:
    """Make the directory itself. As root, others may pass through it, since the server's user has
    to."""
    try:
        make_directory(home)
    except OSError as error:
        raise refuse(error, home) from error


def open_log(path: Path) -> BinaryIO:
    """Open the log to append. Only its owner may read it: what a server complains of may quote a
    chat."""
    return open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600))


def prepare(wanted: ClusterOptions) -> PreparedCluster:
    try:
        return _prepare(wanted)
    except OSError as error:
        raise refuse(error, wanted.home) from error


def refuse(error: OSError, path: Path) -> Exception:
    return refusals.from_system(error, path, who=accounts.name_of(os.geteuid()))


def _prepare(wanted: ClusterOptions) -> PreparedCluster:
    account = accounts.choose(wanted)
    barrier = account.barrier(wanted.home)
    if barrier is not None:
        raise refusals.blocked(wanted.home, by=barrier, who=account.name)
    binaries = programs.find(wanted.home, account)
    if (wanted.data / "PG_VERSION").exists():
        _check(wanted.data, account=account, binaries=binaries)
    else:
        _create(wanted, account=account, binaries=binaries)
    if wanted.socket_dir != wanted.data:
        _make_socket_dir(wanted.socket_dir, account)
    return PreparedCluster(account, binaries)


def _check(data: Path, *, account: Account, binaries: Binaries) -> None:
    found = data.stat()
    if found.st_uid != account.uid:
        raise refusals.wrong_owner(data, owner=accounts.name_of(found.st_uid), who=account.name)
    if found.st_mode & FORBIDDEN_MODE:
        raise refusals.open_to_others(data, mode=stat.S_IMODE(found.st_mode))
    version = (data / "PG_VERSION").read_text().strip()
    if version != binaries.major:
        raise refusals.other_version(data, found=version, ours=binaries.major)


def _create(wanted: ClusterOptions, *, account: Account, binaries: Binaries) -> None:
    """Make a cluster aside and rename it: what is called `postgres` is complete, whenever we are
    killed."""
    for left in wanted.home.glob("postgres.init.*"):
        shutil.rmtree(left, ignore_errors=True)
    aside = Path(tempfile.mkdtemp(prefix="postgres.init.", dir=wanted.home))
    try:
        account.take(aside)
        _initdb(aside, wanted, account=account, binaries=binaries)
        aside.rename(wanted.data)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _initdb(aside: Path, wanted: ClusterOptions, *, account: Account, binaries: Binaries) -> None:
    letters = BUILTIN if int(binaries.major) >= BUILTIN_SINCE else (CTYPE,)
    volatile = ["--no-sync"] if wanted.settings.get("fsync") == "off" else []
    done = subprocess.run(
        [binaries.initdb, "--pgdata", str(aside), *INITDB, *letters, *volatile],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=INITDB_SECONDS_MAX,
        text=True,
        errors="replace",
        env={"LC_ALL": "C", "PATH": os.defpath},
        cwd="/",
        check=False,
        **account.switch,
    )
    if done.returncode:
        with open_log(wanted.log) as log:
            log.write(done.stdout.encode())
        raise refusals.from_output(done.stdout, data=wanted.data, log=wanted.log)


def _make_socket_dir(path: Path, account: Account) -> None:
    """Make the directory of the socket where any user may have put one of that name before us."""
    try:
        path.mkdir(mode=0o700)
        account.take(path)
    except FileExistsError:
        found = path.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == account.uid
        if not ours or found.st_mode & 0o077:
            raise refusals.foreign_socket_dir(path) from None
