"""Messages of MCP over streamable HTTP, as they are read and answered. Pure.

There are no sessions: each request is answered by itself, in the response to its own POST. Clients
of the older revisions begin with `initialize`, those of the newer one with `server/discover`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import msgspec

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSION = "2026-07-28"
VERSIONS = (*HANDSHAKE_VERSIONS, STATELESS_VERSION)
VERSION_HEADER = "mcp-protocol-version"
METHOD_CHARACTERS_MAX = 100  # in an error; the rest is left out
KEPT_SECONDS = 3600  # that a client may keep the list of tools, which an upgrade alone changes
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


class ErrorCode(IntEnum):
    """The code of an error, as JSON-RPC and MCP number them."""

    PARSE = -32700
    INVALID_REQUEST = -32600
    NO_METHOD = -32601
    INVALID_PARAMETERS = -32602
    UNSUPPORTED_VERSION = -32022


class ProtocolError(Exception):
    """A message that cannot be served."""

    def __init__(self, code: ErrorCode, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class RpcRequest:
    """A message of a client. `id` is None for a notification, which has no answer."""

    method: str
    parameters: Mapping[str, Any]
    id: str | int | float | None
    is_stateless: bool  # the newer revision, whose answers say that they are complete


def read_message(body: bytes, headers: Mapping[str, str]) -> RpcRequest | None:
    """Return the message of a POST; None for an answer of the client, to which there is nothing to
    say. Anything else raises ProtocolError."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError(ErrorCode.PARSE, f"the body is not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("jsonrpc") != "2.0":
        raise ProtocolError(
            ErrorCode.INVALID_REQUEST, "the body must be one message of JSON-RPC 2.0, not several"
        )
    if "method" not in found and ("result" in found or "error" in found):
        return None
    method, parameters, id = found.get("method"), found.get("params", {}), found.get("id")
    if not isinstance(method, str) or not isinstance(parameters, dict):
        raise ProtocolError(ErrorCode.INVALID_REQUEST, "method must be text, params an object")
    if isinstance(id, bool) or not isinstance(id, str | int | float | None):
        raise ProtocolError(ErrorCode.INVALID_REQUEST, "id must be text or a number")
    return RpcRequest(method, parameters, id, _is_stateless(parameters, headers))


def _is_stateless(parameters: Mapping[str, Any], headers: Mapping[str, str]) -> bool:
    about = parameters.get("_meta")
    named = about.get(_VERSION_KEY) if isinstance(about, dict) else None
    version = named or headers.get(VERSION_HEADER) or HANDSHAKE_VERSIONS[0]
    if version not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": version}
        fact = f"there is no such revision of the protocol here; there are {', '.join(VERSIONS)}"
        raise ProtocolError(ErrorCode.UNSUPPORTED_VERSION, fact, data)
    return bool(version == STATELESS_VERSION)


def greeting(request: RpcRequest, *, version: str, instructions: str) -> Mapping[str, Any]:
    """Return the answer to `initialize`: the revision that the client wants, or our latest one of
    those that begin so."""
    wanted = request.parameters.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "promptcorner", "version": version},
        "instructions": instructions,
    }


def discovery(instructions: str) -> Mapping[str, Any]:
    """Return the answer to `server/discover`."""
    return {
        **kept(),
        "supportedVersions": list(VERSIONS),
        "capabilities": {"tools": {}},
        "instructions": instructions,
    }


def kept() -> Mapping[str, Any]:
    """Return how long an answer holds, and that it is the same for all users."""
    return {"ttlMs": KEPT_SECONDS * 1000, "cacheScope": "public"}


def result_of(request: RpcRequest, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a result as the answer to a request."""
    complete = {"resultType": "complete"} if request.is_stateless else {}
    return {"jsonrpc": "2.0", "id": request.id, "result": {**complete, **result}}


def error_of(id: object, error: ProtocolError) -> Mapping[str, Any]:
    """Return an error as the answer to a request; `id` is None if it could not be read."""
    about: dict[str, Any] = {"code": int(error.code), "message": str(error)}
    if error.data is not None:
        about["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": about}


def no_method(method: str) -> ProtocolError:
    shown = method[:METHOD_CHARACTERS_MAX]
    return ProtocolError(ErrorCode.NO_METHOD, f"{shown}: this server has no such method")


def tool_result(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the result of a call: a document, for programs and as text."""
    text = msgspec.json.encode(document).decode()
    return {"content": [{"type": "text", "text": text}], "structuredContent": document}


def tool_failure(says: str) -> Mapping[str, Any]:
    """Return the result of a call that was refused, in words for a model."""
    return {"content": [{"type": "text", "text": says}], "isError": True}
