"""Google as a provider of Gemini, at the Gemini API or, by base URL, at Vertex."""

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from urllib.parse import quote
from uuid import uuid4

from actors.chat.turn.ports import Batch
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import GOOGLE
from adapters.models.providers.dial import split_url
from adapters.models.providers.faults import CalledProvider, SkippedKinds, SkippedStatistics
from adapters.models.providers.google.request import request_body
from adapters.models.providers.google.response import GeminiDecoder
from adapters.models.providers.http import HttpClient, ProviderRequest, identity
from adapters.models.providers.streaming import stream_answer, whole_answer

# The hosts of Vertex: global, of a region, of a part of the world. Its key is an access token.
_VERTEX = re.compile(r"([a-z0-9-]+-)?aiplatform\.([a-z0-9-]+\.rep\.)?googleapis\.com")


class GeminiProvider:
    """A provider of Gemini. A base URL of Vertex ends in `/publishers/google`."""

    def __init__(
        self,
        client: HttpClient,
        key: str,
        *,
        base_url: str = GOOGLE.base_url or "",
        name: str = GOOGLE.type,
    ) -> None:
        self._client = client
        self._origin, self._path = split_url(base_url)
        self._vertex = _VERTEX.fullmatch(self._origin.host) is not None
        self._key = ("Authorization", f"Bearer {key}") if self._vertex else ("X-Goog-Api-Key", key)
        self._who = CalledProvider(name, (key,))
        self._skipped = SkippedKinds()

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        request = self._request(prompt, "streamGenerateContent?alt=sse")
        return stream_answer(self._client, request, decoder=self._decoder(), who=self._who)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        request = self._request(prompt, "generateContent")
        decode = self._decoder().whole
        return await whole_answer(self._client, request, decode=decode, who=self._who)

    def statistics(self) -> SkippedStatistics:
        return self._skipped.statistics()

    def _decoder(self) -> GeminiDecoder:
        return GeminiDecoder(uuid4().hex, self._skipped)

    def _request(self, prompt: Prompt, method: str) -> ProviderRequest:
        name = prompt.model if "/" in prompt.model else f"models/{prompt.model}"
        headers = (("Content-Type", "application/json"), self._key, *identity(prompt.asker))
        body = request_body(prompt, at_vertex=self._vertex)
        return ProviderRequest(self._origin, f"{self._path}/{quote(name)}:{method}", headers, body)
