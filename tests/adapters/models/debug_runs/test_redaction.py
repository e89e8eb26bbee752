"""No secret, and no byte of a file, is in what is shown of a call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.models.debug_runs import redaction
from adapters.models.debug_runs.redaction import (
    BODY_BYTES_MAX,
    REDACTED,
    TEXT_CHARACTERS_MAX,
    is_secret_key,
    safe_body,
    safe_headers,
    safe_json,
    safe_url,
)

JSON = "application/json; charset=utf-8"


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("Authorization", True),
        ("X-Api-Key", True),
        ("x-goog-api-key", True),
        ("api-key", True),
        ("Cookie", True),
        ("Set-Cookie", True),
        ("X-Amz-Security-Token", True),
        ("x-my-apikey", True),
        ("x-client-secret", True),
        ("anthropic-ratelimit-tokens-remaining", False),
        ("x-ratelimit-limit-tokens", False),
        ("Content-Type", False),
        ("Anthropic-Version", False),
    ],
)
def test_headers_are_judged_by_their_names(name, is_secret):
    assert (REDACTED if is_secret else "value") == safe_headers([(name, "value")])[name]


@pytest.mark.parametrize(
    ("key", "is_secret"),
    [
        *((key, True) for key in ("token", "access_token", "refreshToken", "id_token", "api_key")),
        *(
            (key, True)
            for key in ("apiKey", "private_key", "signingKey", "secret_key", "authToken")
        ),
        *((key, True) for key in ("client_secret", "dbPassword", "AuthorizationHeader")),
        *((key, True) for key in ("awsCredentials", "session_token", "bearer-token")),
        *((key, False) for key in ("prompt_tokens", "max_tokens", "tokens", "totalTokenCount")),
        *((key, False) for key in ("content", "key", "author", "tokenizer")),
    ],
)
def test_keys_of_json_are_judged_by_their_names(key, is_secret):
    assert is_secret is is_secret_key(key)
    assert is_secret is (safe_json({"a": [{key: "v"}]}) == {"a": [{key: REDACTED}]})


def test_secrets_in_arguments_that_are_json_in_a_text_are_found():
    shown = safe_json({"arguments": '{"password": "hunter2", "path": "x"}'})

    assert '{"password":"[REDACTED]","path":"x"}' == shown["arguments"]


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ann:pw@a.test/v1?x=1", "https://a.test/v1?x=1"),
        ("https://a.test/v1?key=abc&alt=sse", "https://a.test/v1?key=[REDACTED]&alt=sse"),
        ("https://a.test/?X-Amz-Signature=1", "https://a.test/?X-Amz-Signature=[REDACTED]"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ],
)
def test_addresses_let_nobody_in(url, shown):
    assert shown == safe_url(url)


def test_a_body_that_is_no_json_is_only_named():
    assert "[text/html, 13 bytes: not JSON]" == safe_body(b"<p>secret</p>", "text/html")
    assert "[unknown kind, 2 bytes: not JSON]" == safe_body(b"\xff\xfe", "")
    assert "" == safe_body(b"", JSON)


def test_lines_are_shown_one_by_one():
    body = b'event: a\ndata: {"api_key": "k", "t": 1}\n\ndata: broken secret\ndata: [DONE]\n: note'
    shown = safe_body(body, "text/event-stream").splitlines()

    assert ["event: a", 'data: {"api_key":"[REDACTED]","t":1}', ""] == shown[:3]
    assert ["data: [13 characters: not JSON]", "data: [DONE]"] == shown[3:5]
    assert "note" not in shown[5]


def test_the_bytes_of_files_are_only_counted():
    picture = "iVBORw0KGgo" * 40
    body = {
        "a": {"type": "base64", "media_type": "image/png", "data": "aGk="},
        "b": f"data:image/png;base64,{picture}",
        "c": {"bytes": picture},
        "d": picture,
    }
    shown = safe_body(json.dumps(body).encode(), JSON)

    assert picture not in shown
    assert "aGk=" not in shown
    assert "[image/png, " in shown
    assert "[440 characters of base64]" in shown


def test_long_bodies_and_texts_are_cut_and_say_how_long_they_were():
    long = json.dumps({"a": ["word " * 4_000] * 12}).encode()
    shown = safe_body(long, JSON)

    assert len(shown.encode()) <= BODY_BYTES_MAX + 40
    assert shown.endswith("bytes in all]")
    [text] = safe_json(["word " * 4_000])
    assert text.endswith("… [20000 characters in all]")
    assert len(text) < TEXT_CHARACTERS_MAX + 40
    known = safe_body(b'data: {"a": 1}\n', "text/event-stream", size=10**6)
    assert known.endswith("… [1000000 bytes in all]")


def test_a_body_that_is_too_long_or_too_deep_is_not_read(monkeypatch):
    monkeypatch.setattr(redaction, "READ_BYTES_MAX", 10)
    assert "too long" in safe_body(b'{"password": "abc"}', JSON)
    deep = b"[" * 5_000 + b"]" * 5_000
    monkeypatch.undo()
    assert "secret" not in safe_body(deep, JSON)
    nested = []
    for _ in range(300):
        nested = [nested]
    assert "nested too deeply" in json.dumps(safe_json(nested))


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.sampled_from(["password", "api_key"]), inner)
    ),
    max_leaves=20,
)


@given(values)
def test_what_is_shown_can_be_stored_and_holds_no_secret(value):
    planted = {"rows": value, "inner": [{"client_secret": "hunter2", "refresh_token": ["hunter2"]}]}
    shown = json.dumps(safe_json(planted))

    assert "hunter2" not in shown
    assert "\\u0000" not in shown


@pytest.mark.parametrize("name", ["github_token", "openai_api_key", "x-goog-api-key", "passphrase"])
def test_a_secret_of_a_longer_name_is_one(name):
    assert is_secret_key(name)
    assert not is_secret_key("max_tokens")


@pytest.mark.parametrize("name", ["Ocp-Apim-Subscription-Key", "X-Functions-Key", "X-Auth"])
def test_a_header_by_which_gateways_let_in_is_not_shown(name):
    assert {name: REDACTED} == safe_headers([(name, "s3cret")])
