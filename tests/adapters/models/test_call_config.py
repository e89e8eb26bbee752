"""How a model is called, from what administrators write to what a provider is sent."""

import msgspec
import pytest

from actors.law.parts.prompt import (
    EFFORTS,
    AnthropicOptions,
    CallSettings,
    GoogleOptions,
    GoogleSafetySetting,
    OpenAICompatOptions,
    OpenAIOptions,
    OpenRouterOptions,
    OpenRouterRouting,
    RoutedReasoning,
    VercelOptions,
    WebFetch,
    WebSearch,
)
from adapters.models.call_config import (
    CallConfig,
    efforts_offered,
    encode_call,
    faults_of,
    provider_tools_of,
    read_call,
    search_of,
    settings_of,
)


def a_call(document):
    return msgspec.convert(document, CallConfig)


def options_of(type, **families):
    return settings_of(a_call({"provider_options": families}), type).options


def test_where_nothing_is_said_the_usual_holds():
    assert CallSettings() == settings_of(a_call({}), "openai")


def test_what_is_said_is_what_is_asked_for():
    call = a_call(
        {
            "max_output_tokens": 1,
            "temperature": 0,
            "top_p": 0.5,
            "top_k": 3,
            "presence_penalty": -1.5,
            "frequency_penalty": 2,
            "reasoning_effort": {"default": "low", "max": "high"},
        }
    )

    assert CallSettings(1, 0, 0.5, 3, -1.5, 2, "low") == settings_of(call, "anthropic")


@pytest.mark.parametrize(
    ("type", "family", "said", "made"),
    [
        (
            "openai",
            "openai",
            {
                "include": ["x"],
                "logit_bias": {"1": 2},
                "store": False,
                "web_search_enabled": True,
                "metadata": {"a": {"b": [1]}},
                "top_log_probs": 0,
                "user": None,
            },
            OpenAIOptions(
                include=("x",),
                logit_bias='{"1":2}',
                store=False,
                web_search_enabled=True,
                metadata='{"a":{"b":[1]}}',
                top_log_probs=0,
            ),
        ),
        ("azure", "openai", {"service_tier": "flex"}, OpenAIOptions(service_tier="flex")),
        (
            "anthropic",
            "anthropic",
            {"thinking": {"budget_tokens": 9}, "send_reasoning": False},
            AnthropicOptions(send_reasoning=False, thinking_budget_tokens=9),
        ),
        ("bedrock", "anthropic", {"thinking": None}, AnthropicOptions()),
        (
            "google",
            "google",
            {
                "thinking_config": {"thinking_level": "low", "include_thoughts": False},
                "safety_settings": [{"category": "c", "threshold": "t"}],
            },
            GoogleOptions(
                thinking_level="low",
                include_thoughts=False,
                safety_settings=(GoogleSafetySetting("c", "t"),),
            ),
        ),
        ("openai-compat", "openaicompat", {"user": "u"}, OpenAICompatOptions("u")),
        (
            "openrouter",
            "openrouter",
            {
                "reasoning": {"enabled": True, "max_tokens": 5},
                "provider": {"order": ["a", "b"], "allow_fallbacks": False},
                "extra_body": {"x": 1},
            },
            OpenRouterOptions(
                reasoning=RoutedReasoning(enabled=True, max_tokens=5),
                provider=OpenRouterRouting(order=("a", "b"), allow_fallbacks=False),
                extra_body='{"x":1}',
            ),
        ),
        (
            "vercel",
            "vercel",
            {
                "providerOptions": {"order": ["a"], "models": ["m"]},
                "logprobs": True,
                "top_logprobs": 2,
            },
            VercelOptions(order=("a",), models=("m",), log_probs=True, top_log_probs=2),
        ),
        (
            "vercel",
            "vercel",
            {"reasoning": {"exclude": True}},
            VercelOptions(reasoning=RoutedReasoning(exclude=True)),
        ),
    ],
)
def test_each_family_has_options_of_its_own(type, family, said, made):
    assert made == options_of(type, **{family: said})


@pytest.mark.parametrize("type", ["anthropic", "google", "openrouter", "vercel", "openai-compat"])
def test_options_of_another_family_are_not_looked_at(type):
    assert options_of(type, openai={"store": True}) is None


@pytest.mark.parametrize(
    ("type", "family", "said", "search"),
    [
        ("openai", "openai", {}, None),
        ("openai", "openai", {"web_search_enabled": False}, None),
        (
            "openai",
            "openai",
            {
                "web_search_enabled": True,
                "allowed_domains": ["a"],
                "search_context_size": "low",
            },
            WebSearch(("a",), context_size="low"),
        ),
        (
            "anthropic",
            "anthropic",
            {"web_search_enabled": True, "blocked_domains": ["b"]},
            WebSearch((), ("b",)),
        ),
        ("google", "google", {"web_search_enabled": True}, WebSearch()),
    ],
)
def test_a_search_of_the_providers_own_is_offered_where_it_is_switched_on(
    type, family, said, search
):
    assert search == search_of(a_call({"provider_options": {family: said}}), type)


@pytest.mark.parametrize(
    ("family", "said", "tools"),
    [
        ("openai", {"web_fetch_enabled": True}, ()),
        ("anthropic", {"web_fetch_enabled": False}, ()),
        ("anthropic", {"web_fetch_enabled": True}, (WebFetch(),)),
        (
            "anthropic",
            {"web_fetch_enabled": True, "web_search_enabled": True, "allowed_domains": ["a"]},
            (WebSearch(("a",)), WebFetch(("a",))),
        ),
        ("google", {"web_fetch_enabled": True}, (WebFetch(),)),
        (
            "google",
            {"web_fetch_enabled": True, "web_search_enabled": True},
            (WebSearch(), WebFetch()),
        ),
    ],
)
def test_reading_pages_is_offered_where_it_is_switched_on_beside_the_search(family, said, tools):
    call = a_call({"provider_options": {family: said}})

    assert provider_tools_of(call, family) == tools


@pytest.mark.parametrize("highest", EFFORTS)
def test_efforts_go_up_to_the_highest(highest):
    call = a_call({"reasoning_effort": {"default": "none", "max": highest}})

    assert EFFORTS[: EFFORTS.index(highest) + 1] == efforts_offered(call)


def test_a_model_without_efforts_has_none_to_choose_from():
    assert () == efforts_offered(a_call({}))


def test_what_says_nothing_is_not_stored():
    call = a_call(
        {
            "temperature": None,
            "reasoning_effort": None,
            "provider_options": {"openai": {"user": None}, "google": {}},
        }
    )

    assert b"{}" == encode_call(call) == encode_call(None)


def test_what_is_stored_comes_back():
    document = {
        "temperature": 0.0,
        "openai_config": {"use_responses_api": False},
        "provider_options": {"vercel": {"providerOptions": {"order": ["a"]}}},
    }

    stored = encode_call(a_call(document))

    assert document == msgspec.json.decode(stored)
    assert a_call(document) == read_call(stored)


def test_a_call_without_fault_has_none():
    call = a_call(
        {
            "reasoning_effort": {"default": "low", "max": "low"},
            "provider_options": {
                "anthropic": {"thinking_display": "omitted", "allowed_domains": ["a"]},
                "google": {"thinking_config": {"thinking_level": "minimal"}},
            },
        }
    )

    assert [] == list(faults_of(call))
