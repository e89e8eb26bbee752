"""Who may become a WebSocket (RFC 6455, 4.2): what is refused, and what is agreed. Pure."""

import base64
import binascii
from urllib.parse import urlsplit

from wsproto.utilities import generate_accept_token

from adapters.api.host.requests import Request
from adapters.api.refused import Refused

VERSION = "13"
KEY_BYTES = 16
DEFAULT_PORTS = {"http": 80, "https": 443}


def wants_socket(request: Request) -> bool:
    """Whether it asks for one at all."""
    return (
        request.method == "GET"
        and "websocket" in _words(request.headers.get("upgrade", ""))
        and "upgrade" in _words(request.headers.get("connection", ""))
    )


def heed_upgrade(request: Request) -> None:
    """Refused if it does not become one."""
    if not wants_socket(request):
        detail = "ask with Connection: Upgrade and Upgrade: websocket"
        raise _other_protocol("This is a WebSocket endpoint.", detail)
    if request.headers.get("sec-websocket-version") != VERSION:
        raise _other_protocol("Unsupported WebSocket version.", f"{VERSION} is spoken here")
    if not _is_key(request.headers.get("sec-websocket-key", "")):
        raise Refused(400, "Invalid Sec-WebSocket-Key.", detail="must be 16 bytes in base64")
    if not _from_here(request):
        detail = "the page comes from another host than the one it asks"
        raise Refused(403, "Origin not allowed.", detail=detail)


def _other_protocol(message: str, detail: str) -> Refused:
    headers = (
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-version", VERSION),
    )
    return Refused(426, message, detail=detail, headers=headers)


def agreed(request: Request) -> list[tuple[str, str]]:
    """The headers of the 101. No extension and no subprotocol is ever agreed to."""
    token = generate_accept_token(request.headers["sec-websocket-key"].encode("ascii"))
    return [
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-accept", token.decode("ascii")),
    ]


def _words(header: str) -> set[str]:
    return {word.strip().lower() for word in header.split(",")}


def _is_key(key: str) -> bool:
    try:
        return len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except (binascii.Error, ValueError):
        return False


def _from_here(request: Request) -> bool:
    """A browser says where its page is from; who is no browser says nothing."""
    origin = request.headers.get("origin")
    if origin is None:
        return True
    try:
        page = urlsplit(origin)
        asked = urlsplit(f"//{request.headers.get('host', '')}")
        default = DEFAULT_PORTS.get(page.scheme)
        return (page.hostname, page.port or default) == (asked.hostname, asked.port or default)
    except ValueError:  # a port that is none
        return False
