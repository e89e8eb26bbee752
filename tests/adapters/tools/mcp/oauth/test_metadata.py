"""What follows from what servers say of themselves: tables."""

import pytest

from adapters.tools.mcp.oauth.metadata import (
    describes_issuer,
    describes_server,
    issuer_urls,
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
        "https://h/.well-known/oauth-authorization-server",
        "https://h/t/.well-known/openid-configuration",
        "https://h/.well-known/openid-configuration",
    ] == list(issuer_urls("https://h/t"))


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
