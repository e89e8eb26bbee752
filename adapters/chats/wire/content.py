"""What a client says: the parts of a message in a request. Pure.

Every field may be null, which is as good as absent. Some clients send a nil UUID for a file that
they do not mean, with parts of any type.
"""

from uuid import UUID

import msgspec


class ChatInputPart(msgspec.Struct, frozen=True):
    type: str | None = None
    text: str | None = None
    file_id: UUID | None = None
    file_name: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    content: str | None = None
