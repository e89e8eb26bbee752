"""The client for programs that block.

    with Client("http://127.0.0.1:7390", token) as client:
        chat = client.create("Name three rivers.")
        with client.follow(chat.id) as events:
            for event in events:
                ...

Connections that break are made again, and nothing is lost or told twice by it.
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

from adapters.chats.wire.chats import Chat
from adapters.chats.wire.streams import ChatStreamEvent
from adapters.client import asks, exchange
from adapters.client.asks import Ask, Content
from adapters.client.faults import (
    CONNECTIONS_MAX,
    Ended,
    Fault,
    NoStream,
    Refused,
    told,
    wait_seconds,
)
from adapters.client.following import Following
from adapters.client.frames import READ_BYTES, Frames
from adapters.client.transcript import Transcript

T = TypeVar("T")


class Client:
    """One connection pool and one token."""

    def __init__(
        self, url: str, token: str, *, transport: httpx2.BaseTransport | None = None
    ) -> None:
        self._url = url
        self._organization: UUID | None = None
        self._http = httpx2.Client(
            base_url=url,
            headers=exchange.headers(token),
            timeout=exchange.ANSWER_SECONDS,
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
        self._http.close()

    def do(self, ask: Ask[T]) -> T:
        """The answer; Refused if the daemon says no, Unreachable if it says nothing."""
        ask = exchange.keyed(ask, str(uuid4()))
        for attempt in count(1):
            try:
                came = self._http.request(**exchange.request(ask))
                return exchange.answer(ask, came)
            except (httpx2.TransportError, Refused) as fault:
                delay = wait_seconds(fault, attempt, chance=random.random())
                if delay is None or not ask.is_repeatable:
                    raise told(fault, self._url) from fault
            time.sleep(delay)
        raise AssertionError("it is answered or given up")

    def create(self, content: Content, **more: Any) -> Chat:
        """A new chat in the organization of whoever's token this is."""
        if self._organization is None:
            self._organization = self.do(asks.me()).organization_ids[0]
        return self.do(asks.create_chat(self._organization, content, **more))

    @contextmanager
    def follow(self, chat: UUID, *, after_id: int = 0) -> Iterator[Iterator[ChatStreamEvent]]:
        """What becomes of the chat, for ever: leave the loop when you have seen enough."""
        with closing(self._followed(chat, Following(after_id))) as events:
            yield events

    def _followed(self, chat: UUID, following: Following) -> Generator[ChatStreamEvent, None, None]:
        attempt, connected = 0, self._server_sent
        while True:
            try:
                for events in connected(chat, following):
                    attempt = 0
                    yield from following.heard(events)
                fault: Fault = Ended()
            except NoStream:
                connected = self._socket
                continue
            except (httpx2.TransportError, Refused, Ended) as error:
                fault = error
            following.lost()
            attempt += 1
            delay = wait_seconds(fault, attempt, chance=random.random(), tries_max=CONNECTIONS_MAX)
            if delay is None:
                raise told(fault, self._url) from fault
            time.sleep(delay)

    def _server_sent(
        self, chat: UUID, following: Following
    ) -> Generator[list[ChatStreamEvent], None, None]:
        """The events of one connection, until it ends or breaks."""
        wanted = exchange.stream_of(chat, following)
        with self._http.sse(**wanted, timeout=exchange.SILENCE_SECONDS) as stream:
            if exchange.has_no_stream(stream.response):
                raise NoStream
            if stream.response.status_code != 200:
                stream.response.read()
                raise exchange.refusal(stream.response)
            for event in stream:
                yield exchange.events(event)

    def _socket(
        self, chat: UUID, following: Following
    ) -> Generator[list[ChatStreamEvent], None, None]:
        wanted = exchange.socket_of(chat, following)
        with self._http.stream(**wanted, timeout=exchange.SILENCE_SECONDS) as came:
            if came.status_code != 101:
                came.read()
                raise exchange.refusal(came)
            stream, frames = came.extensions["network_stream"], Frames()
            while True:
                while (text := frames.next()) is not None:
                    yield exchange.batch(text)
                with exchange.faults_of_the_network():
                    data = stream.read(READ_BYTES, timeout=exchange.SILENCE_SECONDS)
                    if back := frames.heard(data):
                        stream.write(back, timeout=exchange.SILENCE_SECONDS)

    def wait(self, chat: UUID, *, since: int = 0) -> Transcript:
        """Until the chat rests: its turn has ended, or it needs somebody to act. `since`: the id of
        the message that was sent, for what the chat did before it does not count."""
        seen = Transcript()
        with self.follow(chat) as events:
            for event in events:
                seen.apply(event)
                if seen.rests_since(since):
                    break
        return seen
