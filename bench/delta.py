"""What does a delta cost, from the socket to the buffer that watchers read?

On paper: one read of a socket on trio costs some 20 us, whatever is in it. The rest is paid for
every event: its chunk and its lines (1 us), the decoding (1 us), a delta, the assembly of the
answer, a piece for the watchers and its encoding (a few hundred ns to 1 us each). The floor is
what nobody can do without: the same bytes read from a bare socket, cut into chunks and lines,
every event decoded into the same types and thrown away. So ten events in a read should cost us
something below twice the floor, and one event in a read little more than the floor.

The model is a process of its own; both ways ask it for the same answers, many at a time.
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
import trio

from actors.chat.turn.answering import ask
from actors.chat.turn.deps import TurnLimits
from actors.chat.turn.ports import Model
from actors.chat.turn.work import Attempt
from actors.law.ids import ChatId, EpisodeKey
from actors.law.parts.assemble import ModelAnswer
from actors.law.parts.message import TextPart
from actors.law.parts.prompt import Prompt, UserInput
from actors.streams.previews import Preview
from adapters.chats.streams.events import encode_piece
from adapters.models.connecting import connect
from adapters.models.provider_config import models_of_environment
from adapters.models.providers.anthropic import wire as anthropic
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.models.providers.http import HttpClient
from adapters.models.providers.openai_chat import wire as openai_chat
from adapters.models.providers.shared_reads import open_shared_reads
from bench.fixtures import a_provider
from bench.report import Target
from runtime.lag import LoopLag

QUESTION = "what does a delta cost, from the socket to the buffer?"
TARGETS = (
    Target("one_ratio", "one event in a read: CPU of a delta / the floor", at_most=2),
    Target("ten_ratio", "ten events in a read: CPU of a delta / the floor", at_most=2),
)
STREAMS = 32  # at a time
DELTAS = 1_000  # of an answer, so that its beginning and its end do not count
DELTA_MS = {"one": 4, "ten": 1}  # so that streams have something to do, and one core is enough
ROUNDS = 5  # every way is measured so often, in turn; the best of each counts

_chunk = msgspec.json.Decoder(openai_chat.Chunk).decode
_event = msgspec.json.Decoder(anthropic.Event).decode


@dataclass(frozen=True, slots=True)
class Wire:
    """A vendor's way to ask for and to send the same answer."""

    path: str
    decode: Callable[[bytes], object]
    environment: Mapping[str, str]  # of a daemon that uses it; the URL goes before each value


WIRES = {
    "chat": Wire("/v1/chat/completions", _chunk, {"OPENAI_COMPAT_BASE_URL": "/v1"}),
    "anthropic": Wire("/v1/messages", _event, {"ANTHROPIC_BASE_URL": "", "ANTHROPIC_API_KEY": ""}),
}
BODY = b'{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]}'


@dataclass
class Read:
    """Count what the floor has read, to check that both ways read the same."""

    reads: int = 0
    events: int = 0


async def floor(url: str, wire: Wire, seen: Read) -> None:
    """A bare socket, chunks, lines, JSON."""
    address = urlsplit(url)
    assert address.hostname is not None
    assert address.port is not None
    stream = await trio.open_tcp_stream(address.hostname, address.port)
    head = f"POST {wire.path} HTTP/1.1\r\nhost: {address.netloc}\r\ncontent-length: {len(BODY)}"
    async with stream:
        await stream.send_all(head.encode() + b"\r\n\r\n" + BODY)
        rest = b""
        while b"\r\n\r\n" not in rest:
            rest += await stream.receive_some(65536)
        rest = rest.partition(b"\r\n\r\n")[2]
        lines, over = b"", False
        while not over:
            body, rest, over = _unchunked(rest)
            *whole, lines = (lines + body).split(b"\n")
            for line in whole:
                if line.startswith(b"data: {"):
                    wire.decode(line[6:])
                    seen.events += 1
            if not over:
                rest += await stream.receive_some(65536)
                seen.reads += 1


def _unchunked(data: bytes) -> tuple[bytes, bytes, bool]:
    """The bodies of all chunks that are whole, the rest, and whether the last was among them."""
    bodies = []
    at = 0
    while (end := data.find(b"\r\n", at)) >= 0:
        size = int(data[at:end], 16)
        if size == 0:
            return b"".join(bodies), b"", True
        if len(data) < end + 2 + size + 2:
            break
        bodies.append(data[end + 2 : end + 2 + size])
        at = end + size + 4
    return b"".join(bodies), data[at:], False


async def ours(model: Model) -> None:
    """All of it, as a chat does it."""
    attempt = Attempt(EpisodeKey(ChatId(uuid4()), 1, 1))
    preview = Preview(attempt.key, encode_piece)
    prompt = Prompt(model.name, (UserInput((TextPart("hi"),)),))
    asked = await ask(model, prompt, attempt, TurnLimits(), show=preview.add)
    assert isinstance(asked.said, ModelAnswer), asked.said


async def _cpu_us(one: Callable[[], Awaitable[None]]) -> float:
    """Return the CPU time of a delta when all streams run at once."""
    began = time.process_time()
    async with trio.open_nursery() as nursery:
        for _ in range(STREAMS):
            nursery.start_soon(one)
    return (time.process_time() - began) / STREAMS / DELTAS * 1e6


async def _measured(url: str, name: str, wire: Wire) -> dict[str, float]:
    figures: dict[str, float] = {}
    seen = Read()
    costs: dict[str, list[float]] = {"floor": [], "ours": []}
    async with open_shared_reads(LoopLag()) as reads:
        client = HttpClient(direct_dial(tls_context()), reads)
        model = _model(url, wire, client)
        for _ in range(ROUNDS):
            costs["floor"].append(await _cpu_us(partial(floor, url, wire, seen)))
            costs["ours"].append(await _cpu_us(partial(ours, model)))
        await client.aclose()
    for way, found in costs.items():
        figures[f"{name}_{way}_us"] = min(found)
    figures[f"{name}_events_per_read"] = seen.events / seen.reads
    return figures


def _model(url: str, wire: Wire, client: HttpClient) -> Model:
    [config] = models_of_environment({name: url + path for name, path in wire.environment.items()})
    provider = connect(config, client)
    return Model(provider, config.id, "", "rehearsal", config.model, config.settings)


def measure() -> dict[str, float]:
    figures: dict[str, float] = {}
    for count, events in (("one", 1), ("ten", 10)):
        settings = {"deltas": DELTAS, "delta_ms": DELTA_MS[count], "events_per_write": events}
        with a_provider(**settings) as url:
            ratios = []
            for vendor, wire in WIRES.items():
                name = f"{count}_{vendor}"
                figures |= trio.run(_measured, url, name, wire)
                ratios.append(figures[f"{name}_ours_us"] / figures[f"{name}_floor_us"])
                figures[f"{name}_ratio"] = ratios[-1]
            figures[f"{count}_ratio"] = max(ratios)
    return figures
