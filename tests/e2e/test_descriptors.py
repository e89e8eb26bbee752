"""A daemon that may open few files, and clients that open too many connections."""

import contextlib
import http.client
import json
import socket
import time

import pytest

from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import eventually
from tests.e2e.providers import a_provider
from tests.e2e.test_tool_journal import ADMIN, CREATES, SETTINGS, results, waited
from tests.patience import PATIENCE_SECONDS

pytestmark = [
    pytest.mark.slow,
    # The HTTP library leaves generators of its own to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

DESCRIPTORS = 256
TOO_MANY = 300

AT_ONCE_SECONDS = 15.0  # on a busy machine; what waits for an idle client waits 75
ME = "/api/v2/users/me"
WATCH = "/api/experimental/chats/watch"
OPENS = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
WORKS = (
    '[[tool-calls: execute:{"command": "cat /dev/null; echo done > f; cat f"}]] [[text: Done.]] go'
)


class Crowd:
    """Connections of one address, all held open."""

    def __init__(self, address):
        host, port = address.split(":")
        self.address = host, int(port)
        self.held = contextlib.ExitStack()

    def silent(self, count):
        for _ in range(count):
            self.held.enter_context(socket.create_connection(self.address, PATIENCE_SECONDS))

    def asks(self, path, token=None, **headers):
        """(status, Retry-After) of an answer on a connection of its own, which stays open."""
        connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE_SECONDS)
        self.held.callback(connection.close)
        shown = {} if token is None else {"Coder-Session-Token": token}
        with contextlib.suppress(ConnectionError):  # the answer is there, but not the reader
            connection.request("GET", path, headers={**shown, **headers})
        answer = connection.getresponse()
        return answer.status, answer.headers["Retry-After"]

    def watches(self, count):
        """How many become a socket."""
        answers = [self.asks(WATCH, ADMIN, **OPENS)[0] for _ in range(count)]
        return answers.count(101)


@pytest.fixture
def crowd():
    crowds = []

    def gathered(address):
        crowds.append(Crowd(address))
        return crowds[-1]

    yield gathered
    for each in crowds:
        each.held.close()


@pytest.fixture
def provider():
    with a_provider() as provider:
        yield provider


def statistics(daemon, crowd):
    host, port = crowd.address
    connection = http.client.HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
    connection.request("GET", "/debug/actors", headers={"Coder-Session-Token": ADMIN})
    document = json.loads(connection.getresponse().read())
    connection.close()
    return document["server"]


def test_connections_that_say_nothing_give_way_to_who_asks(home, crowd, database):
    settings = {**SETTINGS, "DATABASE_URL": database}
    with a_daemon(home, descriptors=DESCRIPTORS, **settings) as daemon:
        many = crowd(daemon.wait_ready()["listen"])
        shared = daemon.entry("descriptors.shared")
        assert (DESCRIPTORS, "warning") == (shared["limit"], shared["level"])
        assert shared["clients"] < TOO_MANY

        many.silent(TOO_MANY)
        began = time.monotonic()
        stranger, admin = many.asks(ME), many.asks(ME, ADMIN)
        took = time.monotonic() - began

        counted = statistics(daemon, many)
        assert ((401, None), (200, None)) == (stranger, admin)
        assert took < AT_ONCE_SECONDS
        assert counted["gave_way_count"] >= TOO_MANY - shared["clients"]
        assert (0, shared["clients"]) == (counted["starved_count"], counted["connections_max"])
        assert 0 == daemon.stop()


async def test_where_all_are_busy_others_are_told_at_once_and_an_admin_works_on(
    home, crowd, provider, database
):
    """Also what the admin's chat needs: a provider, the database, files and a program."""
    settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
    with a_daemon(home, descriptors=DESCRIPTORS, **settings) as daemon:
        address = daemon.wait_ready()["listen"]
        many, places = crowd(address), daemon.entry("descriptors.shared")["clients"]
        assert places == many.watches(places)

        began = time.monotonic()
        answers = {many.asks(ME) for _ in range(50)}
        took = time.monotonic() - began
        many.silent(TOO_MANY)
        admin, alive = many.asks(ME, ADMIN), many.asks("/livez")
        async with AsyncClient(f"http://{address}", ADMIN) as client:
            chat = await client.create(CREATES)
            await waited(client, chat)
            sent = await client.request(api.send(chat.id, WORKS))
            seen = await waited(client, chat, since=sent.message.id)

        counted = statistics(daemon, many)
        assert {(503, "1")} == answers
        assert took < AT_ONCE_SECONDS
        assert ((200, None), (200, None)) == (admin, alive)
        assert ("Done.", "done\n") == (seen.answer, results(seen)[-1][1]["output"])
        assert places == counted["sockets"]
        assert 0 == counted["starved_count"]
        many.held.close()
        eventually(lambda: crowd(address).asks(ME)[0] == 401, "there are places again")
        assert 0 == daemon.stop()
