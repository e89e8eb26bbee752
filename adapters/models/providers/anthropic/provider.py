"""Anthropic as a provider of models."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager

from actors.chat.turn.ports import Batch
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import ProviderFailure
from actors.law.parts.prompt import Prompt
from actors.law.parts.vendors import ANTHROPIC
from adapters.models.providers.anthropic.events import MessageDecoder, sse_split
from adapters.models.providers.anthropic.request import betas, body
from adapters.models.providers.dial import split_url
from adapters.models.providers.faults import CalledProvider, SkippedKinds, SkippedStatistics
from adapters.models.providers.http import HttpClient, ProviderRequest, identity
from adapters.models.providers.streaming import stream_answer, whole_answer

API_VERSION = "2023-06-01"


class AnthropicProvider:
    """A provider of Anthropic's models: Anthropic, or a server that speaks as it does."""

    def __init__(
        self,
        client: HttpClient,
        key: str,
        *,
        base_url: str = ANTHROPIC.base_url or "",
        name: str = ANTHROPIC.type,
    ) -> None:
        self._client = client
        self._key = key
        self._origin, path = split_url(base_url)
        self._target = f"{path.removesuffix('/v1')}/v1/messages"
        self._who = CalledProvider(name, (key,))
        self._skipped = SkippedKinds()

    def stream(self, prompt: Prompt) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        request = self._request(prompt, streamed=True)
        return stream_answer(self._client, request, decoder=self._decoder(prompt), who=self._who)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        request = self._request(prompt, streamed=False)
        decode = self._decoder(prompt).whole
        return await whole_answer(self._client, request, decode=decode, who=self._who)

    def statistics(self) -> SkippedStatistics:
        return self._skipped.statistics()

    def _decoder(self, prompt: Prompt) -> MessageDecoder:
        tool = answer_tool(prompt)
        return MessageDecoder(sse_split(), answer_tool=tool, skipped=self._skipped)

    def _request(self, prompt: Prompt, *, streamed: bool) -> ProviderRequest:
        headers = [
            ("Content-Type", "application/json"),
            ("Accept", "text/event-stream" if streamed else "application/json"),
            ("Anthropic-Version", API_VERSION),
            ("X-Api-Key", self._key),
            *identity(prompt.asker),
        ]
        if wanted := betas(prompt):
            headers.append(("Anthropic-Beta", ",".join(wanted)))
        extra: dict[str, object] = {"stream": True} if streamed else {}
        content = body(prompt, model=prompt.model, extra=extra)
        return ProviderRequest(self._origin, self._target, tuple(headers), content)


def answer_tool(prompt: Prompt) -> str | None:
    """Return the tool by whose input the model answers, if the answer has a schema."""
    return prompt.answer_schema.name if prompt.answer_schema else None
