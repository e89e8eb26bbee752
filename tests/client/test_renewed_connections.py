"""Connections of a client that are made anew, as after a machine has slept: over real sockets."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import UUID

import pytest
import trio

from promptcorner_client import api, errors
from promptcorner_client.async_client import AsyncClient

ME = {"id": str(UUID(int=1)), "username": "ann", "organization_ids": [str(UUID(int=2))]}


class Peer(BaseHTTPRequestHandler):
    """Answers the requests of a connection, but for the first `silent_count` of all."""

    protocol_version = "HTTP/1.1"

    def setup(self):
        super().setup()
        self.server.connections_count += 1

    def do_GET(self):
        self.server.requests_count += 1
        if self.server.requests_count <= self.server.silent_count:
            self.server.is_asked.set()
            self.server.is_over.wait()
            self.close_connection = True
            return
        said = json.dumps(ME).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_):
        pass


@contextmanager
def a_peer(silent_count=0):
    peer = ThreadingHTTPServer(("127.0.0.1", 0), Peer)
    peer.silent_count, peer.requests_count, peer.connections_count = silent_count, 0, 0
    peer.is_asked, peer.is_over = threading.Event(), threading.Event()
    serving = threading.Thread(target=peer.serve_forever, args=(0.01,))
    serving.start()
    try:
        yield peer
    finally:
        peer.is_over.set()
        peer.shutdown()
        serving.join()
        peer.server_close()


def a_client(peer):
    return AsyncClient(f"http://127.0.0.1:{peer.server_port}", "token")


@pytest.mark.parametrize(("is_renewed", "connections_count"), [(False, 1), (True, 2)])
async def test_no_connection_from_before_is_used_again(is_renewed, connections_count):
    with a_peer() as peer:
        async with a_client(peer) as client:
            await client.request(api.me())
            if is_renewed:
                await client.renew_connections()
            assert "ann" == (await client.request(api.me())).username

    assert connections_count == peer.connections_count


async def test_a_request_that_is_on_its_way_is_sent_again(monkeypatch, nursery):
    monkeypatch.setattr(errors, "FIRST_SECONDS", 0.0)
    answered = trio.Event()

    with a_peer(silent_count=1) as peer:
        async with a_client(peer) as client:

            async def ask():
                assert "ann" == (await client.request(api.me())).username
                answered.set()

            nursery.start_soon(ask)
            await trio.to_thread.run_sync(peer.is_asked.wait)
            await client.renew_connections()
            await answered.wait()

    assert 2 == peer.requests_count
