"""The client for programs that block.

    with Client("http://127.0.0.1:7390", token) as client:
        chat = client.create("Name three rivers.")
        with client.follow(chat.id) as events:
            for event in events:
                ...

Connections that break are made again, and no event is lost or passed on twice.
"""

import random
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import count
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID, uuid4

import httpx2

from promptcorner_client import api, http_messages
from promptcorner_client.api import ApiRequest, Content
from promptcorner_client.errors import (
    CONNECTIONS_MAX,
    ConnectionFault,
    EventStreamMissing,
    RequestRefused,
    StreamEnded,
    final_error,
    seconds_before_retry,
)
from promptcorner_client.resuming import ResumableStream
from promptcorner_client.transcript import Transcript
from promptcorner_client.websocket import READ_BYTES, WebSocketReader
from promptcorner_client.wire import Chat, ChatStreamEvent

T = TypeVar("T")


class Client:
    """A daemon as a program that blocks sees it: one connection pool and one token."""

    def __init__(
        self, url: str, token: str, *, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self._url = url
        self._organization: UUID | None = None
        self._http = httpx2.Client(
            base_url=url,
            headers=http_messages.headers(token),
            timeout=http_messages.ANSWER_SECONDS,
            transport=transport,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def request(self, request: ApiRequest[T]) -> T:
        """Return the answer; raise RequestRefused, or ServerUnreachable if none comes."""
        request = http_messages.with_key(request, str(uuid4()))
        for attempt in count(1):
            try:
                response = self._http.request(**http_messages.request_arguments(request))
                return http_messages.read_answer(request, response)
            except (httpx2.TransportError, RequestRefused) as fault:
                delay = seconds_before_retry(fault, attempt, chance=random.random())
                if delay is None or not request.is_repeatable:
                    raise final_error(fault, self._url) from fault
            time.sleep(delay)
        raise AssertionError("the last try returns or raises")

    def create(self, content: Content, **more: Any) -> Chat:
        """Create a chat in the organization of the token's user.

        `more` are further fields of the request (`api.create_chat`).
        """
        if self._organization is None:
            self._organization = self.request(api.me()).organization_ids[0]
        return self.request(api.create_chat(self._organization, content, **more))

    @contextmanager
    def follow(
        self, chat: UUID, *, after_id: int = 0, history_version: int = 0
    ) -> Iterator[Iterator[ChatStreamEvent]]:
        """Yield the chat's events, which never end: leave the loop when you have seen enough.

        Messages up to `after_id` are not told, as far as they are those that a page of messages
        with this `history_version` has shown.
        """
        stream = ResumableStream(after_id, history_version)
        with closing(self._events(chat, stream)) as events:
            yield events

    def _events(
        self, chat: UUID, stream: ResumableStream
    ) -> Generator[ChatStreamEvent, None, None]:
        attempt, connect = 0, self._event_stream
        while True:
            try:
                for events in connect(chat, stream):
                    attempt = 0
                    yield from stream.feed(events)
                fault: ConnectionFault = StreamEnded()
            except EventStreamMissing:
                connect = self._websocket
                continue
            except (httpx2.TransportError, RequestRefused, StreamEnded) as error:
                fault = error
            stream.disconnected()
            attempt += 1
            delay = seconds_before_retry(
                fault, attempt, chance=random.random(), tries_max=CONNECTIONS_MAX
            )
            if delay is None:
                raise final_error(fault, self._url) from fault
            time.sleep(delay)

    def _event_stream(
        self, chat: UUID, stream: ResumableStream
    ) -> Generator[list[ChatStreamEvent], None, None]:
        """Yield the events of one connection, until it ends or breaks."""
        arguments = http_messages.event_stream_arguments(chat, stream)
        with self._http.sse(**arguments, timeout=http_messages.SILENCE_SECONDS) as messages:
            if http_messages.lacks_event_stream(messages.response):
                raise EventStreamMissing
            if messages.response.status_code != 200:
                messages.response.read()
                raise http_messages.refusal(messages.response)
            for message in messages:
                yield http_messages.events_of(message)

    def _websocket(
        self, chat: UUID, stream: ResumableStream
    ) -> Generator[list[ChatStreamEvent], None, None]:
        arguments = http_messages.websocket_arguments(chat, stream)
        with self._http.stream(**arguments, timeout=http_messages.SILENCE_SECONDS) as response:
            if response.status_code != 101:
                response.read()
                raise http_messages.refusal(response)
            network, reader = response.extensions["network_stream"], WebSocketReader()
            while True:
                while (text := reader.next_message()) is not None:
                    yield http_messages.decode_events(text)
                with http_messages.as_httpx_errors():
                    data = network.read(READ_BYTES, timeout=http_messages.SILENCE_SECONDS)
                    if reply := reader.feed(data):
                        network.write(reply, timeout=http_messages.SILENCE_SECONDS)

    def wait(self, chat: UUID, *, since: int = 0) -> Transcript:
        """Wait until the chat rests: its turn has ended, or it needs somebody to act.

        `since` is the id of the message that was sent: a rest from before it does not count.
        """
        transcript = Transcript()
        with self.follow(chat) as events:
            for event in events:
                transcript.apply(event)
                if transcript.rests_since(since):
                    break
        return transcript
