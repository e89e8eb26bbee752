"""Trust in a file that says where a daemon listens.

A command sends a token to the address in it. So the file and its folder belong to a user who may
speak for the data directory, no other user can write to them, neither is a link, and the listener
at the port is such a user, too: a daemon that was killed leaves a file, and another user may lock
it and take the port. The system says which user a socket belongs to; where it does not (no /proc),
the listener is believed. Only the standard library is imported: completion in shells asks, too.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

PORTS = {"http": 80, "https": 443}
SOCKET_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENING = "0A"  # https://docs.kernel.org/networking/proc_net_tcp.html
ADDRESS, STATE, UID = 1, 3, 7  # columns


def why_not_trusted(descriptor: int, path: Path) -> str:
    """Return why the open file of a daemon is not believed, or ""; it is `DATA_DIR/FOLDER/NAME`."""
    folder = path.parent
    trusted = {0, os.geteuid(), os.stat(folder.parent).st_uid}
    held = ((folder, os.lstat(folder)), (path, os.lstat(path)), (path, os.fstat(descriptor)))
    for place, found in held:
        if stat.S_ISLNK(found.st_mode):
            return f"{place} is a link"
        if found.st_uid not in trusted:
            return f"{place} belongs to another user (uid {found.st_uid})"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"other users may write to {place}"
    return ""


def why_stranger(url: str, data_dir: Path) -> str:
    """Return why the listener at the port of an address is not believed, or ""."""
    address = urlsplit(url)
    port = address.port or PORTS.get(address.scheme, 0)
    strangers = sorted(listening_uids(port) - {0, os.geteuid(), os.stat(data_dir).st_uid})
    return f"another user (uid {strangers[0]}) listens at port {port}" if strangers else ""


def listening_uids(port: int) -> set[int]:
    """Return the users who listen at this port, at any address of this machine."""
    return {uid for table in SOCKET_TABLES for at, uid in _listeners(table) if at == port}


def _listeners(table: Path) -> Iterator[tuple[int, int]]:
    """Yield the port and the user of each listening socket."""
    try:
        _, *rows = table.read_text().splitlines()
    except (OSError, ValueError):
        return
    for row in rows:
        cells = row.split()
        if cells[STATE] == LISTENING:
            yield int(cells[ADDRESS].rpartition(":")[2], 16), int(cells[UID])
