"""A provider that speaks Chat Completions, with its key."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from uuid import uuid4

from actors.chat.turn.ports import Batch
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import Vendor
from adapters.models.providers.dial import split_url
from adapters.models.providers.facts.openai import key_headers, target_of
from adapters.models.providers.faults import CalledProvider, SkippedKinds, SkippedStatistics
from adapters.models.providers.http import HttpClient, ProviderRequest, identity
from adapters.models.providers.openai_chat.request import answer_tool, request_body
from adapters.models.providers.openai_chat.response import ChatDecoder
from adapters.models.providers.streaming import stream_answer, whole_answer


class ChatCompletionsProvider:
    """A provider that speaks Chat Completions.

    A base URL may carry a query, which is Azure's way to name the version of its interface.
    """

    def __init__(
        self, client: HttpClient, key: str, *, vendor: Vendor, base_url: str | None = None
    ) -> None:
        base = base_url or vendor.base_url
        if base is None:
            raise ValueError(f"provider/{vendor.type}: has no base URL, set one")
        self._client = client
        self._origin, _ = split_url(base)
        self._dialect = vendor.dialect_at(self._origin.host)
        self._target = target_of(base, "/chat/completions")
        self._headers = key_headers(key, vendor.key_header)
        self._who = CalledProvider(vendor.type, (key,))
        self._skipped = SkippedKinds()

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        request = self._request(prompt, stream=True)
        return stream_answer(self._client, request, decoder=self._decoder(prompt), who=self._who)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        request = self._request(prompt, stream=False)
        decode = self._decoder(prompt).whole
        return await whole_answer(self._client, request, decode=decode, who=self._who)

    def statistics(self) -> SkippedStatistics:
        return self._skipped.statistics()

    def _decoder(self, prompt: Prompt) -> ChatDecoder:
        tool = answer_tool(prompt, self._dialect)
        return ChatDecoder(uuid4().hex, answer_tool=tool, skipped=self._skipped)

    def _request(self, prompt: Prompt, *, stream: bool) -> ProviderRequest:
        headers = (
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream" if stream else "application/json"),
            *self._headers,
            *identity(prompt.asker),
        )
        body = request_body(prompt, self._dialect, stream=stream)
        return ProviderRequest(self._origin, self._target, headers, body)
