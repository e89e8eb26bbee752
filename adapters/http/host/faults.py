"""What a client is told of bytes that are no HTTP and no frames: sentences of ours. Pure.

The libraries that read them say more, in the notation of Python and as long as what was sent.
"""

import re

import h11
from wsproto.frame_protocol import CloseReason

WORDS_CHARACTERS_MAX = 100

# From there on h11 shows what it has read, or adds what it had expected.
_SHOWN = re.compile(r"""[:\s(]*(?:\bbytearray\(|\bb?['"]|<|\().*""", re.DOTALL)

_GOODBYES: dict[int, str] = {
    CloseReason.PROTOCOL_ERROR: "these bytes are no frames of a WebSocket",
    CloseReason.INVALID_FRAME_PAYLOAD_DATA: "the text is not UTF-8",
    CloseReason.MESSAGE_TOO_BIG: "the message is too long",
}


def words_of(error: h11.RemoteProtocolError) -> str:
    """Say what is wrong with a request, without showing it."""
    words = _SHOWN.sub("", str(error)).strip()[:WORDS_CHARACTERS_MAX]
    return words[:1].lower() + words[1:] if words else "this is not HTTP/1.1"


def goodbye_of(code: int, reason: str) -> str:
    """Say why a connection ends: in our words if the bytes were no frames, else in theirs."""
    return _GOODBYES.get(code, reason)
