"""Files as clients see them. Pure."""

from datetime import datetime
from uuid import UUID

import msgspec


class UploadChatFileResponse(msgspec.Struct, frozen=True):
    id: UUID


class ChatFileDownloadURL(msgspec.Struct, frozen=True):
    url: str
    expires_at: datetime
    sha256: str
    size_bytes: int
    name: str
    mime_type: str
