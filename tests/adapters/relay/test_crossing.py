"""Over real sockets: what crosses, who is let in, and what a bad network does to it."""

from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import httpx2
import pytest
import trio
import trio.lowlevel
from trio_websocket import ConnectionClosed, HandshakeError, wrap_client_stream

from actors.streams.relay.exchange import NotConnected, Unfollow
from actors.streams.relay.peer_session import PeerSession
from adapters.http.endpoints import Upgrade
from adapters.http.host.server import HttpServer
from adapters.http.host.websockets import framed_bytes
from adapters.relay import dialler as dialling
from adapters.relay import listener as door
from adapters.relay.dialler import Dialler
from adapters.relay.listener import PATH, REPLACED
from adapters.relay.protocol import HEADER, REQUESTS_BYTES_MAX, RelayTickets, encode_requests
from runtime.clock import wall
from tests.actors.streams.relay.cable import HERE, Ear, a_key, say
from tests.adapters.relay.ground import KEY, a_pair
from tests.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.slow


def is_heard(pair, ears, previews):
    return lambda: [ear.heard for ear in ears] == [episode.encoded for episode in previews]


async def test_fifty_chats_cross_over_one_connection():
    async with a_pair() as pair:
        previews = [pair.there.begin(a_key()) for _ in range(50)]
        ears = [Ear(pair.relays.follow(episode.key, pair.worker)) for episode in previews]

        for number in range(20):
            for episode in previews:
                say(episode, f"word {number} é€\0")
            await trio.lowlevel.checkpoint()
        await pair.until(is_heard(pair, ears, previews))

        assert 1 == pair.network.connections
        assert (1, 50, 1000) == (
            pair.host.statistics().peers,
            pair.host.statistics().follows,
            pair.relays.statistics().pieces_count,
        )


@pytest.mark.parametrize("bytes_max", [1, 100, 400, 1_000, 5_000, 10_000])
async def test_a_connection_that_is_cut_anywhere_loses_nothing(bytes_max):
    async with a_pair() as pair:
        pair.network.bytes_max = bytes_max
        episode = pair.there.begin(a_key())
        ear = Ear(pair.relays.follow(episode.key, pair.worker))
        for number in range(200):
            say(episode, f"{number} " * 20)

        await pair.until(lambda: pair.network.connections > 1 or is_heard(pair, [ear], [episode])())
        pair.network.bytes_max = None
        await pair.network.cut()
        await pair.until(is_heard(pair, [ear], [episode]))

        assert 1 < pair.network.connections


async def test_a_network_that_is_out_for_a_while_is_made_up_for():
    async with a_pair() as pair:
        episode = pair.there.begin(a_key())
        ear = Ear(pair.relays.follow(episode.key, pair.worker))
        say(episode, "before")
        await pair.until(is_heard(pair, [ear], [episode]))

        pair.network.is_out = True
        await pair.network.cut()
        say(episode, "meanwhile")
        await pair.until(lambda: pair.network.connections > 2)
        pair.network.is_out = False
        await pair.until(is_heard(pair, [ear], [episode]))

        assert 2 == len(ear.heard)
        assert 1 == pair.host.statistics().peers


@pytest.mark.parametrize("keys", [{"key_here": b"x" * 32}, {"key_there": b"x" * 32}])
async def test_another_secret_opens_nothing(keys, caplog):
    async with a_pair(**keys) as pair:
        episode = pair.there.begin(a_key())
        attempt = pair.relays.follow(episode.key, pair.worker)
        say(episode, "secret")
        await pair.until(lambda: pair.relays.statistics().failed_count > 1)

        assert [] == attempt.encoded
        assert 0 == pair.host.statistics().admitted_count
        assert 2 <= pair.host.statistics().refused_count
        [told] = [record for record in caplog.records if record.message == "relay.unlinked"]
        assert "its secret_key is not ours" in told.fields["why"]


@asynccontextmanager
async def a_socket(pair, ticket=None):
    """Of a client that is not ours."""
    headers = [(HEADER, ticket)] if ticket else []
    address = urlsplit(pair.url)
    stream = await trio.open_tcp_stream(address.hostname, address.port)
    async with stream, trio.open_nursery() as nursery:
        yield await wrap_client_stream(nursery, stream, address.netloc, PATH, extra_headers=headers)
        nursery.cancel_scope.cancel()


async def refused(pair, **headers):
    async with httpx2.AsyncClient(base_url=pair.url, timeout=PATIENCE_SECONDS) as client:
        answer = await client.get(PATH, headers=headers)
    return answer.status_code, answer.json()["message"]


async def test_who_has_no_ticket_finds_nothing():
    async with a_pair() as pair:
        stranger = RelayTickets(b"x" * 32).write(HERE, pair.worker, at=wall().timestamp())
        late = RelayTickets(KEY).write(HERE, pair.worker, at=wall().timestamp() - 1e5)
        for headers in ({}, {HEADER: "x"}, {HEADER: stranger}, {HEADER: late}):
            assert (404, "Route not found.") == await refused(pair, **headers)
        token = {"coder-session-token": "whoever", "authorization": "Bearer whoever"}
        assert (404, "Route not found.") == await refused(pair, **token)


async def test_a_ticket_that_somebody_overheard_opens_nothing_any_more():
    async with a_pair() as pair:
        ticket = RelayTickets(KEY).write(HERE, pair.worker, at=wall().timestamp())

        async with a_socket(pair, ticket) as socket:
            assert RelayTickets(KEY).proof(ticket) == await socket.get_message()
            assert (404, "Route not found.") == await refused(pair, **{HEADER: ticket})


def wishes_beyond(bytes_max):
    """A message that is a little longer: a client that still sends as the other side hangs up may
    not hear why."""
    of_one, of_two = (len(encode_requests([Unfollow(1)] * count)) for count in (1, 2))
    return encode_requests([Unfollow(1)] * (bytes_max // (of_two - of_one) + 1))


TOO_LONG = wishes_beyond(REQUESTS_BYTES_MAX)


@pytest.mark.parametrize(
    "said",
    [
        b"nonsense",
        "text",
        encode_requests([]) + b"\0",
        TOO_LONG,
    ],
    ids=["nonsense", "text", "more", "too long"],
)
async def test_who_speaks_otherwise_is_hung_up_on(said):
    async with a_pair() as pair:
        ticket = RelayTickets(KEY).write(HERE, pair.worker, at=wall().timestamp())
        async with a_socket(pair, ticket) as socket:
            await socket.get_message()
            await socket.send_message(said)

            with trio.fail_after(PATIENCE_SECONDS), pytest.raises(ConnectionClosed) as closed:
                await socket.get_message()
            assert 1008 == closed.value.reason.code


async def test_a_peer_that_fails_in_the_task_of_a_chat_is_hung_up_on_and_misses_nothing(
    monkeypatch,
):
    def fails(serving, number):
        raise TypeError("a bug")

    async with a_pair() as pair:
        episode = pair.there.begin(a_key())
        ear = Ear(pair.relays.follow(episode.key, pair.worker))
        say(episode, "one")
        await pair.until(is_heard(pair, [ear], [episode]))

        with monkeypatch.context() as planted:
            planted.setattr(PeerSession, "note", fails)
            say(episode, "two")
        say(episode, "three")
        await pair.until(is_heard(pair, [ear], [episode]))

        assert 2 == pair.network.connections
        assert (1, 1) == (pair.host.statistics().peers, pair.host.statistics().broken_count)


async def test_of_two_connections_of_one_process_the_newer_stays():
    async with a_pair() as pair:
        written = [
            RelayTickets(KEY).write(HERE, pair.worker, at=wall().timestamp()) for _ in range(2)
        ]
        async with a_socket(pair, written[0]) as first:
            await first.get_message()
            async with a_socket(pair, written[1]) as second:
                await second.get_message()

                with trio.fail_after(PATIENCE_SECONDS), pytest.raises(ConnectionClosed) as closed:
                    await first.get_message()

                assert REPLACED == closed.value.reason.code
                assert 1 == pair.host.statistics().peers


async def unlinked(pair, url, *, me=HERE):
    async def find(_):
        return url

    dialler = Dialler(find, RelayTickets(KEY), me=lambda: me, dial=pair.relays._peers._dial)
    async with dialler.connected(pair.worker) as line:
        assert isinstance(line, NotConnected), line
        return line.why


async def test_it_is_said_why_there_is_no_way(monkeypatch):
    async with a_pair() as pair:
        [silent] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        port = silent.socket.getsockname()[1]
        with monkeypatch.context() as hurried:
            hurried.setattr(dialling, "CONNECT_SECONDS", 0.1)
            why = await unlinked(pair, f"http://127.0.0.1:{port}")
        assert f"http://127.0.0.1:{port}: no connection within 0.1 s" == why
        await silent.aclose()
        why = await unlinked(pair, f"http://127.0.0.1:{port}")
        assert why.startswith(f"127.0.0.1:{port}: ")
        assert why.endswith("Connection refused")
        why = await unlinked(pair, "no address")
        assert "base URL: must begin with http:// or https:// and name a host" == why
        assert "this process holds no lease itself" == await unlinked(pair, pair.url, me=None)
        assert "gone" == await unlinked(pair, NotConnected("gone"))


TURNED_AWAY = {
    b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n": "its secret_key is not ours",
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n": "has no room (503)",
    b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n": "the answer was 302: no process of ours",
    b"": "the connection was closed without an answer",
}


@pytest.mark.parametrize("answer", TURNED_AWAY, ids=lambda answer: answer[9:12].decode() or "none")
async def test_who_is_turned_away_says_how(answer):
    async def serve(stream):
        await stream.receive_some(65_536)
        await stream.send_all(answer)

    async with a_pair() as pair, trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"

        assert TURNED_AWAY[answer] in await unlinked(pair, url)
        nursery.cancel_scope.cancel()


async def test_who_finds_too_many_before_him_is_told_so(monkeypatch):
    monkeypatch.setattr(door, "PEERS_MAX", 0)
    async with a_pair() as pair:
        assert "the other process has no room (503)" in await unlinked(pair, pair.url)


async def test_whoever_listens_there_has_to_prove_who_he_is():
    """Somebody who has taken the place of a process that is gone, without its key."""

    async def impostor(stream):
        await stream.receive_some(65_536)
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        await stream.send_all(head + b"Sec-WebSocket-Accept: x\r\n\r\n")

    async with a_pair() as pair, trio.open_nursery() as nursery:
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, impostor, [listener])
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"

        assert "the connection broke" in await unlinked(pair, url)
        nursery.cancel_scope.cancel()


async def test_who_lets_everybody_in_is_not_believed_either():
    """He speaks as we do, but has no key to prove himself with."""

    async def answer(request):
        async def serve(socket):
            ticket = request.headers[HEADER]
            await socket.send(framed_bytes(RelayTickets(b"x" * 32).proof(ticket)))
            await socket.until_closed()

        return Upgrade(serve)

    async with a_pair() as pair, trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(HttpServer(answer).serve, listeners)
        url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"

        assert "its secret_key is not ours" in await unlinked(pair, url)

        nursery.cancel_scope.cancel()
        await trio.aclose_forcefully(listeners[0])


async def test_a_connection_that_is_gone_leaves_nothing_behind():
    async with a_pair() as pair:
        episode = pair.there.begin(a_key())
        ear = Ear(pair.relays.follow(episode.key, pair.worker))
        say(episode, "here")
        await pair.until(is_heard(pair, [ear], [episode]))

        pair.network.is_out = True
        await pair.network.cut()

        await pair.until(lambda: pair.host.statistics().peers == 0)
        assert {} == episode._followers


async def test_the_address_says_nothing_else_to_anybody():
    async with (
        a_pair() as pair,
        httpx2.AsyncClient(base_url=pair.url, timeout=PATIENCE_SECONDS) as client,
    ):
        for path in ("/", "/relay/", "/relay/x", "/openapi.json", "/api/v2/users/me"):
            assert 404 == (await client.get(path)).status_code
        with pytest.RaisesGroup(HandshakeError, flatten_subgroups=True):
            async with a_socket(pair):
                pass
