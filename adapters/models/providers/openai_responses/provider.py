"""A provider that speaks the Responses API, with its key: OpenAI, or Azure."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from actors.chat.turn.ports import Batch
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import OPENAI, Vendor
from adapters.models.providers.dial import split_url
from adapters.models.providers.facts.openai import is_openais_own, key_headers, target_of
from adapters.models.providers.faults import CalledProvider, SkippedKinds, SkippedStatistics
from adapters.models.providers.http import HttpClient, ProviderRequest, identity
from adapters.models.providers.openai_responses.request import request_body
from adapters.models.providers.openai_responses.response import ResponsesDecoder
from adapters.models.providers.streaming import stream_answer, whole_answer


class ResponsesProvider:
    """A provider that speaks the Responses API.

    The query of a base URL, if it has one, is kept.
    """

    def __init__(
        self,
        client: HttpClient,
        key: str,
        *,
        vendor: Vendor = OPENAI,
        base_url: str = OPENAI.base_url or "",
    ) -> None:
        self._client = client
        self._origin, _ = split_url(base_url)
        self._target = target_of(base_url, "/responses")
        self._headers = key_headers(key, vendor.key_header)
        self._who = CalledProvider(vendor.type, (key,))
        self._skipped = SkippedKinds()

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        request = self._request(prompt, stream=True)
        decoder = ResponsesDecoder(self._skipped)
        return stream_answer(self._client, request, decoder=decoder, who=self._who)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        request = self._request(prompt, stream=False)
        decode = ResponsesDecoder(self._skipped).whole
        return await whole_answer(self._client, request, decode=decode, who=self._who)

    def statistics(self) -> SkippedStatistics:
        return self._skipped.statistics()

    def _request(self, prompt: Prompt, *, stream: bool) -> ProviderRequest:
        headers = (
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream" if stream else "application/json"),
            *self._headers,
            *identity(prompt.asker),
        )
        plain = not is_openais_own(self._origin.host)
        body = request_body(prompt, stream=stream, plain_thoughts=plain)
        return ProviderRequest(self._origin, self._target, headers, body)
