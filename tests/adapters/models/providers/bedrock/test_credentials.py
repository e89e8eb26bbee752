"""Where credentials come from when nobody configured any."""

import pytest

from adapters.models.providers.bedrock.credentials import Bearer, ambient, region_of
from adapters.models.providers.bedrock.signing import Keys

FILE = """
[default]
aws_access_key_id = A1
aws_secret_access_key = S%1

[work]
aws_access_key_id = A2
aws_secret_access_key = S2
aws_session_token = T2

[half]
aws_access_key_id = A3
"""


@pytest.fixture
def home(tmp_path):
    (tmp_path / ".aws").mkdir()
    (tmp_path / ".aws" / "credentials").write_text(FILE)
    return {"HOME": str(tmp_path)}


@pytest.mark.parametrize(
    ("environ", "found"),
    [
        ({"AWS_BEARER_TOKEN_BEDROCK": "b", "AWS_ACCESS_KEY_ID": "A"}, Bearer("b")),
        ({"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"}, Keys("A", "S")),
        (
            {
                "AWS_ACCESS_KEY_ID": "A",
                "AWS_SECRET_ACCESS_KEY": "S",
                "AWS_SESSION_TOKEN": "T",
            },
            Keys("A", "S", "T"),
        ),
        ({}, Keys("A1", "S%1")),
        ({"AWS_ACCESS_KEY_ID": "A"}, Keys("A1", "S%1")),
        ({"AWS_PROFILE": "work"}, Keys("A2", "S2", "T2")),
        ({"AWS_PROFILE": "half"}, None),
        ({"AWS_PROFILE": "missing"}, None),
        ({"AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials"}, None),
    ],
)
def test_the_environment_comes_before_the_shared_file(environ, found, home):
    assert ambient(home | environ) == found


def test_a_file_that_is_no_credentials_file_offers_nothing(tmp_path):
    file = tmp_path / "credentials"
    file.write_bytes(b"\xff\xfe no sections")

    assert ambient({"AWS_SHARED_CREDENTIALS_FILE": str(file)}) is None


@pytest.mark.parametrize(
    ("environ", "region"),
    [
        ({}, "us-east-1"),
        ({"AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-1"),
        ({"AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-west-1"}, "eu-west-3"),
    ],
)
def test_the_region_has_a_default(environ, region):
    assert region_of(environ) == region


def test_a_token_does_not_print():
    assert "b" * 9 not in repr(Bearer("b" * 9))
