"""A configured model as a provider: who is asked, where, and how the key is shown."""

import pytest

from actors.law.parts.vendors import VENDORS, Wire
from adapters.models.connecting import connect, connect_model, wire_of
from adapters.models.provider_config import misconfiguration
from adapters.models.providers.http import HttpClient
from tests.adapters.models.given import a_config, hello
from tests.fakes.network import Network, whole

AZURE = "https://r.openai.azure.com"


@pytest.mark.parametrize(
    ("config", "host", "target", "header"),
    [
        (a_config("anthropic", "claude"), "api.anthropic.com", "/v1/messages", "x-api-key"),
        (
            a_config("bedrock", "anthropic.claude"),
            "bedrock-runtime.eu-west-1.amazonaws.com",
            "/model/eu.anthropic.claude/invoke",
            "authorization",
        ),
        (
            a_config("bedrock", "amazon.nova-pro-v1:0"),
            "bedrock-runtime.eu-west-1.amazonaws.com",
            "/model/amazon.nova-pro-v1%3A0/converse",
            "authorization",
        ),
        (
            a_config("google", "gemini-2.5-pro"),
            "generativelanguage.googleapis.com",
            "/v1beta/models/gemini-2.5-pro:generateContent",
            "x-goog-api-key",
        ),
        (a_config("openai", "gpt-5"), "api.openai.com", "/v1/responses", "authorization"),
        (
            a_config("openai", "gpt-5", use_responses_api=False),
            "api.openai.com",
            "/v1/chat/completions",
            "authorization",
        ),
        (
            a_config("azure", "gpt-5", base_url=AZURE),
            "r.openai.azure.com",
            "/openai/v1/responses",
            "api-key",
        ),
        (
            a_config("azure", "gpt-5", base_url=f"{AZURE}/openai/deployments/d?api-version=1"),
            "r.openai.azure.com",
            "/openai/deployments/d/chat/completions?api-version=1",
            "api-key",
        ),
        (
            a_config("openai", "gpt-5", base_url=f"{AZURE}/openai/deployments/d/"),
            "r.openai.azure.com",
            "/openai/deployments/d/chat/completions",
            "authorization",
        ),
        (
            a_config("azure", "my-deployment", base_url=AZURE),
            "r.openai.azure.com",
            "/openai/v1/chat/completions",
            "api-key",
        ),
        (
            a_config("openai-compat", "gpt-5", base_url="http://localhost:8000/v1"),
            "localhost",
            "/v1/chat/completions",
            "authorization",
        ),
        (
            a_config("openrouter", "openai/gpt-5"),
            "openrouter.ai",
            "/api/v1/chat/completions",
            "authorization",
        ),
        (
            a_config("vercel", "openai/gpt-5"),
            "ai-gateway.vercel.sh",
            "/v1/chat/completions",
            "authorization",
        ),
    ],
    ids=lambda value: str(value) if hasattr(value, "provider") else "",
)
async def test_each_provider_is_asked_on_its_own_wire(
    config, host, target, header, autojump_clock, nursery
):
    network = Network(nursery, [[whole(b"{}", 401)]])

    await connect(config, HttpClient(network.dial)).generate(hello(config.model))

    [request] = network.requests
    assert (host, target) == (network.origins[0].host, request.target)
    assert "token" in request.headers[header] or "key" in request.headers[header]


@pytest.mark.parametrize(
    "type", ["anthropic", "bedrock", "google", "openai", "azure", "openrouter", "vercel"]
)
async def test_a_base_url_of_ones_own_is_where_everybody_is_asked(type, autojump_clock, nursery):
    network = Network(nursery, [[whole(b"{}", 401)]])
    config = a_config(type, "m", base_url="http://proxy.test:8080/x")

    await connect(config, HttpClient(network.dial)).generate(hello())

    assert ("http", "proxy.test", 8080) == (
        network.origins[0].scheme,
        network.origins[0].host,
        network.origins[0].port,
    )
    assert network.requests[0].target.startswith("/x/")


@pytest.mark.parametrize(
    ("config", "responses"),
    [
        (a_config("openai", "gpt-5"), True),
        (a_config("openai", "some-model"), False),
        (a_config("openai", "some-model", use_responses_api=True), True),
        (a_config("openai", "gpt-5", use_responses_api=False), False),
        (a_config("azure", "gpt-5", base_url=AZURE, use_responses_api=False), True),
        (a_config("azure", "some-model", base_url=AZURE, use_responses_api=True), False),
        (a_config("openrouter", "openai/gpt-5", use_responses_api=True), False),
        (a_config("openai-compat", "gpt-5", use_responses_api=True), False),
        (a_config("anthropic", "claude"), False),
    ],
    ids=str,
)
def test_which_of_openais_interfaces_is_spoken(config, responses):
    assert responses is (wire_of(config) is Wire.RESPONSES)


def test_the_wire_of_a_model_at_bedrock_decides_what_files_it_takes():
    models = [
        connect_model(a_config("bedrock", name), HttpClient(None))
        for name in ("anthropic.claude", "amazon.nova-pro-v1:0")
    ]

    assert [model.rules.is_anthropic for model in models] == [True, False]
    assert [model.rules.takes("text/csv") for model in models] == [True, False]
    assert all(model.rules.takes("image/png") for model in models)


@pytest.mark.parametrize(
    "config",
    [
        a_config("anthropic"),
        a_config("openai", "gpt-5", base_url="https://openrouter.ai/api/v1"),
        a_config("openai", "openai/gpt-5", base_url="https://gateway.test/v1"),
        a_config("openai", "openai/gpt-5", base_url="https://notopenrouter.ai/v1"),
        a_config("openrouter", "openai/gpt-5", base_url="https://openrouter.ai/api/v1"),
        a_config("azure", "gpt-5", base_url=AZURE),
    ],
    ids=lambda config: f"{config} {config.provider.base_url}",
)
def test_what_can_be_asked_is_well_configured(config):
    assert misconfiguration(config.provider, config.model) is None


@pytest.mark.parametrize(
    ("config", "wrong"),
    [
        (a_config("azure", "gpt-5"), "needs a base URL"),
        (a_config("openai-compat", "m"), "needs a base URL"),
        (a_config(base_url="api.test"), "base URL: must begin with http:// or https://"),
        (
            a_config("openai", "openai/gpt-5", base_url="https://eu.openrouter.ai/api/v1"),
            "which needs a provider of type openrouter",
        ),
    ],
)
def test_what_would_only_come_out_when_it_is_asked_is_said_before(config, wrong):
    assert wrong in misconfiguration(config.provider, config.model)


def test_a_key_of_azures_is_never_shown_to_openai():
    with pytest.raises(AssertionError, match="azure needs a base URL"):
        connect(a_config("azure", "gpt-5"), HttpClient(None))


@pytest.mark.parametrize("vendor", VENDORS, ids=lambda vendor: vendor.type)
def test_every_vendor_is_asked_on_a_wire_or_not_at_all(vendor):
    config = a_config(vendor.type, base_url=vendor.base_url or "https://own.test/v1")

    if vendor.wire is None:
        with pytest.raises(AssertionError, match="is never asked"):
            connect(config, HttpClient(None))
    else:
        assert connect(config, HttpClient(None)).statistics().skipped == {}
