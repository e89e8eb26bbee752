"""Who may become a WebSocket (RFC 6455, 4.2): what is refused, and what is agreed. Pure."""

import base64
import binascii

from wsproto.utilities import generate_accept_token

from adapters.http.host.requests import Request
from adapters.http.origins import OwnAddress
from adapters.http.refusals import HttpError, foreign_origin

VERSION = "13"
KEY_BYTES = 16


def wants_socket(request: Request) -> bool:
    """Whether it asks for one at all."""
    return (
        request.method == "GET"
        and "websocket" in _words(request.headers.get("upgrade", ""))
        and "upgrade" in _words(request.headers.get("connection", ""))
    )


def heed_upgrade(request: Request, own: OwnAddress) -> None:
    """Refused if it does not become one."""
    if not wants_socket(request):
        detail = "ask with Connection: Upgrade and Upgrade: websocket"
        raise _other_protocol("This is a WebSocket endpoint.", detail)
    if request.headers.get("sec-websocket-version") != VERSION:
        raise _other_protocol("Unsupported WebSocket version.", f"{VERSION} is spoken here")
    if not _is_key(request.headers.get("sec-websocket-key", "")):
        raise HttpError(400, "Invalid Sec-WebSocket-Key.", detail="must be 16 bytes in base64")
    if foreign := own.foreign_page(request.peer.scheme, request.headers):
        raise foreign_origin(foreign)


def _other_protocol(message: str, detail: str) -> HttpError:
    headers = (
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-version", VERSION),
    )
    return HttpError(426, message, detail=detail, headers=headers)


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
