"""AWS Bedrock as a provider of the models of other makers than Anthropic."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from actors.chat.turn.ports import Batch
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.deltas import AnswerFailed, ProviderFailure
from actors.law.parts.prompt import Prompt
from adapters.models.providers.bedrock.aws import Credentials
from adapters.models.providers.bedrock.endpoint import BedrockEndpoint
from adapters.models.providers.bedrock_converse.request import answer_tool_of, request_body
from adapters.models.providers.bedrock_converse.response import ConverseDecoder, WholeAnswerDecoder
from adapters.models.providers.faults import CalledProvider, SkippedKinds, SkippedStatistics
from adapters.models.providers.http import HttpClient, ProviderRequest
from adapters.models.providers.streaming import stream_answer, whole_answer

STREAM, WHOLE = "converse-stream", "converse"
MODELS_MAX = 1_000  # known not to stream; further ones are asked for a stream each time


class ConverseProvider:
    """A provider of all models at AWS Bedrock that speak Converse.

    Some of them stream nothing, or nothing where they have tools: AWS refuses to stream then, and
    the answer is asked for whole, from then on at once.
    """

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
        self._endpoint = BedrockEndpoint(credentials, region, base_url)
        self._who = CalledProvider(name, self._endpoint.secrets())
        self._skipped = SkippedKinds()
        self._streamless: set[tuple[str, bool]] = set()  # models, and whether they had tools

    @asynccontextmanager
    async def stream(self, prompt: Prompt) -> AsyncIterator[AsyncIterator[Batch]]:
        async with AsyncExitStack() as stack:
            yield _Batches(self, prompt, stack)

    async def generate(self, prompt: Prompt) -> ModelAnswer | ProviderFailure:
        request, decoder = self._request(prompt, WHOLE), self._decoder(prompt)
        return await whole_answer(self._client, request, decode=decoder.whole, who=self._who)

    def statistics(self) -> SkippedStatistics:
        return self._skipped.statistics()

    def streams(self, prompt: Prompt) -> bool:
        """Return whether a stream is asked for."""
        return _streaming_key(prompt) not in self._streamless

    def note_streamless(self, prompt: Prompt) -> None:
        """Ask for whole answers from now on."""
        if len(self._streamless) < MODELS_MAX:
            self._streamless.add(_streaming_key(prompt))

    def open(
        self, prompt: Prompt, *, whole: bool
    ) -> AbstractAsyncContextManager[AsyncIterator[Batch]]:
        """Return a call whose answer comes in batches: as they are made, or all in one."""
        decoder = self._decoder(prompt)
        request = self._request(prompt, WHOLE if whole else STREAM)
        return stream_answer(
            self._client,
            request,
            decoder=WholeAnswerDecoder(decoder) if whole else decoder,
            who=self._who,
        )

    def _decoder(self, prompt: Prompt) -> ConverseDecoder:
        return ConverseDecoder(answer_tool=answer_tool_of(prompt), skipped=self._skipped)

    def _request(self, prompt: Prompt, action: str) -> ProviderRequest:
        return self._endpoint.request(prompt.model, action, request_body(prompt), prompt.asker)


class _Batches:
    """An iterator over the batches of an answer that may not be streamed; used by one task."""

    def __init__(self, provider: ConverseProvider, prompt: Prompt, stack: AsyncExitStack) -> None:
        self._provider = provider
        self._prompt = prompt
        self._stack = stack
        self._batches: AsyncIterator[Batch] | None = None

    def __aiter__(self) -> "_Batches":
        return self

    async def __anext__(self) -> Batch:
        if self._batches is not None:
            return await anext(self._batches)
        streams = self._provider.streams(self._prompt)
        first = await self._begin(whole=not streams)
        if streams and _is_streamless(first):
            self._provider.note_streamless(self._prompt)
            first = await self._begin(whole=True)
        return first

    async def _begin(self, *, whole: bool) -> Batch:
        call = self._provider.open(self._prompt, whole=whole)
        self._batches = await self._stack.enter_async_context(call)
        return await anext(self._batches)


def _streaming_key(prompt: Prompt) -> tuple[str, bool]:
    return prompt.model, bool(prompt.tools)


def _is_streamless(first: Batch) -> bool:
    """Return whether AWS says that this model does not stream."""
    failed = first[0]
    if not isinstance(failed, AnswerFailed) or failed.failure.status_code != 400:
        return False
    return "streaming" in (failed.failure.detail or "").lower()
