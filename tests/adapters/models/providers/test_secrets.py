"""A key that a provider repeats comes out nowhere: not in a failure, not in what is logged."""

import json
import logging

import pytest

from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from actors.law.parts.vendors import VENDORS, Wire
from adapters.models.providers.anthropic.provider import AnthropicProvider
from adapters.models.providers.bedrock.aws import BearerToken
from adapters.models.providers.bedrock.provider import BedrockProvider
from adapters.models.providers.bedrock_converse.provider import ConverseProvider
from adapters.models.providers.google.provider import GeminiProvider
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat.provider import ChatCompletionsProvider
from adapters.models.providers.openai_responses.provider import ResponsesProvider
from tests.adapters.models.providers.replay import events
from tests.fakes.network import Network, streamed, whole

KEY = "not-like-any-vendors-key"
PROMPT = Prompt("model", (UserInput((TextPart("hi"),)),))
BASE = "https://own.test/v1"


def chat(vendor):
    return lambda client: ChatCompletionsProvider(client, KEY, vendor=vendor, base_url=BASE)


MAKE = {
    "anthropic": lambda client: AnthropicProvider(client, KEY),
    "bedrock": lambda client: BedrockProvider(client, BearerToken(KEY), region="us-east-1"),
    "converse": lambda client: ConverseProvider(client, BearerToken(KEY), region="us-east-1"),
    "google": lambda client: GeminiProvider(client, KEY),
    "responses": lambda client: ResponsesProvider(client, KEY),
    **{vendor.type: chat(vendor) for vendor in VENDORS if vendor.wire is Wire.CHAT},
}
SAID = f"the key {KEY} is not valid"
REFUSED = whole(json.dumps({"error": {"message": SAID}, "message": SAID}).encode(), 401)
REPORTED = streamed(
    events(json.dumps({"type": "error", "error": {"type": "x", "message": SAID}}).encode())
)


@pytest.mark.parametrize("answer", [REFUSED, REPORTED], ids=["refused", "in mid-stream"])
@pytest.mark.parametrize("name", MAKE)
async def test_a_key_that_is_repeated_does_not_come_out(
    name, answer, autojump_clock, nursery, caplog
):
    caplog.set_level(logging.DEBUG)
    provider = MAKE[name](HttpClient(Network(nursery, [[answer], [answer]]).dial))

    async with provider.stream(PROMPT) as batches:
        [failed] = [delta async for batch in batches for delta in batch]
    failure = await provider.generate(PROMPT)

    assert KEY not in f"{failed!r} {failure!r} {provider!r} {caplog.text}"
    if answer is REFUSED:
        assert "the key [redacted] is not valid" == failed.failure.detail == failure.detail
