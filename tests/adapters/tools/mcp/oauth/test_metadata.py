"""What follows from what servers say of themselves: tables."""

import pytest

from adapters.tools.mcp.oauth.metadata import (
    application_type,
    describes_issuer,
    describes_server,
    issuer_urls,
    may_trust,
    method_of_own,
    resource_urls,
)


def test_addresses_of_metadata_stand_in_the_order_of_the_rules():
    assert [
        "https://h/.well-known/oauth-protected-resource/a/b",
        "https://h/.well-known/oauth-protected-resource",
    ] == list(resource_urls("https://h/a/b?x=1"))
    assert [
        "https://h/.well-known/oauth-authorization-server/t",
        "https://h/.well-known/openid-configuration/t",
        "https://h/t/.well-known/openid-configuration",
        "https://h/.well-known/oauth-authorization-server",
        "https://h/.well-known/openid-configuration",
    ] == list(issuer_urls("https://h/t"))
    assert [
        "https://h/.well-known/oauth-authorization-server",
        "https://h/.well-known/openid-configuration",
    ] == list(issuer_urls("https://h/"))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, True),
        ({"resource": "https://h/mcp"}, True),
        ({"resource": "https://H/mcp/"}, True),
        ({"resource": "https://h"}, True),
        ({"resource": "https://h/mc"}, False),
        ({"resource": "https://h/mcp/more"}, False),
        ({"resource": "http://h/mcp"}, False),
        ({"resource": "https://h:8443/mcp"}, False),
        ({"resource": 7}, False),
    ],
)
def test_metadata_of_a_resource_names_the_server_or_an_address_above_it(said, expected):
    assert expected == describes_server(said, "https://h/mcp")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({}, True),
        ({"issuer": "https://h/t"}, True),
        ({"issuer": "https://h/t/"}, True),
        ({"issuer": "https://h"}, False),
        ({"issuer": "https://h/T"}, False),
        ({"issuer": ["https://h/t"]}, False),
    ],
)
def test_metadata_of_an_authorization_server_names_the_issuer_that_was_asked_for(said, expected):
    assert expected == describes_issuer(said, "https://h/t")


@pytest.mark.parametrize(
    ("offered", "has_secret", "expected"),
    [
        (None, False, "none"),
        (["client_secret_basic"], False, "none"),
        (None, True, ""),
        (["none"], True, ""),
        ("client_secret_post", True, ""),
        (["client_secret_post"], True, "client_secret_post"),
        (["client_secret_post", "client_secret_basic"], True, "client_secret_basic"),
    ],
)
def test_a_secret_of_our_own_is_shown_as_is_offered(offered, has_secret, expected):
    said = {"token_endpoint_auth_methods_supported": offered}

    assert expected == method_of_own(said, has_secret=has_secret)


@pytest.mark.parametrize(
    ("redirect_uri", "expected"),
    [
        ("https://chats.example/callback", "web"),
        ("http://10.0.0.7:7390/callback", "web"),
        ("http://localhost:7390/callback", "native"),
        ("http://127.0.0.1:7390/callback", "native"),
        ("http://[::1]:7390/callback", "native"),
    ],
)
def test_a_client_to_which_browsers_come_back_on_their_own_machine_is_native(
    redirect_uri, expected
):
    assert expected == application_type(redirect_uri)


@pytest.mark.parametrize(
    ("servers", "expected"),
    [
        (["https://h/t"], True),
        (["https://h/t/"], True),
        (["https://other", "https://h/t"], True),
        (["https://other"], False),
        ([7, "https://other"], False),
        ([7], True),
        ([], True),
        ("https://other", True),
        (None, True),
    ],
)
def test_an_authorization_server_is_trusted_until_only_others_are_named(servers, expected):
    assert expected == may_trust({"authorization_servers": servers}, "https://h/t")
