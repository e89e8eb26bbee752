"""A browser that is pushed to: its keys, and how it reads a message. None of our code is in it."""

import os
import struct
from base64 import urlsafe_b64encode
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass(frozen=True)
class Browser:
    private: ec.EllipticCurvePrivateKey
    public: bytes
    secret: bytes

    @property
    def p256dh(self):
        return urlsafe_b64encode(self.public).rstrip(b"=").decode()

    @property
    def auth(self):
        return urlsafe_b64encode(self.secret).rstrip(b"=").decode()


def a_browser():
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return Browser(key, public, os.urandom(16))


def read(browser, message):
    """The text of a message for this browser."""
    salt, (record, length) = message[:16], struct.unpack("!IB", message[16:21])
    sender, sealed = message[21 : 21 + length], message[21 + length :]
    assert 21 + length + len(sealed) <= record
    shared = browser.private.exchange(
        ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender)
    )
    known = _hkdf(shared, browser.secret, b"WebPush: info\0" + browser.public + sender, 32)
    key = _hkdf(known, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _hkdf(known, salt, b"Content-Encoding: nonce\0", 12)
    text = AESGCM(key).decrypt(nonce, sealed, None)
    assert text.endswith(b"\2")
    return text[:-1]


def _hkdf(secret, salt, info, size):
    return HKDF(SHA256(), size, salt=salt, info=info).derive(secret)
