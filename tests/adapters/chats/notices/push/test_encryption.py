"""Encryption for browsers and the token of the sender, by the examples of the RFCs."""

import json
from base64 import urlsafe_b64decode

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from adapters.chats.notices.push.encryption import (
    CURVE,
    TEXT_BYTES_MAX,
    base64url,
    decoded_keys,
    encrypted,
    public_bytes,
    sender_token,
)
from tests.adapters.chats.notices.push.browsers import a_browser, read

# RFC 8291, appendix A.
TEXT = b"When I grow up, I want to be a watermelon"
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
BROWSER_PUBLIC = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
)
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6Tlz"
    "AC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def decoded(text):
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_the_example_of_the_rfc_comes_out_to_the_byte():
    sender = ec.derive_private_key(int.from_bytes(decoded(SENDER), "big"), CURVE)

    message = encrypted(
        TEXT, decoded_keys(BROWSER_PUBLIC, AUTH), ephemeral=sender, salt=decoded(SALT)
    )

    assert MESSAGE == base64url(message)


def test_only_the_browser_reads_the_longest_message():
    browser, other, text = a_browser(), a_browser(), b"x" * TEXT_BYTES_MAX

    message = encrypted(
        text,
        decoded_keys(browser.p256dh, browser.auth),
        ephemeral=ec.generate_private_key(CURVE),
        salt=b"0123456789abcdef",
    )

    assert 4096 == len(message)
    assert text == read(browser, message)
    with pytest.raises(InvalidTag):
        read(other, message)


def test_a_token_names_its_sender_the_service_and_its_end():
    key = ec.generate_private_key(CURVE)

    token = sender_token(
        key, audience="https://push.test", expires_at=1_900_000_000, contact="https://us.test"
    )

    scheme, jwt, public = token.replace(",", "").split(" ")
    head, claims, signature = jwt.removeprefix("t=").split(".")
    assert "vapid" == scheme
    assert {"typ": "JWT", "alg": "ES256"} == json.loads(decoded(head))
    assert {"aud": "https://push.test", "exp": 1_900_000_000, "sub": "https://us.test"} == (
        json.loads(decoded(claims))
    )
    assert public_bytes(key) == decoded(public.removeprefix("k="))
    raw = decoded(signature)
    r, s = (int.from_bytes(half, "big") for half in (raw[:32], raw[32:]))
    key.public_key().verify(
        encode_dss_signature(r, s), f"{head}.{claims}".encode(), ec.ECDSA(SHA256())
    )
    bare = sender_token(key, audience="https://push.test", expires_at=1, contact="")
    assert b"sub" not in decoded(bare.split(".")[1])


@pytest.mark.parametrize(
    ("p256dh", "auth", "fact"),
    [
        ("BCVxsr7N", AUTH, "p256dh_key: has 6 bytes, must have 65"),
        ("B" * 87, AUTH, "p256dh_key: is no point of the curve P-256"),
        ("é", AUTH, "p256dh_key: is not Base64"),
        (BROWSER_PUBLIC, "abcd", "auth_key: has 3 bytes, must have 16"),
    ],
)
def test_keys_that_make_no_sense_are_refused_by_name(p256dh, auth, fact):
    with pytest.raises(ValueError, match=fact):
        decoded_keys(p256dh, auth)


def test_keys_may_come_with_padding_and_the_letters_of_plain_base64():
    padded = BROWSER_PUBLIC.replace("-", "+").replace("_", "/") + "="

    assert decoded_keys(BROWSER_PUBLIC, AUTH) == decoded_keys(padded, AUTH + "==")
