"""What the client does when the daemon is busy, away, or says no."""

import asyncio
import json
from uuid import UUID

import httpx2
import pytest

from promptcorner_client import api, errors
from promptcorner_client.async_client import AsyncClient
from promptcorner_client.errors import RequestRefused, ServerUnreachable
from promptcorner_client.sync_client import Client

CHAT = UUID(int=7)
ME = {"id": str(UUID(int=1)), "username": "ann", "organization_ids": [str(UUID(int=2))]}
SENT = {"queued": False}


class Daemon:
    """Answers what it is told to, one after the other; an exception is a broken connection."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, document, *headers = answer
        return httpx2.Response(status, json=document, headers=dict(*headers))


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(errors, "FIRST_SECONDS", 0.0)


def client_of(daemon):
    return Client("http://daemon", "token", transport=httpx2.MockTransport(daemon))


def test_a_read_is_repeated_until_the_daemon_is_back():
    daemon = Daemon(httpx2.ConnectError("refused"), (503, {"message": "starting"}), (200, ME))

    with client_of(daemon) as client:
        assert "ann" == client.request(api.me()).username

    assert 3 == len(daemon.requests)


def test_a_message_is_sent_again_under_the_same_key():
    daemon = Daemon(httpx2.ReadError("cut"), (200, SENT))

    with client_of(daemon) as client:
        client.request(api.send(CHAT, "hello"))

    keys = {request.headers["idempotency-key"] for request in daemon.requests}
    assert (2, 1) == (len(daemon.requests), len(keys))
    assert {"content": [{"type": "text", "text": "hello"}]} == json.loads(
        daemon.requests[0].content
    )


def test_what_may_have_been_done_is_not_asked_again():
    daemon = Daemon(httpx2.ReadError("cut"))

    with (
        client_of(daemon) as client,
        pytest.raises(ServerUnreachable, match="is the daemon running"),
    ):
        client.request(api.interrupt(CHAT))

    assert 1 == len(daemon.requests)


def test_a_refusal_is_raised_in_the_daemons_words():
    refusal = {"message": "Invalid content.", "detail": "content[0].text is empty"}
    daemon = Daemon((400, refusal))

    with client_of(daemon) as client, pytest.raises(RequestRefused) as raised:
        client.request(api.send(CHAT, ""))

    assert "400 Invalid content: content[0].text is empty" == str(raised.value)
    assert 1 == len(daemon.requests)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            b'{"message": "Invalid effort.", "detail": "none is huge"}',
            "400 Invalid effort: none is huge",
        ),
        (b'{"message": "Invalid effort."}', "400 Invalid effort."),
        (b'{"message": "not now", "detail": "it works"}', "400 not now: it works"),
    ],
)
def test_a_refusal_is_said_in_one_sentence(answer, said):
    assert said == str(errors.refusal_of(400, answer))


def test_an_answer_of_somebody_in_between_is_told_as_what_it_is():
    refused = errors.refusal_of(418, b"<h1>teapot</h1>")

    assert "418 not an answer of promptcorner: <h1>teapot</h1>" == str(refused)


@pytest.mark.parametrize(
    ("status", "attempt", "expected"),
    [(503, 1, True), (429, 5, True), (503, 6, False), (400, 1, False), (404, 1, False)],
)
def test_asking_again_helps_only_against_what_passes(status, attempt, expected):
    fault = errors.refusal_of(status, b"{}")

    assert expected is (errors.seconds_before_retry(fault, attempt, chance=0.0) is not None)


def test_a_daemon_that_says_when_is_not_asked_before():
    fault = errors.refusal_of(429, b'{"message": "slow down"}', retry_after="7")

    assert 7 == errors.seconds_before_retry(fault, 1, chance=0.0)


async def test_the_client_on_trio_does_the_same():
    daemon = Daemon(httpx2.ConnectError("refused"), (200, ME), (201, {"message": "odd"}))

    async with AsyncClient("http://d", "t", transport=httpx2.MockTransport(daemon)) as client:
        me = await client.request(api.me())
        with pytest.raises(RequestRefused):
            await client.request(api.interrupt(CHAT))

    assert ("ann", 3) == (me.username, len(daemon.requests))


def told(*ids):
    """A stream of server-sent events that tells of messages."""
    said = {"chat_id": str(CHAT), "created_at": "2030-01-01T00:00:00Z", "role": "user"}
    events = (
        {"type": "message", "chat_id": str(CHAT), "message": {**said, "id": id}} for id in ids
    )
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events)


def test_events_whose_block_is_entered_again_go_on_where_they_were():
    streams, asked = [told(1, 2), told(2, 3)], []

    def answer(request):
        asked.append(request.url.params.get("after_id"))
        kind = {"content-type": "text/event-stream"}
        return httpx2.Response(200, text=streams.pop(0), headers=kind)

    async def follow_twice():
        async with AsyncClient("http://d", "t", transport=httpx2.MockTransport(answer)) as client:
            events, seen = client.follow(CHAT), []
            for count in (2, 1):
                async with events:
                    seen += [(await anext(events)).message.id for _ in range(count)]
                assert not events.is_connected
            return seen

    assert ([1, 2, 3], [None, "2"]) == (asyncio.run(follow_twice()), asked)
