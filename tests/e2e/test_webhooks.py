"""A daemon is killed while webhooks are told: what was on its way comes again under the same id,
and nothing is lost."""

import contextlib
import json
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psycopg
import pytest

from promptcorner_client import api
from promptcorner_client.async_client import AsyncClient
from tests.e2e.daemons import a_daemon
from tests.e2e.processes import eventually
from tests.e2e.providers import a_provider

pytestmark = [
    pytest.mark.slow,
    # The HTTP library leaves generators of its own to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ADMIN = "a-token-of-the-first-admin-for-these-tests"
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_SANDBOX": "none",
    "PROMPTCORNER_PRIVATE_NETWORKS": "127.0.0.0/8",
}
HOOKS = "/api/v2/users/me/webhooks"
HELD, ANSWERED = "/held", "/answered"  # the first is not answered until the daemon is dead


class Receivers:
    """Two receivers of webhooks, and the ids that each has heard, in order."""

    def __init__(self):
        self.heard = defaultdict(list)
        self.daemon_is_dead = threading.Event()
        receivers = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receivers.heard[self.path].append((self.headers["webhook-id"], json.loads(body)))
                if self.path == HELD:
                    receivers.daemon_is_dead.wait()
                with contextlib.suppress(OSError):  # the one that asked is dead
                    self.send_response(204)
                    self.end_headers()

            def log_message(self, *words):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def receivers():
    receivers = Receivers()
    thread = threading.Thread(target=receivers.server.serve_forever)
    thread.start()
    yield receivers
    receivers.daemon_is_dead.set()
    receivers.server.shutdown()
    thread.join()
    receivers.server.server_close()


def states(database):
    with psycopg.connect(database) as connection:
        found = connection.execute("SELECT state FROM deliveries WHERE kind = 'ended'")
        return sorted(state for (state,) in found)


def end_claims(database):
    """Let the claims of a process that was killed run out now: others need not wait for that."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE deliveries SET due_at = now() WHERE state = 'waiting'")


async def test_what_was_on_its_way_when_the_daemon_was_killed_comes_again_under_its_id(
    home, database, receivers
):
    with a_provider() as provider:
        settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database}
        with a_daemon(home, **settings) as first:
            address = first.wait_ready()["listen"]
            async with AsyncClient(f"http://{address}", ADMIN) as client:
                for path in (HELD, ANSWERED):
                    hook = {"url": receivers.url + path, "events": ["chat.ended"]}
                    asked = api.ApiRequest("POST", HOOKS, dict[str, Any], 201, body=hook)
                    await client.request(asked)
                chat = await client.create("[[text: Done.]] hello")
                await client.wait(chat.id)
            # The answer of the second may have been noted by now, or not: both are told rightly.
            eventually(lambda: len(receivers.heard) == 2, "both receivers are told")
            first.kill()
        receivers.daemon_is_dead.set()
        assert "waiting" in states(database)
        end_claims(database)

        with a_daemon(home, **settings) as second:
            second.wait_ready()
            eventually(lambda: states(database) == ["delivered"] * 2, "nothing is lost")
            assert 0 == second.stop()

    assert 2 == len(receivers.heard[HELD])
    assert len(receivers.heard[ANSWERED]) in (1, 2)
    for told in receivers.heard.values():
        assert 1 == len({id for id, _ in told})
        assert [told[0][1]] * len(told) == [body for _, body in told]
    assert str(chat.id) == receivers.heard[HELD][0][1]["data"]["chat_id"]
