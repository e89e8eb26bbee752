"""The Python client against a real daemon through a network that breaks a thousand times."""

import random
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx2
import pytest
import trio

from promptcorner_client import api, errors
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.sync_client import Client
from promptcorner_client.transcript import Transcript, text_of
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import belonging_to, eventually
from tests.e2e.providers import a_provider
from tests.folders import a_folder, in_memory

pytestmark = pytest.mark.slow

ADMIN = "a-token-of-the-first-admin-for-these-tests"
DISCONNECTS = 1_000
LONG_SECONDS = 1_000  # for a thousand disconnects on a busy machine; alone they take about ten


@pytest.fixture(scope="module")
def url():
    with a_folder(in_memory()) as top:
        with a_provider() as provider:
            settings = {**provider.settings, "PROMPTCORNER_ADMIN_TOKEN": ADMIN}
            settings["PROMPTCORNER_DRAIN_SECONDS"] = "1"
            with a_daemon(top / "home", **settings) as daemon:
                yield "http://" + daemon.wait_ready()["listen"]
                assert 0 == daemon.stop()
        eventually(lambda: not belonging_to(top), "every process of the daemon is gone")


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(errors, "FIRST_SECONDS", 0.001)


@dataclass
class BadNetwork:
    """Hangs up on every stream after a random number of bytes, as long as it is told to."""

    target: tuple[str, int]
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    bytes_passed: tuple[int, ...] = (1, 50, 300, 900, 2_000, 5_000)
    cuts: int = 0
    is_bad: bool = True
    url: str = ""

    @asynccontextmanager
    async def open(self):
        async with trio.open_nursery() as nursery:
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            self.url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
            nursery.start_soon(trio.serve_listeners, self._pass_on, [listener])
            yield self
            nursery.cancel_scope.cancel()

    async def _pass_on(self, client):
        async with await trio.open_tcp_stream(*self.target) as daemon, trio.open_nursery() as both:
            both.start_soon(self._up, client, daemon)
            await self._down(daemon, client)
            both.cancel_scope.cancel()

    async def _up(self, client, daemon):
        try:
            async for data in client:
                await daemon.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass

    async def _down(self, daemon, client):
        """From the daemon to the client: a beginning of it, cut anywhere."""
        left = self.chance.choice(self.bytes_passed) + self.chance.randrange(400)
        try:
            async for data in daemon:
                if self.is_bad and len(data) >= left:
                    await client.send_all(data[:left])
                    self.cuts += 1
                    return
                left -= len(data)
                await client.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass


class Hurried(httpx2.AsyncHTTPTransport):
    """An admin's requests, however many in a minute."""

    async def handle_async_request(self, request):
        request.headers["X-Coder-Bypass-Ratelimit"] = "true"
        return await super().handle_async_request(request)


# The HTTP library leaves generators of its own to the garbage collector when one stops reading.
@pytest.mark.filterwarnings("ignore:Async generator 'httpcore2:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.timeout(LONG_SECONDS + 100)
async def test_nothing_is_lost_or_repeated_over_a_thousand_disconnects(url):
    split = urlsplit(url)
    network = BadNetwork((split.hostname, split.port))
    seen, pieces = Transcript(), []
    async with network.open(), AsyncClient(url, ADMIN) as steady:
        chat = await steady.create("[[deltas: 100000]] [[delta-ms: 2]] go on and on")
        with trio.fail_after(LONG_SECONDS):
            async with (
                AsyncClient(network.url, ADMIN, transport=Hurried()) as client,
                client.follow(chat.id) as events,
            ):
                async for event in events:
                    seen.apply(event)
                    note(event, pieces)
                    if network.cuts >= DISCONNECTS and network.is_bad:
                        network.is_bad = False
                        await steady.request(api.interrupt(chat.id))
                    if seen.rests_since():
                        break
        stored = await steady.request(api.messages(chat.id))

    assert network.cuts >= DISCONNECTS
    assert list(range(1, len(pieces) + 1)) == [seq for seq, _ in pieces]
    answer = text_of(seen.history[-1].content)
    assert answer.startswith("".join(text for _, text in pieces))
    assert {message.id: message for message in stored.messages} == seen.messages


def note(event, pieces):
    if event.type == "message_part":
        pieces.append((event.message_part.seq, event.message_part.part.text))


def test_the_client_that_blocks_says_sends_and_reads(url):
    with Client(url, ADMIN) as client:
        chat = client.create("[[text: one]] hello")
        first = client.wait(chat.id)
        sent = client.request(api.send(chat.id, "[[text: two]] again"))
        second = client.wait(chat.id, since=sent.message.id)
        edited = client.request(api.edit(chat.id, sent.message.id, "[[text: three]] again"))
        third = client.wait(chat.id, since=edited.message.id)
        client.request(api.archive(chat.id))

        assert ["one", "two", "three"] == [first.answer, second.answer, third.answer]
        assert client.request(api.get_chat(chat.id)).archived


def test_a_request_is_served_once_however_often_it_is_sent(url):
    with Client(url, ADMIN) as client:
        chat = client.create("[[text: one]] hello")
        client.wait(chat.id)
        sending = api.once(api.send(chat.id, "[[text: two]] again"), f"key-{time.time_ns()}")
        first, again = client.request(sending), client.request(sending)
        client.wait(chat.id, since=first.message.id)

        assert first.message.id == again.message.id
        prompts = client.request(api.prompts(chat.id)).prompts
        assert 2 == len(prompts)


def test_a_token_that_is_none_is_refused_in_words(url):
    with Client(url, "wrong") as client, pytest.raises(errors.RequestRefused) as refused:
        client.request(api.me())

    assert 401 == refused.value.status
