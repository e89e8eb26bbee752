"""Signatures by the Standard Webhooks convention (standardwebhooks.com). Pure.

What is signed is the id of the message, the time of the attempt and the body, with points between.
While a secret is being changed a message has two signatures, by the new one and the former one.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from secrets import token_bytes

PREFIX = "whsec_"
SECRET_BYTES = 32  # of a new secret; the convention wants 24 to 64


def new_secret() -> str:
    return PREFIX + b64encode(token_bytes(SECRET_BYTES)).decode()


def headers_of(
    message_id: str, *, seconds: int, body: bytes, secrets: Sequence[str]
) -> Mapping[str, str]:
    """Return the headers of a message: its id, the time of the attempt, its signatures."""
    signatures = [signature(secret, message_id, seconds=seconds, body=body) for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(signatures),
    }


def signature(secret: str, message_id: str, *, seconds: int, body: bytes) -> str:
    key = b64decode(secret.removeprefix(PREFIX))
    signed = b".".join((message_id.encode(), str(seconds).encode(), body))
    return "v1," + b64encode(hmac.new(key, signed, sha256).digest()).decode()
