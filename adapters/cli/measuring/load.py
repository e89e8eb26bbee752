"""Chats that all talk at once, over the API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx2
import trio

from adapters.cli.measuring.figures import Seen
from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import ChatStreamEvent
from runtime.clock import now

UNSLOWED = {"X-Coder-Bypass-Ratelimit": "true"}  # for admins; others are slowed down all the same
ARCHIVERS = 16  # chats that are archived at once, afterwards
ARCHIVE_SECONDS = 60.0  # for all of them; the rest stays


@dataclass(frozen=True, slots=True)
class Load:
    """What is done."""

    chats: int
    turns: int
    prompt: str
    model: str  # the id of its configuration
    seconds: float
    keep: bool


class _Unslowed(httpx2.AsyncHTTPTransport):
    """As many connections as there are chats, and a word to the rate limits."""

    def __init__(self, url: str) -> None:
        secure = url.startswith("https:")
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        super().__init__(verify=secure, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers.update(UNSLOWED)
        return await super().handle_async_request(request)


@dataclass(slots=True)
class _Barrier:
    """Where chats wait for each other after their first turns, whether or not these succeeded."""

    missing: int
    open: trio.Event = field(default_factory=trio.Event)

    def arrive(self) -> None:
        self.missing -= 1
        if self.missing == 0:
            self.open.set()


@asynccontextmanager
async def client_of(url: str, token: str) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(url, token, transport=_Unslowed(url)) as client:
        yield client


async def run(client: AsyncClient, load: Load) -> tuple[Seen, float]:
    """What was seen, and how long it took."""
    seen, barrier, chats = Seen(), _Barrier(load.chats), list[UUID]()
    began = now()
    with trio.move_on_after(load.seconds) as within:
        async with trio.open_nursery() as nursery:
            for _ in range(load.chats):
                nursery.start_soon(_converse, client, load, seen, barrier, chats)
    seconds = now() - began
    if within.cancelled_caught:
        unfinished = load.chats * load.turns - len(seen.turn) - sum(seen.faults.values())
        seen.faults[f"not ended within {load.seconds:g} s"] += unfinished
    if not load.keep:
        await _archive(client, chats)
    return seen, seconds


async def _converse(
    client: AsyncClient, load: Load, seen: Seen, barrier: _Barrier, chats: list[UUID]
) -> None:
    turn = _Turn(seen)
    arrived = False
    try:
        turn.begin()
        chat = await client.create(load.prompt, model_config_id=load.model)
        chats.append(chat.id)
        seen.create.append(now() - turn.began)
        async with client.follow(chat.id) as events:
            for number in range(load.turns):
                if number == 1:
                    barrier.arrive()
                    arrived = True
                    await barrier.open.wait()
                if number > 0:
                    turn.begin()
                    await client.request(api.send(chat.id, load.prompt))
                    seen.send.append(now() - turn.began)
                await turn.follow(events)
    except (RequestRefused, ServerUnreachable, _Failed) as fault:
        seen.faults[str(fault)[:200]] += 1
    finally:
        if not arrived:
            barrier.arrive()


class _Failed(Exception):
    """A turn ended in an error."""


class _Turn:
    """One after the other, of one chat."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self.began = 0.0

    def begin(self) -> None:
        self.began = now()

    async def follow(self, events: AsyncIterator[ChatStreamEvent]) -> None:
        """To its end. The chat counts as waiting only after something was said: it is so before
        the turn begins, too."""
        has_output = False
        words = ""
        async for event in events:
            match event.type:
                case "message_part":
                    self._seen.parts += 1
                    has_output = self._note(has_output)
                case "message" if event.message and event.message.role == "assistant":
                    has_output = self._note(has_output)
                case "retry":
                    self._seen.retries += 1
                case "error" if event.error:
                    words = event.error.message
                case "status" if event.status and event.status.status == "error":
                    raise _Failed(f"the chat is in error: {words}")
                case "status" if event.status and event.status.status == "waiting" and has_output:
                    self._seen.turn.append(now() - self.began)
                    return
                case _:
                    pass

    def _note(self, has_output: bool) -> bool:
        if not has_output:
            self._seen.first_output.append(now() - self.began)
        return True


async def _archive(client: AsyncClient, chats: list[UUID]) -> None:
    """As tidy as possible: what cannot be archived any more stays."""
    with trio.move_on_after(ARCHIVE_SECONDS):
        async with trio.open_nursery() as nursery:
            for _ in range(ARCHIVERS):
                nursery.start_soon(_archive_some, client, chats)


async def _archive_some(client: AsyncClient, chats: list[UUID]) -> None:
    while chats:
        try:
            await client.request(api.archive(chats.pop()))
        except (RequestRefused, ServerUnreachable):
            continue
