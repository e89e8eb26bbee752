"""A backup is a tar file: `tar tf` shows what is in it, and pg_restore reads the dump by itself.

    database.dump   in PostgreSQL's own format, first, for its length is known last
    secret.key      only if it was asked for
    manifest.json   what the others are, last: a file without it is not whole

The file is written under another name and renamed at the end, so that a file of its name is whole,
whenever we are killed. A file that ends in .part is what a killed backup has left.
"""

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from adapters.settings.refusals import CannotStart

FORMAT = 1  # a backup with a higher one is refused
DUMP, KEY, MANIFEST = "database.dump", "secret.key", "manifest.json"
SMALL_BYTES_MAX = 1024 * 1024  # of the manifest or the key; a longer one is refused
READ_BYTES = 1024 * 1024


class MigrationStep(msgspec.Struct, frozen=True):
    """A migration that the database had taken."""

    version: int
    name: str
    checksum: str


class BackupManifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a backup, and the program and database that it was made with."""

    format: int
    made_at: datetime
    promptcorner: str
    server: str
    schema: tuple[MigrationStep, ...]
    secret_key: str | None  # its name, from which the key cannot be derived; None: there was none
    dump_bytes: int
    dump_sha256: str


class BackupWriter:
    """A backup that is being written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.dump_bytes = 0
        file.write(bytes(tarfile.BLOCKSIZE))  # for the head of the dump

    def write_dump(self, data: bytes) -> None:
        """Write a piece of the dump."""
        self._file.write(data)
        self._hash.update(data)
        self.dump_bytes += len(data)

    @property
    def dump_sha256(self) -> str:
        return self._hash.hexdigest()

    def finish(self, manifest: BackupManifest, secret_key: str | None) -> None:
        """Write all that follows the dump, then the head before it, and sync the file."""
        self._pad(self.dump_bytes)
        if secret_key is not None:
            self._add(KEY, secret_key.encode() + b"\n")
        self._add(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")
        self._file.write(bytes(2 * tarfile.BLOCKSIZE))
        self._file.seek(0)
        self._file.write(_head(DUMP, self.dump_bytes))
        self._file.flush()
        os.fsync(self._file.fileno())

    def _add(self, name: str, data: bytes) -> None:
        self._file.write(_head(name, len(data)) + data)
        self._pad(len(data))

    def _pad(self, length: int) -> None:
        self._file.write(bytes(-length % tarfile.BLOCKSIZE))


def _head(name: str, length: int) -> bytes:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = length, 0o600
    head = entry.tobuf(tarfile.GNU_FORMAT)
    assert len(head) == tarfile.BLOCKSIZE, "a short name and any length fit into one block"
    return head


@contextmanager
def new_archive(path: Path) -> Iterator[BackupWriter]:
    """Make a file of this name that only its owner can read, if the block ends without an error."""
    if path.exists():
        raise CannotStart("backup", f"{path} is there already", "choose another name")
    try:
        descriptor, part = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".part", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                yield BackupWriter(file)
            os.link(part, path)  # unlike a rename, it replaces no file
            _sync_directory(path.parent)
        finally:
            os.unlink(part)
    except OSError as error:
        raise CannotStart("backup", f"{path}: {_words(error)}") from error


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@dataclass(frozen=True, slots=True)
class Archive:
    """A backup that has been opened and whose dump has been compared with its digest."""

    path: Path
    manifest: BackupManifest
    secret_key: str | None

    def dump(self) -> Iterator[bytes]:
        """Yield the dump in pieces."""
        with tarfile.open(self.path, "r:") as tar:
            yield from _pieces(tar)


def open_archive(path: Path) -> Archive:
    """Open a backup; raise CannotStart if it is none, not whole, or changed since it was made."""
    try:
        with tarfile.open(path, "r:") as tar:
            manifest = _manifest(path, _small(tar, MANIFEST))
            key = _small(tar, KEY).decode().strip() if KEY in tar.getnames() else None
            _compare(path, manifest, _pieces(tar))
    except (tarfile.TarError, KeyError, EOFError, UnicodeDecodeError) as error:
        raise CannotStart("restore", f"{path} is no backup, or not a whole one") from error
    except OSError as error:
        raise CannotStart("restore", f"{path}: {_words(error)}") from error
    return Archive(path, manifest, key)


def _manifest(path: Path, text: bytes) -> BackupManifest:
    try:
        format = msgspec.json.decode(text, type=_Format).format
        if format > FORMAT:
            raise CannotStart(
                "restore",
                f"{path} has format {format}, this program knows {FORMAT}",
                "use a newer version of promptcorner",
            )
        return msgspec.json.decode(text, type=BackupManifest)
    except msgspec.MsgspecError as error:
        raise CannotStart("restore", f"{path}: its manifest is broken ({error})") from None


class _Format(msgspec.Struct, frozen=True):
    format: int


def _compare(path: Path, manifest: BackupManifest, pieces: Iterator[bytes]) -> None:
    found, length = hashlib.sha256(), 0
    for piece in pieces:
        found.update(piece)
        length += len(piece)
    if (length, found.hexdigest()) != (manifest.dump_bytes, manifest.dump_sha256):
        raise CannotStart("restore", f"{path} was damaged: its dump is not the one that was made")


def _pieces(tar: tarfile.TarFile) -> Iterator[bytes]:
    dump = tar.extractfile(DUMP)
    if dump is None:
        raise KeyError(DUMP)
    while piece := dump.read(READ_BYTES):
        yield piece


def _small(tar: tarfile.TarFile, name: str) -> bytes:
    file = tar.extractfile(name)
    data = b"" if file is None else file.read(SMALL_BYTES_MAX + 1)
    if not 0 < len(data) <= SMALL_BYTES_MAX:
        raise KeyError(name)
    return data


def _words(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
