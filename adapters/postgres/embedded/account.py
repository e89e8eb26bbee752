"""The account that the server runs as. PostgreSQL refuses to run as root, so root names another."""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from adapters.postgres.embedded import refusals
from adapters.postgres.embedded.options import ClusterOptions

CANDIDATES = ("promptcorner", "postgres", "nobody")  # the first that exists
CHECK_SECONDS = 10.0  # for a command that takes a millisecond


class UserSwitch(TypedDict, total=False):
    """Arguments of subprocess that change the user."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """A user of the system; `switched` if it is not our own."""

    name: str
    uid: int
    gid: int
    switched: bool

    @property
    def switch(self) -> UserSwitch:
        if not self.switched:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def take(self, path: Path) -> None:
        """Make the account the owner of what we have just made for it."""
        if self.switched:
            os.chown(path, self.uid, self.gid)

    def enters(self, directory: Path) -> bool:
        """Return whether the account can enter a directory, as the kernel sees it."""
        command = ["/bin/sh", "-c", 'cd -- "$0"', str(directory)]
        return not _status(command, self.switch)

    def barrier(self, directory: Path) -> Path | None:
        """Return the topmost directory on the way that the account cannot enter."""
        if not self.switched or self.enters(directory):
            return None
        way = [*reversed(directory.parents), directory]
        return next((step for step in way if not self.enters(step)), directory)


def choose(wanted: ClusterOptions) -> Account:
    """Return the account to run as: ours, or for root the one named, the owner, or a candidate."""
    if os.geteuid() != 0:
        me = Account(name_of(os.geteuid()), os.geteuid(), os.getegid(), switched=False)
        if wanted.user not in (None, me.name):
            raise refusals.not_root(who=me.name, wanted=str(wanted.user))
        return me
    names = [wanted.user] if wanted.user else [*_owner(wanted.data), *CANDIDATES]
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid == 0:
            raise refusals.root_account(name)
        return Account(name, entry.pw_uid, entry.pw_gid, switched=True)
    raise refusals.unknown_account(" or ".join(names))


def name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _owner(data: Path) -> list[str]:
    """Return the owner of an earlier cluster: it stays theirs when a better candidate appears."""
    try:
        uid = data.stat().st_uid
    except OSError:
        return []
    return [name_of(uid)] if uid != 0 else []


def _status(command: list[str], switch: UserSwitch) -> int:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=CHECK_SECONDS,
        cwd="/",
        check=False,
        **switch,
    )
    return done.returncode
