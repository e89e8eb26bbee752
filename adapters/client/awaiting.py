"""The client for programs on trio, or on anyio's other engine.

    async with AsyncClient("http://127.0.0.1:7390", token) as client:
        chat = await client.create("Name three rivers.")
        async with client.follow(chat.id) as events:
            async for event in events:
                ...

Connections that break are made again, and nothing is lost or told twice by it.
"""

import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

import anyio
import httpx2

from adapters.chats.wire.chats import Chat
from adapters.chats.wire.streams import ChatStreamEvent
from adapters.client import asks, exchange
from adapters.client.answering import Answering
from adapters.client.asks import Ask, Content
from adapters.client.faults import (
    CONNECTIONS_MAX,
    Ended,
    Fault,
    NoStream,
    Refused,
    Unreachable,
    told,
    wait_seconds,
)
from adapters.client.following import Following
from adapters.client.frames import READ_BYTES, Frames
from adapters.client.tools import ClientTool, definitions
from adapters.client.transcript import Transcript

T = TypeVar("T")

Read = Callable[[], Awaitable[list[ChatStreamEvent]]]
"""The next events of a connection, or StopAsyncIteration."""


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

    async def create(
        self, content: Content, *, tools: Sequence[ClientTool] = (), **more: Any
    ) -> Chat:
        """A new chat in the organization of whoever's token this is. `tools`: its model may call
        them, and whoever waits for the chat with them answers."""
        if self._organization is None:
            self._organization = (await self.do(asks.me())).organization_ids[0]
        if tools:
            more = {**more, "unsafe_dynamic_tools": definitions(tools)}
        return await self.do(asks.create_chat(self._organization, content, **more))

    def follow(self, chat: UUID, *, after_id: int = 0) -> "Followed":
        """What becomes of the chat, for ever: a block in which to read it, and to leave when you
        have seen enough."""
        return Followed(self._http, self._url, chat, Following(after_id))

    async def wait(
        self, chat: UUID, *, since: int = 0, tools: Sequence[ClientTool] = ()
    ) -> Transcript:
        """Until the chat rests: its turn has ended, or it needs somebody to act. `since`: the id of
        the message that was sent, for what the chat did before it does not count. With `tools`
        their calls are answered meanwhile."""
        seen = Transcript()
        is_enough = partial(_rests, seen, since, tools)
        if tools:
            await self._attended(chat, tools, seen, is_enough)
        else:
            await self._heard(chat, seen, lambda event: None, is_enough)
        return seen

    async def attend(self, chat: UUID, tools: Sequence[ClientTool]) -> None:
        """Answer the calls of these tools, whoever talks to the chat; until it is cancelled."""
        await self._attended(chat, tools, Transcript(), lambda: False)

    async def _attended(
        self,
        chat: UUID,
        tools: Sequence[ClientTool],
        seen: Transcript,
        is_enough: Callable[[], bool],
    ) -> None:
        fault: Refused | Unreachable | None = None
        async with anyio.create_task_group() as group:
            answering = Answering(self, chat, tools, group)
            try:
                await self._heard(chat, seen, partial(answering.heard, seen=seen), is_enough)
            except (Refused, Unreachable) as error:  # said as it is, and not in a group
                fault = error
            group.cancel_scope.cancel()
        if fault := fault or answering.fault:
            raise fault

    async def _heard(
        self,
        chat: UUID,
        seen: Transcript,
        hear: Callable[[ChatStreamEvent], None],
        is_enough: Callable[[], bool],
    ) -> None:
        async with self.follow(chat) as events:
            async for event in events:
                seen.apply(event)
                hear(event)
                if not _says_more(event, seen) and is_enough():
                    break


class Followed:
    """The events of a chat, over however many connections: `async with`, then `async for`."""

    def __init__(
        self, http: httpx2.AsyncClient, url: str, chat: UUID, following: Following
    ) -> None:
        self._http = http
        self._url = url
        self._chat = chat
        self._following = following
        self._news: deque[ChatStreamEvent] = deque()
        self._connection = AsyncExitStack()
        self._open = self._server_sent
        self._read: Read | None = None
        self._attempt = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._read = None  # the generators of the HTTP library end here, not after the event loop
        await self._connection.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChatStreamEvent:
        while not self._news:
            try:
                self._read = read = self._read or await self._open()
                self._news.extend(self._following.heard(await read()))
                self._attempt = 0
            except NoStream:
                await self._connection.aclose()
                self._open = self._socket
            except StopAsyncIteration:
                await self._lost(Ended())
            except (httpx2.TransportError, Refused, Ended) as fault:
                await self._lost(fault)
        return self._news.popleft()

    async def _server_sent(self) -> Read:
        wanted = exchange.stream_of(self._chat, self._following)
        opened = self._http.sse(**wanted, timeout=exchange.SILENCE_SECONDS)
        events = await self._connection.enter_async_context(opened)
        if exchange.has_no_stream(events.response):
            raise NoStream
        if events.response.status_code != 200:
            await events.response.aread()
            raise exchange.refusal(events.response)
        stream = aiter(events)

        async def read() -> list[ChatStreamEvent]:
            return exchange.events(await anext(stream))

        return read

    async def _socket(self) -> Read:
        wanted = exchange.socket_of(self._chat, self._following)
        opened = self._http.stream(**wanted, timeout=exchange.SILENCE_SECONDS)
        came = await self._connection.enter_async_context(opened)
        if came.status_code != 101:
            await came.aread()
            raise exchange.refusal(came)
        stream, frames = came.extensions["network_stream"], Frames()

        async def read() -> list[ChatStreamEvent]:
            while (text := frames.next()) is None:
                with exchange.faults_of_the_network():
                    data = await stream.read(READ_BYTES, timeout=exchange.SILENCE_SECONDS)
                    if back := frames.heard(data):
                        await stream.write(back, timeout=exchange.SILENCE_SECONDS)
            return exchange.batch(text)

        return read

    async def _lost(self, fault: Fault) -> None:
        """Wait, and be ready for the next connection; or give up."""
        await self._connection.aclose()
        self._read = None
        self._following.lost()
        self._attempt += 1
        delay = wait_seconds(
            fault, self._attempt, chance=random.random(), tries_max=CONNECTIONS_MAX
        )
        if delay is None:
            raise told(fault, self._url) from fault
        await anyio.sleep(delay)


def _says_more(event: ChatStreamEvent, seen: Transcript) -> bool:
    """A chat that begins to wait says next what for; agents of it may wait for consent already."""
    return event.type == "status" and seen.status == "requires_action"


def _rests(seen: Transcript, since: int, tools: Sequence[ClientTool]) -> bool:
    """A chat that waits for these tools does not rest; one that waits for consent does."""
    return seen.rests_since(since) and not (tools and seen.pending)
