"""Many events as what is sent at once: a WebSocket frame, or a stretch of SSE. Pure."""

from collections.abc import Sequence

from adapters.chats.wire.streams import seen
from adapters.http.host.websockets import framed

_ON_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")  # in JSON they can only stand between values


def as_frame(events: Sequence[bytes]) -> bytes:
    """One text frame: a JSON array, a newline behind it."""
    return framed(b"[" + b",".join(events) + b"]\n")


def as_frames(events: Sequence[bytes]) -> bytes:
    """A text frame for each: one JSON value, a newline behind it."""
    return b"".join([framed(event + b"\n") for event in events])


def as_sse(events: Sequence[bytes]) -> bytes:
    """Each with the id under which a client that has seen it goes on, if it moves that place."""
    return b"".join(map(_said, events))


def _said(event: bytes) -> bytes:
    what = seen(event)
    line = b"data: " + event.translate(_ON_ONE_LINE) + b"\n\n"
    if what.message is not None:
        return b"id: %d\n" % what.message.id + line
    if what.message_part is not None:
        part = what.message_part
        place = (part.history_version, part.generation_attempt, part.seq)
        return b"id: %d.%d.%d\n" % place + line
    return line
