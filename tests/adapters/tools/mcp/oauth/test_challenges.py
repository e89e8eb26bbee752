"""What a server that refuses wants, and which scopes users are asked for: tables."""

import pytest

from adapters.tools.mcp.oauth.challenges import (
    Challenge,
    challenge_of,
    chosen_scopes,
    joined,
    wanted_scopes,
)

HERE = "https://h/meta"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", Challenge()),
        ("Bearer", Challenge()),
        ('Bearer scope="a b"', Challenge("a b")),
        (f'bearer scope=a,resource_metadata="{HERE}"', Challenge("a", HERE)),
        (f'Bearer realm="x, scope=\\"no\\"" , resource_metadata = "{HERE}"', Challenge("", HERE)),
        ('Basic realm="r", Bearer error="e", scope="a"', Challenge("a", error="e")),
        ('Basic scope="no"', Challenge()),
        ('Bearer scope="a", Basic scope="b"', Challenge("a")),
        ('Bearer scope="a", scope="b"', Challenge("a")),
        ('Bearer scope="a  \ta a\\"c é d"', Challenge("a d")),
        ('Bearer resource_metadata="file:///etc/passwd"', Challenge()),
        ('Bearer resource_metadata="http://[::1"', Challenge()),
        (f'Bearer scope="{"a" * 3_000}"', Challenge()),
        (f'Bearer {"a=b, " * 2_000}scope="a"', Challenge()),
        ('Bearer scope="a', Challenge()),
    ],
)
def test_a_challenge_is_read(header, expected):
    assert expected == challenge_of(header)


@pytest.mark.parametrize(
    ("status", "header", "expected"),
    [
        (403, 'Bearer error="insufficient_scope", scope="a b"', "a b"),
        (403, 'Bearer error="insufficient_scope"', ""),
        (403, 'Bearer error="invalid_token", scope="a"', ""),
        (403, 'Bearer scope="a"', ""),
        (401, 'Bearer error="insufficient_scope", scope="a"', ""),
    ],
)
def test_a_server_misses_scopes_only_if_it_says_so(status, header, expected):
    assert expected == wanted_scopes(status, header)


@pytest.mark.parametrize(
    ("challenged", "resource", "authorization", "expected"),
    [
        ("a", ["b"], ["c"], "a"),
        ("", ["b", "c"], ["d"], "b c"),
        ("", None, ["d", "offline_access"], ""),
        ("a", None, ["a", "offline_access"], "a offline_access"),
        ("", ["b"], ["offline_access"], "b offline_access"),
        ("", ["b", 7, 'c"d'], None, "b"),
        ("", "b", None, ""),
    ],
)
def test_scopes_are_those_of_the_challenge_or_of_the_resource_or_none(
    challenged, resource, authorization, expected
):
    said = {"scopes_supported": resource}, {"scopes_supported": authorization}

    assert expected == chosen_scopes(Challenge(challenged), *said)


def test_scopes_are_joined_once_each_and_only_as_long_as_they_can_be_kept():
    assert "a b c" == joined("a b", "", "b c a")
    assert "" == joined(" ".join(f"scope-{number}" for number in range(500)))
