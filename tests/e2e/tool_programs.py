"""Programs with tools of their own before real daemons: what their stories share."""

import subprocess
import sys

import pytest
import trio

from promptcorner_client import errors
from promptcorner_client.tools import tool
from tests.e2e.conftest import a_database
from tests.e2e.daemons import a_daemon, environment
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import a_provider

MARKS = [
    pytest.mark.slow,
    # The HTTP library leaves generators of its own to the garbage collector.
    pytest.mark.filterwarnings("ignore:Async generator 'http:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ADMIN = "a-token-of-the-first-admin-for-these-tests"
AWAY = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
}
LAMPS = '[[tool-calls: stock:{"article": "lamps"}]] [[text: Three lamps.]] how many?'


@tool
async def stock(article: str) -> int:
    """How many of an article are in the store."""
    return {"lamps": 3, "chairs": 12}.get(article, 0)


@pytest.fixture(scope="module")
def provider():
    with a_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def url(provider, server, tmp_path_factory):
    """Of a daemon that comes to no harm."""
    with a_database(server, "client_tools") as database:
        settings = {**AWAY, **provider.settings, "DATABASE_URL": database}
        with a_daemon(tmp_path_factory.mktemp("tools"), **settings) as daemon:
            yield "http://" + daemon.wait_ready()["listen"]
            assert 0 == daemon.stop()
            assert [] == [e for e in daemon.entries if e["level"] == "error"]


@pytest.fixture(autouse=True)
def without_waiting(monkeypatch):
    monkeypatch.setattr(errors, "FIRST_SECONDS", 0.01)


def results(seen):
    """(tool, result, is_error) of every call of the chat."""
    parts = [part for message in seen.history for part in message.content]
    return [
        (part.tool_name, bytes(part.result).decode(), part.is_error is True)
        for part in parts
        if part.type == "tool-result"
    ]


def turns(provider, chat):
    """What it was asked in the chat itself; it makes a title, too, and is offered one tool."""
    return [one for one in provider.requests(chat.id) if len(one["body"]["tools"]) > 1]


async def waited(client, chat, *tools):
    with trio.fail_after(EVENTUALLY_SECONDS):
        return await client.wait(chat.id, tools=tools)


def a_program(text, **settings):
    return subprocess.Popen(
        [sys.executable, "-c", text],
        cwd="/",
        env=environment(**settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
