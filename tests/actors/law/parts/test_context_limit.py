"""Which names mean a context limit, and which numbers count."""

import pytest

from actors.law.parts.context_limit import context_limit, means_context_limit


@pytest.mark.parametrize(
    "name",
    [
        "context_limit",
        "contextWindow",
        "Context-Length",
        "max_context",
        "maxContextTokens",
        "max_input_tokens",
        "inputTokenLimit",
        "model_context_limit",
        "context_window_size",
        "max_model_context_length",
        "context_token_max",
        "limitOfContextTokens",
    ],
)
def test_these_names_mean_a_context_limit(name):
    assert means_context_limit(name)


@pytest.mark.parametrize(
    "name",
    ["context_tokens_used", "context", "limit", "model_context_window_id", "input_tokens", ""],
)
def test_these_names_do_not(name):
    assert not means_context_limit(name)


@pytest.mark.parametrize(
    ("value", "limit"),
    [
        (200_000, 200_000),
        (128_000.0, 128_000),
        (" 4096 ", 4096),
        (0, None),
        (-5, None),
        (1.5, None),
        (True, None),
        ("many", None),
        (None, None),
        (float("inf"), None),
        (float("nan"), None),
    ],
)
def test_positive_whole_numbers_count(value, limit):
    assert context_limit({"context_limit": value}) == limit


def test_the_largest_counts_wherever_it_stands():
    metadata = {"model": [{"context_limit": 1000}, {"x": {"maxInputTokens": "2000"}}], "y": 9000}

    assert context_limit(metadata) == 2000


def test_what_lies_too_deep_is_not_looked_at():
    metadata = {"context_limit": 5}
    for _ in range(50):
        metadata = {"x": metadata}

    assert context_limit(metadata) is None
