"""A database on a disk of its own that can be filled: a tmpfs, for which we have to be root.

with a_small_disk(server) as disk:
    disk.conninfo       a database there, with our schema and nobody in it
    disk.fill()         from now on nothing more fits
    disk.make_room()    and now it does again
"""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.adapters.postgres.stores import PRISTINE, a_copy

SIZE = "48m"  # a database with our schema takes about a quarter of it
BLOCK = b"\0" * 65_536
NUMBERS = count(1)


class SmallDisk:
    def __init__(self, top: Path, conninfo: str) -> None:
        self.conninfo = conninfo
        self._filler = top / "filler"

    def fill(self) -> None:
        with self._filler.open("ab", buffering=0) as file, suppress(OSError):
            while True:
                file.write(BLOCK)

    def make_room(self) -> None:
        self._filler.unlink()


@contextmanager
def a_small_disk(server: str) -> Iterator[SmallDisk]:
    number = next(NUMBERS)
    with tempfile.TemporaryDirectory(prefix="small-disk-") as folder:
        top = Path(folder)
        mounting = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0711", "tmpfs", folder]
        if os.geteuid() != 0 or subprocess.run(mounting, check=False).returncode:
            pytest.skip("only root can make a small disk")
        try:
            yield from _on(top, server, f"small_{number}")
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def _on(top: Path, server: str, name: str) -> Iterator[SmallDisk]:
    a_copy(server, f"{name}_first")  # makes the pristine one, if it is not there
    with psycopg.connect(server, autocommit=True) as connection:
        [data] = connection.execute("SHOW data_directory").fetchone() or ("",)
        space, owner = top / "space", Path(data).stat()
        space.mkdir()
        os.chown(space, owner.st_uid, owner.st_gid)
        connection.execute(f"DROP DATABASE {name}_first")
        connection.execute(f"CREATE TABLESPACE {name} LOCATION '{space}'")
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {PRISTINE} TABLESPACE {name}")
        disk = SmallDisk(top, make_conninfo(server, dbname=name))
        try:
            yield disk
        finally:
            with suppress(FileNotFoundError):
                disk.make_room()
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP TABLESPACE {name}")
