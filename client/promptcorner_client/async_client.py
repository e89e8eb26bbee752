"""The client for programs on asyncio or trio.

    async with AsyncClient("http://127.0.0.1:7390", token) as client:
        chat = await client.create("Name three rivers.")
        async with client.follow(chat.id) as events:
            async for event in events:
                ...

Connections that break are made again, and no event is lost or passed on twice.
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

from promptcorner_client import api, http_messages
from promptcorner_client.api import ApiRequest, Content
from promptcorner_client.errors import (
    CONNECTIONS_MAX,
    ConnectionFault,
    EventStreamMissing,
    RequestRefused,
    ServerUnreachable,
    StreamEnded,
    final_error,
    seconds_before_retry,
)
from promptcorner_client.resuming import ResumableStream
from promptcorner_client.tool_runner import ToolRunner
from promptcorner_client.tools import ClientTool, definitions
from promptcorner_client.transcript import Transcript
from promptcorner_client.websocket import READ_BYTES, WebSocketReader
from promptcorner_client.wire import Chat, ChatStreamEvent

T = TypeVar("T")

ReadEvents = Callable[[], Awaitable[list[ChatStreamEvent]]]
"""Returns the next events of a connection, or raises StopAsyncIteration."""


class AsyncClient:
    """A daemon as a program on asyncio or trio sees it: one connection pool and one token."""

    def __init__(
        self, url: str, token: str, *, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._url = url
        self._organization: UUID | None = None
        self._open_pool = partial(
            httpx2.AsyncClient,
            base_url=url,
            headers=http_messages.headers(token),
            timeout=http_messages.ANSWER_SECONDS,
            transport=transport,
        )
        self._http = self._open_pool()

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
        """Close all connections."""
        await self._http.aclose()

    async def renew_connections(self) -> None:
        """Close all connections, and use new ones from now on.

        After a machine has slept its connections may be dead, and nothing shows it: a request on
        one of them would wait until it counts as lost. A request that is on its way fails like one
        whose connection broke, and is sent again where that is safe.
        """
        before, self._http = self._http, self._open_pool()
        await before.aclose()

    async def request(self, request: ApiRequest[T]) -> T:
        """Return the answer; raise RequestRefused, or ServerUnreachable if none comes."""
        request = http_messages.with_key(request, str(uuid4()))
        for attempt in count(1):
            try:
                response = await self._http.request(**http_messages.request_arguments(request))
                return http_messages.read_answer(request, response)
            except (httpx2.TransportError, RequestRefused) as fault:
                delay = seconds_before_retry(fault, attempt, chance=random.random())
                if delay is None or not request.is_repeatable:
                    raise final_error(fault, self._url) from fault
            await anyio.sleep(delay)
        raise AssertionError("the last try returns or raises")

    async def create(
        self, content: Content, *, tools: Sequence[ClientTool] = (), **more: Any
    ) -> Chat:
        """Create a chat in the organization of the token's user.

        Its model may call the `tools`; `wait` and `attend` answer such calls. `more` are further
        fields of the request (`api.create_chat`).
        """
        if self._organization is None:
            self._organization = (await self.request(api.me())).organization_ids[0]
        if tools:
            more = {**more, "unsafe_dynamic_tools": definitions(tools)}
        return await self.request(api.create_chat(self._organization, content, **more))

    def follow(
        self,
        chat: UUID,
        *,
        after_id: int = 0,
        history_version: int = 0,
        connections_max: int = CONNECTIONS_MAX,
    ) -> "ChatEvents":
        """Return the chat's events, which never end: leave the block when you have seen enough.

        Messages up to `after_id` are not told, as far as they are those that a page of messages
        with this `history_version` has shown. So many connections in a row may come to nothing;
        then the stream raises.
        """
        stream = ResumableStream(after_id, history_version)
        return ChatEvents(lambda: self._http, self._url, chat, stream, connections_max)

    async def wait(
        self, chat: UUID, *, since: int = 0, tools: Sequence[ClientTool] = ()
    ) -> Transcript:
        """Wait until the chat rests: its turn has ended, or it needs somebody to act.

        `since` is the id of the message that was sent: a rest from before it does not count. With
        `tools`, their calls are answered meanwhile.
        """
        transcript = Transcript()
        is_enough = partial(_rests, transcript, since, tools)
        if tools:
            await self._follow_with_tools(chat, tools, transcript, is_enough)
        else:
            await self._follow_until(chat, transcript, lambda event: None, is_enough)
        return transcript

    async def attend(self, chat: UUID, tools: Sequence[ClientTool]) -> None:
        """Answer the calls of these tools until cancelled, whichever program talks to the chat."""
        await self._follow_with_tools(chat, tools, Transcript(), lambda: False)

    async def _follow_with_tools(
        self,
        chat: UUID,
        tools: Sequence[ClientTool],
        transcript: Transcript,
        is_enough: Callable[[], bool],
    ) -> None:
        fault: RequestRefused | ServerUnreachable | None = None
        async with anyio.create_task_group() as group:
            runner = ToolRunner(self, chat, tools, group)
            note = partial(runner.note, transcript=transcript)
            try:
                await self._follow_until(chat, transcript, note, is_enough)
            except (RequestRefused, ServerUnreachable) as error:  # raised below, not in a group
                fault = error
            group.cancel_scope.cancel()
        if fault := fault or runner.fault:
            raise fault

    async def _follow_until(
        self,
        chat: UUID,
        transcript: Transcript,
        note: Callable[[ChatStreamEvent], None],
        is_enough: Callable[[], bool],
    ) -> None:
        async with self.follow(chat) as events:
            async for event in events:
                transcript.apply(event)
                note(event)
                if not _is_followed_by_more(event, transcript) and is_enough():
                    break


class ChatEvents:
    """The events of a chat, over any number of connections: `async with`, then `async for`.

    The block may be entered again after it was left; it goes on where it was.
    """

    def __init__(
        self,
        http: Callable[[], httpx2.AsyncClient],
        url: str,
        chat: UUID,
        stream: ResumableStream,
        connections_max: int = CONNECTIONS_MAX,
    ) -> None:
        self._connections_max = connections_max
        self._http = http
        self._url = url
        self._chat = chat
        self._stream = stream
        self._events: deque[ChatStreamEvent] = deque()
        self._connection = AsyncExitStack()
        self._open = self._open_event_stream
        self._read: ReadEvents | None = None
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
        self._stream.disconnected()
        await self._connection.aclose()

    def __aiter__(self) -> Self:
        return self

    @property
    def is_connected(self) -> bool:
        """Tell whether there is a connection: if not, the next one is being made, or waited for."""
        return self._read is not None

    async def __anext__(self) -> ChatStreamEvent:
        while not self._events:
            try:
                self._read = read = self._read or await self._open()
                self._events.extend(self._stream.feed(await read()))
                self._attempt = 0
            except EventStreamMissing:
                await self._connection.aclose()
                self._open = self._open_websocket
            except StopAsyncIteration:
                await self._disconnect(StreamEnded())
            except (httpx2.TransportError, RequestRefused, StreamEnded) as fault:
                await self._disconnect(fault)
        return self._events.popleft()

    async def _open_event_stream(self) -> ReadEvents:
        arguments = http_messages.event_stream_arguments(self._chat, self._stream)
        opening = self._http().sse(**arguments, timeout=http_messages.SILENCE_SECONDS)
        messages = await self._connection.enter_async_context(opening)
        if http_messages.lacks_event_stream(messages.response):
            raise EventStreamMissing
        if messages.response.status_code != 200:
            await messages.response.aread()
            raise http_messages.refusal(messages.response)
        iterator = aiter(messages)

        async def read() -> list[ChatStreamEvent]:
            return http_messages.events_of(await anext(iterator))

        return read

    async def _open_websocket(self) -> ReadEvents:
        arguments = http_messages.websocket_arguments(self._chat, self._stream)
        opening = self._http().stream(**arguments, timeout=http_messages.SILENCE_SECONDS)
        response = await self._connection.enter_async_context(opening)
        if response.status_code != 101:
            await response.aread()
            raise http_messages.refusal(response)
        network, reader = response.extensions["network_stream"], WebSocketReader()

        async def read() -> list[ChatStreamEvent]:
            while (text := reader.next_message()) is None:
                with http_messages.as_httpx_errors():
                    data = await network.read(READ_BYTES, timeout=http_messages.SILENCE_SECONDS)
                    if reply := reader.feed(data):
                        await network.write(reply, timeout=http_messages.SILENCE_SECONDS)
            return http_messages.decode_events(text)

        return read

    async def _disconnect(self, fault: ConnectionFault) -> None:
        """Wait before the next connection, or raise if this was the last one."""
        await self._connection.aclose()
        self._read = None
        self._stream.disconnected()
        self._attempt += 1
        delay = seconds_before_retry(
            fault, self._attempt, chance=random.random(), tries_max=self._connections_max
        )
        if delay is None:
            raise final_error(fault, self._url) from fault
        await anyio.sleep(delay)


def _is_followed_by_more(event: ChatStreamEvent, transcript: Transcript) -> bool:
    """Tell whether the next event says what the chat waits for.

    It follows a status that says that the chat waits. Approvals of its agents may be there already.
    """
    return event.type == "status" and transcript.status == "requires_action"


def _rests(transcript: Transcript, since: int, tools: Sequence[ClientTool]) -> bool:
    """Tell whether the chat rests; one that waits for results of these tools does not."""
    return transcript.rests_since(since) and not (tools and transcript.pending)
