"""A rehearsal model behind a real socket, and requests to it in each vendor's form."""

import json
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx2
import trio

from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve
from adapters.rehearsal.settings import read
from tests.patience import PATIENCE_SECONDS

PATHS = {
    "anthropic": ("/v1/messages", "/v1/messages"),
    "chat": ("/v1/chat/completions", "/v1/chat/completions"),
    "responses": ("/v1/responses", "/v1/responses"),
    "google": ("/v1beta/models/gem:generateContent", "/v1beta/models/gem:streamGenerateContent"),
}
VENDORS = tuple(PATHS)


def request(vendor, text="hello", streamed=True):
    """(path, document) of a request without tools."""
    path = PATHS[vendor][streamed]
    message = {"role": "user", "content": text}
    match vendor:
        case "anthropic":
            asked = {"model": "m", "max_tokens": 9, "messages": [message], "stream": streamed}
        case "chat":
            asked = {"model": "m", "messages": [message], "stream": streamed}
        case "responses":
            asked = {"model": "m", "input": text, "stream": streamed}
        case "google":
            asked = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
    return path, asked


@dataclass
class Model:
    """A served model, and a client of it."""

    url: str
    port: int
    client: httpx2.AsyncClient
    stack: AsyncExitStack

    async def connect(self):
        """A connection, which is closed with the model."""
        stream = await trio.open_tcp_stream("127.0.0.1", self.port)
        return await self.stack.enter_async_context(stream)

    async def ask(self, vendor="anthropic", text="hello", *, streamed=True, chat=""):
        """Ask for an answer, as a daemon of ours for a chat if one is named."""
        path, document = request(vendor, text, streamed)
        headers = {"X-Promptcorner-Chat-Id": chat} if chat else {}
        return await self.client.post(path, json=document, headers=headers)

    async def heard(self):
        return (await self.client.get("/_fake/requests")).json()["requests"]


@asynccontextmanager
async def a_model(**settings):
    async with (
        serve(read(Behaviour(), settings)) as running,
        httpx2.AsyncClient(
            base_url=running.url, trust_env=False, timeout=PATIENCE_SECONDS
        ) as client,
        AsyncExitStack() as stack,
    ):
        yield Model(running.url, running.port, client, stack)


def events(body):
    """(name, document) of each event of a stream; [DONE] is left out."""
    found = []
    for block in body.decode().replace("\r\n", "\n").split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines())
        if lines and lines["data"] != "[DONE]":
            found.append((lines.get("event"), json.loads(lines["data"])))
    return found
