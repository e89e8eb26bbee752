"""What a client can agree on with us under TLS: each version, suite and curve offered alone.

The handshakes are real ones, of OpenSSL with itself, through memory. The profile is written out
here a second time, from Mozilla's page and not from our own table.
"""

import ssl
from pathlib import Path

import pytest

from adapters.http.host import tls
from adapters.http.host.tls import intermediate_context, tls_of

FAKES = Path(__file__).parents[3] / "fakes"
CERTIFICATES = {"ECDSA": FAKES / "localhost.pem", "RSA": FAKES / "localhost_rsa.pem"}
ALL_SUITES = "ALL:COMPLEMENTOFALL:@SECLEVEL=0"

PROFILE_1_2 = {
    "ECDHE-ECDSA-AES128-GCM-SHA256",
    "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-ECDSA-CHACHA20-POLY1305",
    "ECDHE-RSA-AES128-GCM-SHA256",
    "ECDHE-RSA-AES256-GCM-SHA384",
    "ECDHE-RSA-CHACHA20-POLY1305",
}
PROFILE_1_3 = {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"}
PROFILE_CURVES = {"X25519", "prime256v1", "secp384r1"}
CURVES = sorted(PROFILE_CURVES | {"X448", "secp521r1", "secp224r1", "secp256k1"})
VERSIONS = {
    ssl.TLSVersion.TLSv1: False,
    ssl.TLSVersion.TLSv1_1: False,
    ssl.TLSVersion.TLSv1_2: True,
    ssl.TLSVersion.TLSv1_3: True,
}
MODERN = ssl.TLSVersion.TLSv1_3
OLDER = ssl.TLSVersion.TLSv1_2


def a_client(version=None, suites=ALL_SUITES, curve=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers(suites)
    if curve is not None:
        context.set_ecdh_curve(curve)
    if version is not None:
        context.minimum_version = context.maximum_version = version
    return context


def agreed(server, client):
    """What both ends use then: the client's object; None if they find nothing in common."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        server.wrap_bio(to_server, to_client, server_side=True),
        client.wrap_bio(to_client, to_server),
    ]
    for _ in range(10):
        is_done = []
        for end in ends:
            try:
                end.do_handshake()
                is_done.append(True)
            except ssl.SSLWantReadError:
                is_done.append(False)
            except ssl.SSLError:
                return None
        if all(is_done):
            return ends[1]
    raise AssertionError("neither end has finished")


def served(key="ECDSA"):
    return tls_of(CERTIFICATES[key], CERTIFICATES[key])


@pytest.mark.parametrize("version", VERSIONS, ids=lambda version: version.name)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_a_version_alone(version):
    assert VERSIONS[version] == (agreed(served(), a_client(version)) is not None)


@pytest.mark.parametrize("key", CERTIFICATES)
def test_of_all_suites_of_the_older_version_alone_only_those_of_the_profile_are_agreed_on(key):
    offered = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    offered.set_ciphers(ALL_SUITES)
    names = {each["name"] for each in offered.get_ciphers() if each["protocol"] != "TLSv1.3"}
    server = served(key)

    taken = {
        name for name in names if agreed(server, a_client(OLDER, f"{name}:@SECLEVEL=0")) is not None
    }

    assert len(names) > 50, "the library knows many"
    assert {name for name in PROFILE_1_2 if f"-{key}-" in name} == taken


def test_the_suites_of_the_newer_version_are_those_of_the_profile():
    suites = {each["name"] for each in intermediate_context().get_ciphers()}

    assert PROFILE_1_2 | PROFILE_1_3 == suites
    assert agreed(served(), a_client(MODERN)).cipher()[0] in PROFILE_1_3


@pytest.mark.parametrize("version", [OLDER, MODERN], ids=lambda version: version.name)
@pytest.mark.parametrize("curve", CURVES)
def test_a_curve_alone(curve, version):
    found = agreed(served("RSA"), a_client(version, curve=curve))

    assert (curve in PROFILE_CURVES) == (found is not None)


@pytest.mark.parametrize("curve", CURVES)
def test_where_the_library_cannot_be_told_of_several_curves_there_is_one(curve, monkeypatch):
    monkeypatch.setattr(tls, "_set_curves", lambda context, curves: False)

    assert (curve == "prime256v1") == (agreed(served("RSA"), a_client(curve=curve)) is not None)


def test_names_that_the_library_does_not_know_are_not_taken_for_set():
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    assert not tls._set_curves(context, ("no such curve",))


@pytest.mark.parametrize(
    "suites",
    [
        "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256",
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305",
    ],
)
def test_the_order_of_the_client_counts(suites):
    assert suites.partition(":")[0] == agreed(served(), a_client(OLDER, suites)).cipher()[0]


@pytest.mark.parametrize("version", [OLDER, MODERN], ids=lambda version: version.name)
def test_no_session_is_kept_sealed_for_a_client_that_comes_again(version):
    found = agreed(served(), a_client(version))

    assert found.session is None or not found.session.has_ticket
