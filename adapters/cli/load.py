"""A load run: chats that all talk at once over the API, and what their clients see of it."""

import math
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import httpx2
import trio

from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.wire import ChatStreamEvent
from runtime.clock import now

UNSLOWED = {"X-Coder-Bypass-Ratelimit": "true"}  # for admins; others are slowed down all the same
ARCHIVERS = 16  # chats that are archived at once, afterwards
ARCHIVE_SECONDS = 60.0  # for all of them; the rest stays
PERCENTILES = (50, 95, 99)
FAULTS_SHOWN = 5  # kinds of them; the rest is counted


@dataclass(slots=True)
class LoadFigures:
    """Seconds and counts, which grow while the run goes on."""

    create: list[float] = field(default_factory=list)  # the answer to `POST chats`
    send: list[float] = field(default_factory=list)  # the answer to `POST messages`
    first_output: list[float] = field(default_factory=list)  # from asking to the first word
    turn: list[float] = field(default_factory=list)  # from asking to `waiting`
    parts: int = 0  # pieces of answers
    retries: int = 0  # of the daemon, at its provider
    faults: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Load:
    """The size of a run."""

    chats: int
    turns: int
    prompt: str
    model: str  # the id of its configuration
    seconds: float
    keep: bool


class _LoadTransport(httpx2.AsyncHTTPTransport):
    """A transport with a connection for each chat that asks for no rate limit."""

    def __init__(self, url: str) -> None:
        secure = url.startswith("https:")
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        super().__init__(verify=secure, limits=limits)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers.update(UNSLOWED)
        return await super().handle_async_request(request)


@dataclass(slots=True)
class _Barrier:
    """A point at which chats wait for each other after their first turns, failed or not."""

    missing: int
    open: trio.Event = field(default_factory=trio.Event)

    def arrive(self) -> None:
        self.missing -= 1
        if self.missing == 0:
            self.open.set()


@asynccontextmanager
async def open_load_client(url: str, token: str) -> AsyncIterator[AsyncClient]:
    """Open a client that can follow any number of chats at once."""
    async with AsyncClient(url, token, transport=_LoadTransport(url)) as client:
        yield client


async def run_load(client: AsyncClient, load: Load) -> tuple[LoadFigures, float]:
    """Run all chats and return what they saw, and how many seconds it took."""
    figures, barrier, chats = LoadFigures(), _Barrier(load.chats), list[UUID]()
    began = now()
    with trio.move_on_after(load.seconds) as within:
        async with trio.open_nursery() as nursery:
            for _ in range(load.chats):
                nursery.start_soon(_converse, client, load, figures, barrier, chats)
    seconds = now() - began
    if within.cancelled_caught:
        unfinished = load.chats * load.turns - len(figures.turn) - sum(figures.faults.values())
        figures.faults[f"not ended within {load.seconds:g} s"] += unfinished
    if not load.keep:
        await _archive(client, chats)
    return figures, seconds


async def _converse(
    client: AsyncClient, load: Load, figures: LoadFigures, barrier: _Barrier, chats: list[UUID]
) -> None:
    turn = _Turn(figures)
    arrived = False
    try:
        turn.begin()
        chat = await client.create(load.prompt, model_config_id=load.model)
        chats.append(chat.id)
        figures.create.append(now() - turn.began)
        async with client.follow(chat.id) as events:
            for number in range(load.turns):
                if number == 1:
                    barrier.arrive()
                    arrived = True
                    await barrier.open.wait()
                if number > 0:
                    turn.begin()
                    await client.request(api.send(chat.id, load.prompt))
                    figures.send.append(now() - turn.began)
                await turn.follow(events)
    except (RequestRefused, ServerUnreachable, _Failed) as fault:
        figures.faults[str(fault)[:200]] += 1
    finally:
        if not arrived:
            barrier.arrive()


class _Failed(Exception):
    """A turn ended in an error."""


class _Turn:
    """The turns of one chat, one after the other."""

    def __init__(self, figures: LoadFigures) -> None:
        self._figures = figures
        self.began = 0.0

    def begin(self) -> None:
        self.began = now()

    async def follow(self, events: AsyncIterator[ChatStreamEvent]) -> None:
        """Follow a turn to its end.

        A status `waiting` counts only after some output: it is also the status before the turn.
        """
        has_output = False
        words = ""
        async for event in events:
            match event.type:
                case "message_part":
                    self._figures.parts += 1
                    has_output = self._note(has_output)
                case "message" if event.message and event.message.role == "assistant":
                    has_output = self._note(has_output)
                case "retry":
                    self._figures.retries += 1
                case "error" if event.error:
                    words = event.error.message
                case "status" if event.status and event.status.status == "error":
                    raise _Failed(f"the chat is in error: {words}")
                case "status" if event.status and event.status.status == "waiting" and has_output:
                    self._figures.turn.append(now() - self.began)
                    return
                case _:
                    pass

    def _note(self, has_output: bool) -> bool:
        if not has_output:
            self._figures.first_output.append(now() - self.began)
        return True


async def _archive(client: AsyncClient, chats: list[UUID]) -> None:
    """Archive the chats of the run, as many as can be within ARCHIVE_SECONDS."""
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


# figures


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest value that so many percent do not exceed; nan if there are none."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)]


def rows(figures: LoadFigures) -> Sequence[Sequence[str]]:
    """Return the rows of a table: the name, the count, and percentiles in milliseconds."""
    measured = {
        "create a chat": figures.create,
        "send a message": figures.send,
        "first output": figures.first_output,
        "whole turn": figures.turn,
    }
    return [
        (name, str(len(values)), *(_milliseconds(percentile(values, p)) for p in PERCENTILES))
        for name, values in measured.items()
    ]


def _milliseconds(seconds: float) -> str:
    return "-" if math.isnan(seconds) else f"{1000 * seconds:.1f}"


def summary(figures: LoadFigures, seconds: float) -> str:
    """Return a few lines for people."""
    turns, faults = len(figures.turn), sum(figures.faults.values())
    lines = [
        f"{turns} turns in {seconds:.1f} s: {turns / seconds:.1f} turns/s,"
        f" {figures.parts / seconds:.0f} pieces/s, {figures.retries} retries, {faults} failures"
    ]
    lines += [f"  {count} x {fault}" for fault, count in figures.faults.most_common(FAULTS_SHOWN)]
    return "\n".join(lines) + "\n"


def document(figures: LoadFigures, seconds: float) -> Mapping[str, object]:
    """Return the figures for programs."""
    measured = {
        "create_seconds": figures.create,
        "send_seconds": figures.send,
        "first_output_seconds": figures.first_output,
        "turn_seconds": figures.turn,
    }
    return {
        "seconds": seconds,
        "turns": len(figures.turn),
        "turns_per_second": len(figures.turn) / seconds,
        "pieces_per_second": figures.parts / seconds,
        "retries": figures.retries,
        "failures": dict(figures.faults),
        **{
            name: {f"p{p}": percentile(values, p) for p in PERCENTILES} if values else None
            for name, values in measured.items()
        },
    }
