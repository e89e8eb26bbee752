"""Whole answers on every wire: JSON that is no answer, and answers with missing fields."""

import json

import pytest

from actors.law.parts.deltas import ProviderFailure
from adapters.models.connecting import connect
from adapters.models.providers.http import HttpClient
from tests.adapters.models.given import a_config, hello
from tests.fakes.network import Network, whole

CONFIGS = [
    a_config("anthropic", "claude"),
    a_config("bedrock", "anthropic.claude"),
    a_config("bedrock", "amazon.nova-pro-v1:0"),
    a_config("google", "gemini-2.5-pro"),
    a_config("openai", "gpt-5"),
    a_config("openai", "gpt-5", use_responses_api=False),
    a_config("openai-compat", "m", base_url="http://localhost:8000/v1"),
]


async def answered(config, body, nursery):
    network = Network(nursery, [[whole(json.dumps(body).encode())]])
    return await connect(config, HttpClient(network.dial)).generate(hello(config.model))


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize(
    "body", [{}, {"status": "ok"}, {"id": "x", "choices": []}, {"data": []}, [], None, "ok"]
)
async def test_json_that_is_no_answer_is_a_failure(config, body, autojump_clock, nursery):
    found = await answered(config, body, nursery)

    assert isinstance(found, ProviderFailure)
    assert not found.retryable


async def test_a_whole_answer_without_a_finish_reason_is_an_answer(autojump_clock, nursery):
    """Snowflake sends none, neither whole nor in streams."""
    body = {"id": "c", "choices": [{"message": {"content": "hi", "role": "assistant"}}]}

    found = await answered(CONFIGS[-1], body, nursery)

    assert [part.text for part in found.parts] == ["hi"]


async def test_calls_of_a_whole_answer_without_a_finish_reason_are_run(autojump_clock, nursery):
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}
    body = {"choices": [{"message": {"content": None, "tool_calls": [call]}}]}

    found = await answered(CONFIGS[-1], body, nursery)

    assert [call.id for call in found.local_calls] == ["c1"]
    assert found.reason.value == "tool_calls"
