"""Files on PostgreSQL: found, added, opened.

Whether a caller may see a file is decided in the statement that reads it: it is their own, or in a
chat that they may read. Contents never change, so those that models are shown are kept here for a
while: a turn shows the same files with each of its steps.
"""

from base64 import b64encode
from collections.abc import Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

from actors.law.chat import FILES_PER_CHAT_MAX, Chat
from actors.law.ids import FileId, UserId
from actors.prompts.converting import StoredFile, StoredFiles
from actors.prompts.ports import Document
from adapters.chats.overview_rows import FileInfo
from adapters.postgres.driver.pool import Pool
from adapters.postgres.driver.values import Row
from adapters.postgres.queries import SQL
from adapters.settings.caching import RecentlyUsed
from runtime.statistics import CounterMetric, GaugeMetric
from runtime.threads import ThreadLimits, read

# Of contents that are kept for models, as bytes and in base64; the one used longest ago goes. A
# larger one is not kept.
KEPT_BYTES_MAX = 64 * 1024 * 1024
FILES_KEPT_MAX = 10_000  # likewise, however small they are
ENCODED_APART_BYTES = 256 * 1024  # of a file; a larger one is encoded in a thread, once
ENCODING = ThreadLimits("files_encoded", 2)


@dataclass(frozen=True, slots=True)
class FileReader:
    """A user who wants to see a file."""

    id: UserId
    is_admin: bool = False


class FileWithDigest(FileInfo, frozen=True):
    """A file, and the digest of its content."""

    sha256: bytes


Content = bytes  # which `bytes` does not mean beside a field of that name, from Python 3.14 on


class FileWithContent(FileInfo, frozen=True):
    """A file, and what is in it."""

    bytes: Content


class FileStore:
    """The store of files that users bring."""

    def __init__(self, pool: Pool, *, sharing: bool = True) -> None:
        self._pool = pool
        self._sharing = sharing  # False: what was shared once is seen by its owner and admins only

    async def find(self, reader: FileReader, wanted: Set[FileId]) -> Mapping[FileId, FileInfo]:
        """Return those of the wanted files that are there and that the reader may see."""
        found = await self._execute(SQL["find_files"], reader, wanted=sorted(wanted))
        return {file.id: file for file in map(FileInfo.of, found)}

    async def add(self, file: FileId, facts: "NewFile", content: bytes) -> None:
        """Add a file."""
        adding = {
            "id": file,
            "owner": facts.owner,
            "name": facts.name,
            "media_type": facts.media_type,
            "bytes": content,
            "sha256": facts.sha256,
        }
        async with self._pool.connection() as connection:
            await connection.commit([(SQL["add_file"], adding)])

    async def with_digest(self, reader: FileReader, file: FileId) -> FileWithDigest | None:
        """Return a file with the digest of its content, if the reader may see it."""
        found = await self._execute(SQL["file_summed"], reader, id=file)
        return FileWithDigest.of(found[0]) if found else None

    async def with_content(self, reader: FileReader, file: FileId) -> FileWithContent | None:
        """Return a file with its content, if the reader may see it."""
        found = await self._execute(SQL["file_opened"], reader, id=file)
        return FileWithContent.of(found[0]) if found else None

    async def linked_content(self, user: UserId, file: FileId) -> FileWithContent | None:
        """Open a file for the user of a link, if they may still log in and see it."""
        found = await self._execute(SQL["file_linked"], FileReader(user), id=file)
        return FileWithContent.of(found[0]) if found else None

    async def _execute(self, sql: str, reader: FileReader, **asked: object) -> list[Row]:
        seen = {"caller": reader.id, "is_admin": reader.is_admin, "sharing": self._sharing}
        async with self._pool.connection() as connection:
            return await connection.execute(sql, {**asked, **seen})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """The facts of a file that is about to be added."""

    owner: UserId
    name: str
    media_type: str
    sha256: bytes


@dataclass(frozen=True, slots=True)
class PromptFilesStatistics:
    """The figures of files that are kept in memory for models."""

    kept: Annotated[int, GaugeMetric("Files of prompts that are kept in memory.")]
    kept_bytes: Annotated[int, GaugeMetric("Bytes of files of prompts that are kept in memory.")]
    kept_bytes_max: Annotated[
        int, GaugeMetric("Bytes of files of prompts that may be kept in memory.", name="max_bytes")
    ]
    hits: Annotated[int, CounterMetric("Files of prompts that were found in memory.")]
    reads: Annotated[int, CounterMetric("Files of prompts that were read from the database.")]


class PromptFiles:
    """The contents of files for models, kept for a while. Fulfils the port of prompts."""

    def __init__(self, pool: Pool, *, kept_bytes_max: int = KEPT_BYTES_MAX) -> None:
        self._pool = pool
        self._kept: RecentlyUsed[FileId, StoredFile] = RecentlyUsed(
            FILES_KEPT_MAX, max_weight=kept_bytes_max, weight_of=_size
        )
        self._hits = self._reads = 0
        self._kept_bytes_max = kept_bytes_max

    async def read(self, wanted: Set[FileId]) -> StoredFiles:
        """Return those of the wanted files that are there."""
        known = {id: file for id in wanted if (file := self._kept.get(id)) is not None}
        self._hits += len(known)
        missing = sorted(wanted - known.keys())
        if not missing:
            return known
        self._reads += len(missing)
        async with self._pool.connection() as connection:
            found = await connection.execute(SQL["contents_of_files"], {"wanted": missing})
        files = {id: StoredFile(media_type, name, data) for id, media_type, name, data in found}
        if any(len(file.data) > ENCODED_APART_BYTES for file in files.values()):
            files = await read(ENCODING, partial(_encoded, files))
        for id, file in files.items():
            if _size(file) <= self._kept_bytes_max:
                self._kept.put(id, file)
        return known | files

    def statistics(self) -> PromptFilesStatistics:
        return PromptFilesStatistics(
            kept=len(self._kept),
            kept_bytes=self._kept.weight,
            kept_bytes_max=self._kept_bytes_max,
            hits=self._hits,
            reads=self._reads,
        )


def _encoded(files: Mapping[FileId, StoredFile]) -> dict[FileId, StoredFile]:
    """Encode those that are large, in a thread: ten megabytes take some twenty milliseconds."""
    return {
        id: replace(file, encoded=b64encode(file.data).decode())
        if len(file.data) > ENCODED_APART_BYTES
        else file
        for id, file in files.items()
    }


def _size(file: StoredFile) -> int:
    return len(file.data) + len(file.encoded)


class ChatFileKeeper:
    """The files that chats make. Fulfils `actors.prompts.ports.ChatFiles`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def keep(self, chat: Chat, document: Document) -> bool:
        """Keep a document that a chat has made as one of its files. Return False if it has no room
        for more, or is gone."""
        keeping = {
            "chat": chat.id,
            "owner": chat.owner_id,
            "id": document.id,
            "name": document.name,
            "media_type": document.media_type,
            "bytes": document.content,
            "most": FILES_PER_CHAT_MAX,
        }
        async with self._pool.connection() as connection:
            _, kept = await connection.commit(
                [(SQL["lock_files_of_chat"], {"chat": chat.id}), (SQL["keep_file"], keeping)]
            )
        return kept == [(True,)]
