"""The routes of files: uploaded, downloaded, and linked to for programs that have no session.

A link says for whom, which file and until when, and is signed. Its token says nothing that its
holder could change: one that does not verify is no token.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from uuid import UUID, uuid4

import msgspec

from actors.law.ids import FileId, UserId
from adapters.chats.files.store import FileReader, FileStore, FileWithContent, NewFile
from adapters.http.endpoints import Access, Call, Endpoint, HttpResponse, Parameter, json_response
from adapters.http.files import (
    ACCEPTED,
    UNKNOWN,
    MismatchedType,
    UnsupportedType,
    disposition_of,
    media_type_of,
    name_in,
)
from adapters.http.refusals import HttpError, Validation, forbidden, not_found
from runtime.clock import wall
from runtime.threads import ThreadLimits, read

FILES = "/api/v2/chats/files"

FILE_BYTES_MAX = 10 * 1024 * 1024  # of an upload; then 413
# Of one user, for each row but that of contents: a page asks for every picture of a chat. Then 429.
FILES_PER_MINUTE = 12

LOOKS = ThreadLimits("uploads", 4)  # that are looked at, and summed up, at once; others wait

# What a browser opens in place: nothing in them runs there. Tools may have stored other types too.
_SHOWN = ACCEPTED - {"application/pdf"}

_KEPT = "private, max-age=31536000, immutable"
_NOT_KEPT = "no-store"

LINK_SECONDS = 300  # that a link is good for

_ID_BYTES, _TIME_BYTES, _SEAL_BYTES = 16, 8, 32
_TOKEN_CHARACTERS = 76  # of all tokens; anything else is not even decoded


class UploadChatFileResponse(msgspec.Struct, frozen=True):
    id: UUID


class ChatFileDownloadURL(msgspec.Struct, frozen=True):
    url: str
    expires_at: datetime
    sha256: str
    size_bytes: int
    name: str
    mime_type: str


class FileLinks:
    """Links to files, made and checked with a secret key. Pure."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def token(self, file: FileId, user: UserId, *, until: datetime) -> str:
        """Return the token of a link. `until` is exact to the second; a fraction is cut off."""
        content = user.bytes + int(until.timestamp()).to_bytes(_TIME_BYTES, "big")
        return urlsafe_b64encode(content + self._seal(file, content)).decode()

    def user_of(self, token: str, file: FileId, *, now: datetime) -> UserId | None:
        """Return the user for whom a token was made, if it is for this file and still good."""
        if len(token) != _TOKEN_CHARACTERS:
            return None
        try:
            whole = urlsafe_b64decode(token)
        except (Error, ValueError):
            return None
        said, seal = whole[:-_SEAL_BYTES], whole[-_SEAL_BYTES:]
        if not hmac.compare_digest(seal, self._seal(file, said)):
            return None
        until = datetime.fromtimestamp(int.from_bytes(said[_ID_BYTES:], "big"), UTC)
        return UserId(UUID(bytes=said[:_ID_BYTES])) if now < until else None

    def _seal(self, file: FileId, said: bytes) -> bytes:
        return hmac.digest(self._key, b"file" + file.bytes + said, "sha256")


class FileRoutes:
    """Handlers of files."""

    def __init__(
        self,
        files: FileStore,
        *,
        organization: UUID,
        link_key: bytes,
        clock: Callable[[], datetime] = wall,
    ) -> None:
        self._files = files
        self._organization = organization
        self._links = FileLinks(link_key)
        self._clock = clock

    def endpoints(self) -> Sequence[Endpoint]:
        return (
            Endpoint(
                method="POST",
                path=FILES,
                handle=self.upload,
                summary="Bring a file: its bytes are the body, its name is in Content-Disposition.",
                tag="files",
                body_bytes_max=FILE_BYTES_MAX,
                rate_per_minute=FILES_PER_MINUTE,
                parameters=(Parameter(name="organization", type=UUID),),
                answers={201: UploadChatFileResponse},
            ),
            Endpoint(
                method="GET",
                path=f"{FILES}/{{file}}",
                handle=self.download,
                summary="What is in a file.",
                tag="files",
                answers={200: bytes},
            ),
            Endpoint(
                method="POST",
                path=f"{FILES}/{{file}}/download-url",
                handle=self.link,
                summary="A link that opens the file without a session, for five minutes.",
                tag="files",
                rate_per_minute=FILES_PER_MINUTE,
                answers={200: ChatFileDownloadURL},
            ),
            Endpoint(
                method="GET",
                path=f"{FILES}/{{file}}/download",
                handle=self.download_linked,
                summary="What is in a file, for whoever has a link.",
                tag="files",
                access=Access.OPEN,
                rate_per_minute=FILES_PER_MINUTE,
                parameters=(Parameter(name="token"),),
                answers={200: bytes},
            ),
        )

    async def upload(self, call: Call) -> HttpResponse:
        self._check_organization(call)
        name = name_in(call.headers.get("content-disposition", ""))
        if not name:
            raise _unusable("Content-Disposition", 'say: attachment; filename="NAME"')
        declared = call.headers.get("content-type", UNKNOWN)
        # Megabytes are looked at in a thread: other requests go on meanwhile.
        media_type, digest = await read(LOOKS, partial(_examine, declared, name, call.body))
        if not isinstance(media_type, str):
            raise _unusable("Content-Type", str(media_type))
        file = FileId(uuid4())
        facts = NewFile(owner=call.user.id, name=name, media_type=media_type, sha256=digest)
        await self._files.add(file, facts, call.body)
        return json_response(201, UploadChatFileResponse(file))

    async def download(self, call: Call) -> HttpResponse:
        opened = await self._files.with_content(_reader(call), FileId(call.uuid("file")))
        return _file_response(opened, cache=_KEPT)

    async def link(self, call: Call) -> HttpResponse:
        file = FileId(call.uuid("file"))
        url = call.link(f"{FILES}/{file}/download")
        summed = await self._files.with_digest(_reader(call), file)
        if summed is None:
            raise not_found()
        until = self._clock().replace(microsecond=0) + timedelta(seconds=LINK_SECONDS)
        token = self._links.token(file, call.user.id, until=until)
        return json_response(
            200,
            ChatFileDownloadURL(
                url=f"{url}?token={token}",
                expires_at=until,
                sha256=summed.sha256.hex(),
                size_bytes=summed.size_bytes,
                name=summed.name,
                mime_type=summed.media_type,
            ),
        )

    async def download_linked(self, call: Call) -> HttpResponse:
        file = FileId(call.uuid("file"))
        tokens = [value for name, value in call.query if name == "token"]
        user = self._links.user_of(tokens[0], file, now=self._clock()) if tokens else None
        if user is None:
            raise not_found()
        return _file_response(await self._files.linked_content(user, file), cache=_NOT_KEPT)

    def _check_organization(self, call: Call) -> None:
        named = call.one("organization") or ""
        try:
            organization = UUID(named)
        except ValueError:
            raise HttpError(
                400,
                "invalid query parameters",
                validations=(Validation("organization", "must be a UUID"),),
            ) from None
        if organization != self._organization:
            raise forbidden("you are no member of this organization")


def _examine(
    declared: str, name: str, content: bytes
) -> tuple[str | UnsupportedType | MismatchedType, bytes]:
    return media_type_of(declared, name, content), sha256(content).digest()


def _reader(call: Call) -> FileReader:
    return FileReader(call.user.id, call.user.is_admin)


def _file_response(opened: FileWithContent | None, *, cache: str) -> HttpResponse:
    if opened is None:
        raise not_found()
    headers = (
        ("Content-Disposition", disposition_of(opened.name, inline=opened.media_type in _SHOWN)),
        ("Cache-Control", cache),
    )
    return HttpResponse(200, opened.bytes, opened.media_type, headers)


def _unusable(field: str, fact: str) -> HttpError:
    return HttpError(400, "file not usable", detail=fact, validations=(Validation(field, fact),))
