"""The client for programs on trio, or on anyio's other engine.

    async with AsyncClient("http://127.0.0.1:7390", token) as client:
        chat = await client.create("Name three rivers.")
        async with client.follow(chat.id) as events:
            async for event in events:
                ...

Connections that break are made again, and nothing is lost or told twice by it.
"""

import random
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

import anyio
import httpx2

from adapters.api.wire.chats import Chat
from adapters.api.wire.streams import ChatStreamEvent
from adapters.client import asks, exchange
from adapters.client.asks import Ask, Content
from adapters.client.faults import CONNECTIONS_MAX, Ended, Fault, Refused, told, wait_seconds
from adapters.client.following import Following
from adapters.client.transcript import Transcript

T = TypeVar("T")


class AsyncClient:
    """One connection pool and one token."""

    def __init__(
        self, url: str, token: str, *, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._url = url
        self._organization: UUID | None = None
        self._http = httpx2.AsyncClient(
            base_url=url,
            headers=exchange.headers(token),
            timeout=exchange.ANSWER_SECONDS,
            transport=transport,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def do(self, ask: Ask[T]) -> T:
        """The answer; Refused if the daemon says no, Unreachable if it says nothing."""
        ask = exchange.keyed(ask, str(uuid4()))
        for attempt in count(1):
            try:
                came = await self._http.request(**exchange.request(ask))
                return exchange.answer(ask, came)
            except (httpx2.TransportError, Refused) as fault:
                delay = wait_seconds(fault, attempt, chance=random.random())
                if delay is None or not ask.is_repeatable:
                    raise told(fault, self._url) from fault
            await anyio.sleep(delay)
        raise AssertionError("it is answered or given up")

    async def create(self, content: Content, **more: Any) -> Chat:
        """A new chat in the organization of whoever's token this is."""
        if self._organization is None:
            self._organization = (await self.do(asks.me())).organization_ids[0]
        return await self.do(asks.create_chat(self._organization, content, **more))

    @asynccontextmanager
    async def follow(
        self, chat: UUID, *, after_id: int = 0
    ) -> AsyncIterator[AsyncIterator[ChatStreamEvent]]:
        """What becomes of the chat, for ever: leave the loop when you have seen enough."""
        async with aclosing(self._followed(chat, Following(after_id))) as events:
            yield events

    async def _followed(
        self, chat: UUID, following: Following
    ) -> AsyncGenerator[ChatStreamEvent, None]:
        attempt = 0
        while True:
            try:
                async with aclosing(self._connected(chat, following)) as connected:
                    async for events in connected:
                        attempt = 0
                        for news in following.heard(events):
                            yield news
                fault: Fault = Ended()
            except (httpx2.TransportError, Refused) as error:
                fault = error
            following.lost()
            attempt += 1
            delay = wait_seconds(fault, attempt, chance=random.random(), tries_max=CONNECTIONS_MAX)
            if delay is None:
                raise told(fault, self._url) from fault
            await anyio.sleep(delay)

    async def _connected(
        self, chat: UUID, following: Following
    ) -> AsyncGenerator[list[ChatStreamEvent], None]:
        """The events of one connection, until it ends or breaks."""
        wanted = exchange.stream_of(chat, following)
        async with self._http.sse(**wanted, timeout=exchange.SILENCE_SECONDS) as stream:
            if stream.response.status_code != 200:
                await stream.response.aread()
                raise exchange.refusal(stream.response)
            async for event in stream:
                yield exchange.events(event)

    async def wait(self, chat: UUID, *, since: int = 0) -> Transcript:
        """Until the chat rests: its turn has ended, or it needs somebody to act. `since`: the id of
        the message that was sent, for what the chat did before it does not count."""
        seen = Transcript()
        async with self.follow(chat) as events:
            async for event in events:
                seen.apply(event)
                if seen.rests_since(since):
                    break
        return seen
