"""Signatures: AWS's published example, and vectors computed with AWS's own library."""

from datetime import UTC, datetime

import pytest

from adapters.models.providers.bedrock.aws import (
    AwsKeys,
    BearerToken,
    SigningScope,
    aws_credentials,
    region_of,
    signature_headers,
)

EXAMPLE = AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def signature(headers):
    return dict(headers)["Authorization"].rpartition("Signature=")[2]


def test_the_published_example_has_its_published_signature():
    """`get-vanilla` of AWS's test suite for Signature Version 4."""
    headers = signature_headers(
        "GET",
        "/",
        headers=[("Host", "example.amazonaws.com")],
        body=b"",
        keys=EXAMPLE,
        scope=SigningScope("us-east-1", "service"),
        now=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
    )

    assert headers == (
        ("X-Amz-Date", "20150830T123600Z"),
        (
            "Authorization",
            "AWS4-HMAC-SHA256"
            " Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request,"
            " SignedHeaders=host;x-amz-date,"
            " Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
        ),
    )


@pytest.mark.parametrize(
    ("target", "body", "token", "expected"),
    [
        (
            "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke",
            b'{"a":1}',
            None,
            "bc5d329c80ab8a321409fe0a1611b1b4261a3607719493cfd026bd1eab1cb2f6",
        ),
        (
            "/model/x/invoke?b=2&a=1%20x&c",
            b"",
            "TOKEN",
            "edecaff449066452cb38ea174c1c1f5bc372c096759276d2b06e234a92ac8af9",
        ),
        (
            "/a%20b/%E2%82%AC~-_./x",
            b"x",
            "T/+=",
            "d2fa27b96e2e5e15a06a0d39b5a296d9bd3c3f60eda4acad71c64e0a348cbc3c",
        ),
        ("", b"", None, "c2aebec04e620f3da05a3ec9daf71369845e324eae33487b2ba78152ec2bb4a4"),
    ],
)
def test_paths_queries_and_tokens_are_signed_as_aws_signs_them(target, body, token, expected):
    headers = signature_headers(
        "POST",
        target,
        headers=[
            ("Host", "bedrock-runtime.us-east-1.amazonaws.com"),
            ("Content-Type", "application/json"),
        ],
        body=body,
        keys=AwsKeys("AKID", "SECRET", token),
        scope=SigningScope("us-east-1", "bedrock"),
        now=NOW,
    )

    assert signature(headers) == expected
    assert dict(headers).get("X-Amz-Security-Token") == token


def test_keys_do_not_print_their_secrets():
    assert "wJalr" not in repr(EXAMPLE)


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
        ({"AWS_BEARER_TOKEN_BEDROCK": "b", "AWS_ACCESS_KEY_ID": "A"}, BearerToken("b")),
        ({"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"}, AwsKeys("A", "S")),
        (
            {
                "AWS_ACCESS_KEY_ID": "A",
                "AWS_SECRET_ACCESS_KEY": "S",
                "AWS_SESSION_TOKEN": "T",
            },
            AwsKeys("A", "S", "T"),
        ),
        ({}, AwsKeys("A1", "S%1")),
        ({"AWS_ACCESS_KEY_ID": "A"}, AwsKeys("A1", "S%1")),
        ({"AWS_PROFILE": "work"}, AwsKeys("A2", "S2", "T2")),
        ({"AWS_PROFILE": "half"}, None),
        ({"AWS_PROFILE": "missing"}, None),
        ({"AWS_SHARED_CREDENTIALS_FILE": "/nowhere/credentials"}, None),
    ],
)
def test_the_environment_comes_before_the_shared_file(environ, found, home):
    assert aws_credentials(home | environ) == found


def test_a_file_that_is_no_credentials_file_offers_nothing(tmp_path):
    file = tmp_path / "credentials"
    file.write_bytes(b"\xff\xfe no sections")

    assert aws_credentials({"AWS_SHARED_CREDENTIALS_FILE": str(file)}) is None


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
    assert "b" * 9 not in repr(BearerToken("b" * 9))
