"""Each rule, and each pair of rules whose order decides."""

from datetime import UTC, datetime

import pytest

from actors.law.failures.classify import classify, history_mismatch
from actors.law.failures.signals import Http2Reset, Signals, TransportEnd
from actors.law.failures.wording import failure, silent_stream, withheld_answer
from actors.law.parts.deltas import FailureKind, ProviderFailure, ProviderRefusal

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HTML = b"<html><body>Forbidden</body></html>"


def seen(text, **more):
    found = classify(Signals(text, **more), NOW)
    return found.kind.value, found.retryable


@pytest.mark.parametrize(
    ("text", "kind", "retryable"),
    [
        ("status 529", "overloaded", True),
        ("anthropic overloaded_error", "overloaded", True),
        ("anthropic stream closed before message_stop", "timeout", True),
        ("openai responses stream closed before terminal event", "timeout", True),
        ("authentication failed: invalid model", "auth", False),
        ("forbidden", "auth", False),
        ("forbidden: context length exceeded", "config", False),
        ("status 400: prompt is too long: 9 tokens > 8 maximum", "config", False),
        ("input token count (9) exceeds the maximum number of tokens allowed", "config", False),
        ("status 401", "auth", False),
        ("status 403", "auth", False),
        ("status 429", "rate_limit", True),
        ("rate-limited", "rate_limit", True),
        ("too many requests", "rate_limit", True),
        ("status 403: AI budget of 10 is spent", "usage_limit", False),
        ("status 429: invalid model", "config", False),
        ("503: invalid model", "config", False),
        ("connection refused: unsupported model", "config", False),
        ("status 429: insufficient_quota", "usage_limit", False),
        ("status 429: check quota and billing", "rate_limit", True),
        ("quota exceeded", "usage_limit", False),
        ("unauthorized: insufficient_quota", "usage_limit", False),
        ("status 503: provider_disabled", "provider_disabled", False),
        ("provider_disabled", "provider_disabled", False),
        ("no tool output found for function call call_abc", "generic", False),
        ("item was provided without its required 'reasoning' item: rs_1", "generic", False),
        ("chat interrupted: status 503", "generic", False),
        ("status 500", "generic", True),
        ("internal server error", "generic", True),
        ("unexpected eof", "timeout", True),
        ("stream id 3; internal_error; received from peer", "timeout", True),
        ("status 500: resolve aws credentials: none found", "config", False),
        ("dial tcp 10.0.0.1:503: refused by host", "generic", False),
        ("something else", "generic", False),
    ],
)
def test_words_decide_in_this_order(text, kind, retryable):
    assert (kind, retryable) == seen(text)


@pytest.mark.parametrize(
    ("text", "too_long"),
    [
        ("status 400: context_length_exceeded", True),
        ("This model's maximum context length is 8 tokens", True),
        ("Your input exceeds the context window of this model", True),
        ("input length and `max_tokens` exceed context limit: 9 + 9 > 8", True),
        ("the request exceeds the available context size", True),
        ("Input is too long for requested model", True),
        ("status 413: request_too_large", True),
        ("This model's maximum prompt length is 8 but the request contains 9 tokens", True),
        ("Please reduce the length of the messages or completion.", True),
        ("invalid params, context window exceeds limit (2013)", True),
        ("status 429: maximum context length", True),
        ("status 401: maximum context length", False),
        ("invalid model", False),
        ("status 500", False),
    ],
)
def test_a_prompt_that_is_too_long_is_known_by_its_words(text, too_long):
    failure = classify(Signals(text), NOW)

    assert too_long == failure.too_long
    assert too_long == failure.message.startswith("The conversation is too long for the model.")


@pytest.mark.parametrize(
    ("signals", "kind", "retryable"),
    [
        ({"cut": TransportEnd.DEADLINE}, "timeout", False),
        ({"cut": TransportEnd.CANCELLED}, "generic", False),
        ({"cut": TransportEnd.CANCELLED, "status": 500}, "generic", True),
        ({"cut": TransportEnd.RESET}, "timeout", True),
        ({"cut": TransportEnd.RESET, "status": 401}, "auth", False),
        ({"cut": TransportEnd.RESET, "status": 400}, "generic", False),
        ({"status": 408}, "timeout", True),
        ({"status": 504}, "timeout", True),
        ({"status": 400, "body": b'{"error":{"message":"AI budget of 3"}}'}, "usage_limit", False),
        ({"status": 403, "body": HTML}, "auth", False),
    ],
)
def test_what_the_transport_knows_outranks_words(signals, kind, retryable):
    assert (kind, retryable) == seen("the call ended", **signals)


def test_a_budget_that_only_a_plain_text_body_names_is_a_usage_limit():
    headers = {"content-type": "text/plain; charset=utf-8"}

    assert seen(
        "status 403", status=403, headers=headers, body=b"AI budget of 5 USD is spent\n"
    ) == ("usage_limit", False)


@pytest.mark.parametrize(
    ("reset", "retryable"),
    [
        (Http2Reset("NO_ERROR", True), True),
        (Http2Reset("INTERNAL_ERROR", True), True),
        (Http2Reset("REFUSED_STREAM", True), True),
        (Http2Reset("CANCEL", True), True),
        (Http2Reset("ENHANCE_YOUR_CALM", True), True),
        (Http2Reset("PROTOCOL_ERROR", True), False),
        (Http2Reset("FLOW_CONTROL_ERROR", True), False),
        (Http2Reset("FRAME_SIZE_ERROR", True), False),
        (Http2Reset("COMPRESSION_ERROR", True), False),
        (Http2Reset("CANCEL", False), False),
    ],
)
def test_a_reset_stream_is_tried_again_only_if_the_peer_meant_no_harm(reset, retryable):
    kind = "timeout" if retryable else "generic"

    assert (kind, retryable) == seen("stream id 5 reset, timed out", reset=reset)


def test_a_status_outranks_a_reset():
    assert seen("x", status=401, reset=Http2Reset("CANCEL", True)) == ("auth", False)


def test_the_configured_provider_outranks_the_one_in_the_text():
    found = classify(Signals("anthropic overloaded_error", "Azure OpenAI"), NOW)

    assert (
        ProviderFailure(
            FailureKind.OVERLOADED,
            "Azure OpenAI is overloaded for now.",
            True,
            "Azure OpenAI is overloaded for now.",
            "azure",
            detail="anthropic overloaded_error",
        )
        == found
    )


@pytest.mark.parametrize(
    ("text", "provider", "message"),
    [
        ("status 529", None, "The AI provider is overloaded for now."),
        ("anthropic overloaded", "anthropic", "Anthropic is overloaded for now."),
        ("vertex overloaded", "google", "Google is overloaded for now."),
        ("openai-compat: overloaded", "openai-compat", "OpenAI Compatible is overloaded for now."),
    ],
)
def test_without_configuration_the_text_names_the_provider(text, provider, message):
    found = classify(Signals(text), NOW)

    assert (provider, message) == (found.provider, found.message)


def test_a_mismatched_history_tells_no_ids():
    found = classify(Signals("No tool output found for function call call_SECRET.", "openai"), NOW)

    assert history_mismatch("openai") == found
    assert "call_" not in found.message + (found.detail or "")


def test_an_auth_failure_has_only_a_detail_that_the_provider_wrote():
    bare = classify(Signals("status 401 at https://key@host", status=401), NOW)
    told = classify(Signals("x", status=401, body=b'{"message":"key expired"}'), NOW)

    assert (bare.detail, told.detail) == (None, "key expired")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (None, "The request failed for an unknown reason."),
        (418, "Anthropic answered with an unforeseen error."),
    ],
)
def test_an_unknown_failure_says_so_without_its_status(status, message):
    found = classify(Signals("weird", "anthropic", status), NOW)

    assert (message, "weird", status) == (found.message, found.detail, found.status_code)


@pytest.mark.parametrize("kind", list(FailureKind))
@pytest.mark.parametrize("status", [None, 503])
@pytest.mark.parametrize("retryable", [True, False])
def test_every_kind_has_words_that_are_sentences_without_a_status(kind, status, retryable):
    found = failure(kind, "anthropic", retryable=retryable, status=status)

    for text in (found.message, found.retry_message):
        assert text[0].isupper()
        assert text.endswith(".")
        assert "503" not in text


def test_a_timeout_of_our_own_says_that_time_ran_out():
    found = classify(Signals("x", "google", cut=TransportEnd.DEADLINE), NOW)

    assert found.message == "The request ran out of time before it finished."


def test_a_withheld_reply_names_its_category_and_keeps_the_explanation():
    found = withheld_answer("anthropic", ProviderRefusal("bio", "it explains"))

    assert found.message == (
        "Anthropic withheld the reply for policy reasons (bio). Say it in other words, or choose"
        " another model."
    )
    assert (found.detail, found.retryable) == ("it explains", False)


def test_silence_is_tried_again():
    found = silent_stream(None)

    assert (found.message, found.retryable) == ("No data came from the AI provider in time.", True)
