"""Links to files that open without a session: for whom, which, until when; signed. Pure.

A token says nothing that its holder could change: whatever does not verify is no token.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from datetime import UTC, datetime
from uuid import UUID

from actors.law.ids import FileId, UserId

LINK_SECONDS = 300  # that a link is good for; then it is as if it had never been

_ID_BYTES, _TIME_BYTES, _SEAL_BYTES = 16, 8, 32
_TOKEN_CHARACTERS = 76  # of all tokens; anything else is not even decoded


class Links:
    def __init__(self, key: bytes) -> None:
        self._key = key

    def token(self, file: FileId, user: UserId, *, until: datetime) -> str:
        """`until`: to the second; a fraction is cut off."""
        said = user.bytes + int(until.timestamp()).to_bytes(_TIME_BYTES, "big")
        return urlsafe_b64encode(said + self._seal(file, said)).decode()

    def user_of(self, token: str, file: FileId, *, now: datetime) -> UserId | None:
        """Whom it was made for, if it is for this file and still good."""
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
