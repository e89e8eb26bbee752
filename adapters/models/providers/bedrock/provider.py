"""AWS Bedrock as a provider of Anthropic's models."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

from actors.chat.turn.ports import Batch
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt, WebFetch, WebSearch
from adapters.models.providers.anthropic.events import MessageDecoder
from adapters.models.providers.anthropic.provider import answer_tool
from adapters.models.providers.anthropic.request import betas, body
from adapters.models.providers.bedrock.aws import Credentials
from adapters.models.providers.bedrock.endpoint import BedrockEndpoint
from adapters.models.providers.bedrock.events import EventSplitter
from adapters.models.providers.faults import CalledProvider, SkippedKinds, SkippedStatistics
from adapters.models.providers.http import HttpClient, ProviderRequest
from adapters.models.providers.streaming import stream_answer, whole_answer

API_VERSION = "bedrock-2023-05-31"

_PREFIXES = {"us-gov": "us-gov.", "us": "us.", "eu": "eu.", "ap": "apac."}  # the longest first


class BedrockProvider:
    """A provider of Anthropic's models at AWS Bedrock."""

    def __init__(
        self,
        client: HttpClient,
        credentials: Credentials,
        *,
        region: str,
        base_url: str | None = None,
        name: str = "bedrock",
    ) -> None:
        self._client = client
        self._region = region
        self._endpoint = BedrockEndpoint(credentials, region, base_url)
        self._who = CalledProvider(name, self._endpoint.secrets())
        self._skipped = SkippedKinds()

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        request = self._request(prompt, "invoke-with-response-stream")
        return stream_answer(self._client, request, decoder=self._decoder(prompt), who=self._who)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        decode = self._decoder(prompt).whole
        request = self._request(prompt, "invoke")
        return await whole_answer(self._client, request, decode=decode, who=self._who)

    def statistics(self) -> SkippedStatistics:
        return self._skipped.statistics()

    def _decoder(self, prompt: Prompt) -> MessageDecoder:
        tool = answer_tool(prompt)
        return MessageDecoder(EventSplitter(), answer_tool=tool, skipped=self._skipped)

    def _request(self, prompt: Prompt, action: str) -> ProviderRequest:
        """Return a request without searches and the reading of pages, which AWS does not have."""
        web = (WebSearch, WebFetch)
        tools = tuple(tool for tool in prompt.provider_tools if not isinstance(tool, web))
        prompt = replace(prompt, provider_tools=tools)
        extra: dict[str, object] = {"anthropic_version": API_VERSION}
        if wanted := betas(prompt):
            extra["anthropic_beta"] = wanted
        content = body(prompt, model=None, extra=extra)
        model = model_id(prompt.model, self._region)
        return self._endpoint.request(model, action, content, prompt.asker)


def model_id(model: str, region: str) -> str:
    """Return the id by which a region calls a model.

    Anthropic's models are called through a profile of the geography that the region is in.
    """
    if not model.startswith("anthropic."):
        return model  # its name has a geography, or is a profile of the account
    prefix = next((prefix for name, prefix in _PREFIXES.items() if region.startswith(name)), "")
    return f"{prefix}{model}"
