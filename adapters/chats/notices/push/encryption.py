"""Messages that only one browser can read (RFC 8291 on RFC 8188), and the words by which its push
service knows the sender (VAPID, RFC 8292). Pure.

The primitives are those of the `cryptography` library. What is here is how the RFCs put them
together, and is tested with their own examples.
"""

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NoBase64
from dataclasses import dataclass, field

import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

POINT_BYTES = 65  # a point of P-256, not compressed
AUTH_BYTES = 16
SALT_BYTES = 16
RECORD_BYTES = 4_096  # of which a push service takes one
# What is left of it for the text, behind head, padding and tag.
TEXT_BYTES_MAX = RECORD_BYTES - 16 - 1 - (SALT_BYTES + 4 + 1 + POINT_BYTES)
TOKEN_SECONDS = 12 * 3_600  # for which a push service may know us by one token; a day at most

CURVE = ec.SECP256R1()
_LAST_RECORD = b"\x02"


@dataclass(frozen=True, slots=True)
class BrowserKeys:
    """The keys of one browser: its public key, and the secret that it shares with senders."""

    p256dh: bytes
    auth: bytes = field(repr=False)


def decoded_keys(p256dh: str, auth: str) -> BrowserKeys:
    """Read the keys as browsers give them. ValueError says which makes no sense, and why."""
    return BrowserKeys(_point(p256dh), _decoded("auth_key", auth, size=AUTH_BYTES))


def _point(text: str) -> bytes:
    point = _decoded("p256dh_key", text, size=POINT_BYTES)
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
    except ValueError:
        raise ValueError("p256dh_key: is no point of the curve P-256") from None
    return point


def _decoded(name: str, text: str, *, size: int) -> bytes:
    plain = text.replace("+", "-").replace("/", "_").rstrip("=")
    try:
        found = urlsafe_b64decode(plain + "=" * (-len(plain) % 4))
    except (NoBase64, ValueError):
        raise ValueError(f"{name}: is not Base64") from None
    if len(found) != size:
        raise ValueError(f"{name}: has {len(found)} bytes, must have {size}")
    return found


def encrypted(
    text: bytes, keys: BrowserKeys, *, ephemeral: ec.EllipticCurvePrivateKey, salt: bytes
) -> bytes:
    """Return the body of a message. `ephemeral` and `salt` are for this message alone."""
    assert len(text) <= TEXT_BYTES_MAX, "a message is one record"
    ours = public_bytes(ephemeral)
    theirs = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, keys.p256dh)
    shared = ephemeral.exchange(ec.ECDH(), theirs)
    known = _derived(shared, keys.auth, b"WebPush: info\0" + keys.p256dh + ours, 32)
    key = _derived(known, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _derived(known, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + struct.pack("!IB", RECORD_BYTES, len(ours)) + ours
    return head + AESGCM(key).encrypt(nonce, text + _LAST_RECORD, None)


def public_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return the public key of a pair, as browsers take it."""
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def sender_token(
    key: ec.EllipticCurvePrivateKey, *, audience: str, expires_at: int, contact: str
) -> str:
    """Return the value of the header `Authorization`. `audience` is the origin of the push service,
    `contact` an address by which it reaches us, or "" for none."""
    claims: dict[str, object] = {"aud": audience, "exp": expires_at}
    if contact:
        claims["sub"] = contact
    parts = ({"typ": "JWT", "alg": "ES256"}, claims)
    signed = ".".join(base64url(msgspec.json.encode(part)) for part in parts)
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(SHA256())))
    signature = base64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    return f"vapid t={signed}.{signature}, k={base64url(public_bytes(key))}"


def _derived(secret: bytes, salt: bytes, info: bytes, size: int) -> bytes:
    return HKDF(SHA256(), size, salt=salt, info=info).derive(secret)
