"""One call to a provider, from request to deltas, the same for every provider.

Each provider brings a `Decoder` of its own, which is pure. Whatever goes wrong in either becomes a
`AnswerFailed` in our own words.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Protocol

import msgspec
import trio

from actors.chat.turn.ports import Batch, TakeBatch
from actors.law.parts.assemble import Assembly, ModelAnswer
from actors.law.parts.deltas import AnswerFailed, AnswerFinished, Delta, ProviderFailure
from adapters.models.providers.faults import (
    BrokenStream,
    CalledProvider,
    CallFailed,
    ConnectionLost,
    call_failure,
    refusal_failure,
)
from adapters.models.providers.http import HttpClient, ProviderRequest, ProviderResponse
from adapters.models.providers.sse import valid_text
from runtime import clock

ANSWER_BYTES_MAX = 256 * 1024 * 1024  # on the wire; a longer answer breaks the stream
REFUSAL_BYTES_MAX = 128 * 1024  # of the body of an error; the rest is not read
# Raised by decoders for JSON that they cannot read: broken, not UTF-8, or too deep.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_FACTS: dict[type[Exception], str] = {
    UnicodeDecodeError: "it is not UTF-8",
    RecursionError: "it is nested too deeply",
}
DRAIN_SECONDS_MAX = 0.1  # to wait for the end of the body after the provider's last event


class Decoder(Protocol):
    """A decoder of the stream of one answer. Raises `CallFailed`."""

    truncated: str  # the failure that is told when the body ends before the last delta

    def feed(self, data: bytes) -> list[Delta]:
        """Return the deltas that these bytes complete; the last of all is `AnswerFinished`."""
        ...

    def close(self) -> list[Delta]:
        """Return the last deltas, if the end of the body is what ends an answer; else nothing."""
        ...


@asynccontextmanager
async def stream_answer(
    client: HttpClient, request: ProviderRequest, *, decoder: Decoder, who: CalledProvider
) -> AsyncIterator[AsyncIterator[Batch]]:
    """Make a call whose answer comes in batches of deltas. Leaving hangs up."""
    async with AsyncExitStack() as stack:
        yield _Batches(stack, client, request=request, decoder=decoder, who=who)


async def whole_answer(
    client: HttpClient,
    request: ProviderRequest,
    *,
    decode: Callable[[bytes], list[Delta]],
    who: CalledProvider,
) -> ModelAnswer | ProviderFailure:
    """Make a call whose answer comes whole; `decode` makes the deltas of its body."""
    try:
        async with client.call(request) as response:
            if failure := await _refusal(response, who):
                return failure
            body = await response.read(ANSWER_BYTES_MAX)
            if not response.framing.ended:
                raise BrokenStream("http: the answer is too long")
        assembly = Assembly()
        now = clock.wall()
        try:
            deltas = decode(valid_text(body))
        except UNREADABLE as error:
            raise BrokenStream(f"answer: {_fact(error)}") from error
        for delta in deltas:
            assembly.add(delta, now)
        return assembly.answer()
    except CallFailed as error:
        return call_failure(error, who, clock.wall())


class _Batches:
    """An iterator over the batches of an answer; used by one task."""

    def __init__(
        self,
        stack: AsyncExitStack,
        client: HttpClient,
        *,
        request: ProviderRequest,
        decoder: Decoder,
        who: CalledProvider,
    ) -> None:
        self._stack = stack
        self._client = client
        self._request = request
        self._decoder = decoder
        self._who = who
        self._response: ProviderResponse | None = None
        self._bytes = 0
        self._over = False

    def __aiter__(self) -> "_Batches":
        return self

    async def __anext__(self) -> Batch:
        if self._over:
            await self._drain()
            raise StopAsyncIteration
        batch = await self._next()
        self._over = isinstance(batch[-1], AnswerFinished | AnswerFailed)
        return batch

    async def hear(self, take: TakeBatch) -> None:
        """Fulfils `actors.chat.turn.ports.HearsTogether`."""
        async for batch in self:
            if not take(batch) or self._over or self._response is None:
                continue
            try:
                await self._response.each(partial(self._fed, take))
            except CallFailed as error:
                self._over = True
                take((AnswerFailed(call_failure(error, self._who, clock.wall())),))

    def _fed(self, take: TakeBatch, data: bytes) -> bool:
        """Take a piece of the body. Return False if the answer is over."""
        if batch := self._decoded(data):
            self._over = isinstance(batch[-1], AnswerFinished | AnswerFailed)
            take(batch)
        return not self._over

    async def _next(self) -> Batch:
        try:
            if self._response is None:
                call = self._client.call(self._request)
                self._response = await self._stack.enter_async_context(call)
                if failure := await _refusal(self._response, self._who):
                    return (AnswerFailed(failure),)
            return await self._read(self._response)
        except CallFailed as error:
            return (AnswerFailed(call_failure(error, self._who, clock.wall())),)

    async def _read(self, response: ProviderResponse) -> Batch:
        while data := await response.receive():
            if batch := self._decoded(data):
                return batch
        if batch := self._decoder.close():
            return batch
        raise ConnectionLost(self._decoder.truncated)

    def _decoded(self, data: bytes) -> Batch:
        """Return the deltas that a piece of the body completes; there may be none."""
        self._bytes += len(data)
        if self._bytes > ANSWER_BYTES_MAX:
            raise BrokenStream("http: the answer is too long")
        try:
            return self._decoder.feed(data)
        except UNREADABLE as error:
            raise BrokenStream(f"answer: {_fact(error)}") from error

    async def _drain(self) -> None:
        """Read to the end of the body, so that the connection can be used again."""
        if self._response is None:
            return
        with suppress(CallFailed), trio.move_on_after(DRAIN_SECONDS_MAX):
            while await self._response.receive():
                pass


async def _refusal(response: ProviderResponse, who: CalledProvider) -> ProviderFailure | None:
    if 200 <= response.status < 300:
        return None
    body = await response.read(REFUSAL_BYTES_MAX)
    return refusal_failure(response.status, response.headers, body, who=who, now=clock.wall())


def _fact(error: Exception) -> str:
    return _FACTS.get(type(error)) or str(error)
