"""Messages of AWS's event stream, as the service writes them."""

import json
import struct
import zlib


def frame(payload, **headers):
    """One message; `headers` are those that begin with a colon."""
    pairs = {f":{name.replace('_', '-')}": value for name, value in headers.items()}
    packed = b"".join(
        bytes([len(name)]) + name.encode() + b"\7" + len(value).to_bytes(2) + value.encode()
        for name, value in pairs.items()
    )
    prelude = struct.pack(">II", 16 + len(packed) + len(payload), len(packed))
    prelude += struct.pack(">I", zlib.crc32(prelude))
    message = prelude + packed + payload
    return message + struct.pack(">I", zlib.crc32(message))


def converse_event(kind, **payload):
    """One event of Converse, padded as AWS pads them."""
    body = json.dumps(payload | {"p": "abcdefgh"}).encode()
    return frame(body, event_type=kind, content_type="application/json", message_type="event")
