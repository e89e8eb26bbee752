"""A question to a hook's server on the wire, and the token that proves whose it is. Pure.

The token is a JWT with HS256. It names the chat, the address, the question's id and the digest of
its body, and is good for a little longer than the question may take: so it proves one question to
one server, and nothing later.
"""

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec

from actors.tools.hooks.port import HookEvent, HookSubject

SCHEMA_VERSION = 1
LEEWAY_SECONDS = 30  # by which the clocks of the two may differ


@dataclass(frozen=True, slots=True)
class HookQuestion:
    """One question. It keeps its id when it is sent again."""

    id: UUID
    event: HookEvent
    subject: HookSubject
    data: Mapping[str, Any]

    def body(self) -> bytes:
        subject = self.subject
        meta: dict[str, Any] = {
            "dispatch_id": str(self.id),
            "schema_version": SCHEMA_VERSION,
            "chat_id": str(subject.chat),
            "owner_id": str(subject.owner),
        }
        also = {
            "workspace_id": subject.workspace,
            "turn_id": subject.turn or None,
            "parent_chat_id": subject.parent,
            "root_chat_id": subject.root,
        }
        meta |= {name: str(value) for name, value in also.items() if value is not None}
        return _encode({"type": self.event, "meta": meta, "data": self.data})


def token(
    question: HookQuestion,
    body: bytes,
    *,
    url: str,
    secret: str,
    deployment: UUID,
    now: datetime,
    timeout_seconds: float,
) -> str:
    """Return the token of a question."""
    at = int(now.timestamp())
    claims = {
        "iss": str(deployment),
        "sub": f"promptcorner:chat:{question.subject.chat}",
        "aud": url,
        "iat": at,
        "nbf": at - LEEWAY_SECONDS,
        "exp": at + int(timeout_seconds) + LEEWAY_SECONDS,
        "jti": str(question.id),
        "type": question.event,
        "body_sha256": sha256(body).hexdigest(),
    }
    signed = f"{_part({'alg': 'HS256', 'typ': 'JWT'})}.{_part(claims)}"
    signature = hmac.new(secret.encode(), signed.encode(), sha256).digest()
    return f"{signed}.{_base64(signature)}"


def _part(value: Mapping[str, Any]) -> str:
    return _base64(_encode(value))


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _encode(value: Mapping[str, Any]) -> bytes:
    """Return JSON. Halves of characters, which UTF-8 cannot write, become U+FFFD."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return msgspec.json.encode(_with_whole_characters(value))


def _with_whole_characters(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {
            _with_whole_characters(name): _with_whole_characters(each)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_with_whole_characters(each) for each in value]
    return value
