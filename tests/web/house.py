"""A daemon with a database and a model of its own, for the stories of one file, and its people."""

import tempfile
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import trio

from adapters.postgres import embedded
from tests.adapters.workspaces.context.ground import put
from tests.e2e.conftest import a_database
from tests.e2e.daemons import Daemon, a_daemon
from tests.e2e.processes import EVENTUALLY_SECONDS
from tests.e2e.providers import Provider, a_provider

ADMIN_TOKEN = "a-token-of-the-first-admin-for-these-tests"
HEADER = "Coder-Session-Token"
PASSWORD = "between the curtain and the wings"
CHATS = "/api/experimental/chats"
USER = "mara"
LOOK_SECONDS = 0.05
SETTINGS = {
    "PROMPTCORNER_ADMIN_TOKEN": ADMIN_TOKEN,
    "PROMPTCORNER_DRAIN_SECONDS": "0",
    "PROMPTCORNER_SANDBOX": "none",
}
WORKSPACE = '[[tool-calls: create_workspace:{"template_id": "web"}]] [[text: here]] begin'
AT_REST = ("waiting", "error", "requires_action")


@dataclass
class House:
    """One daemon, the model that it asks, and its database."""

    daemon: Daemon
    provider: Provider
    database: str
    people: dict = field(default_factory=dict)  # name: (token, cookies) of a session

    @property
    def url(self):
        return "http://" + self.daemon.wait_ready()["listen"]

    @asynccontextmanager
    async def api(self, token=ADMIN_TOKEN):
        """The API, as the first admin or the owner of another token."""
        headers = {HEADER: token, "X-Coder-Bypass-Ratelimit": "true"}
        how = {"base_url": self.url, "headers": headers, "timeout": EVENTUALLY_SECONDS}
        async with httpx2.AsyncClient(**how) as client:
            yield Api(client)

    async def person(self, name, *roles):
        """Return token and cookies of a user, who is made and logged in at first."""
        if name not in self.people:
            async with self.api() as admin:
                new = {"username": name, "email": f"{name}@example.org", "password": PASSWORD}
                user = await admin.good("POST", "/api/v2/users", new)
                if roles:
                    path = f"/api/v2/users/{user['id']}/roles"
                    await admin.good("PUT", path, {"roles": list(roles)})
            self.people[name] = await self.log_in(name)
        return self.people[name]

    async def log_in(self, name):
        """Begin a session: its token and cookies."""
        async with httpx2.AsyncClient(base_url=self.url, timeout=EVENTUALLY_SECONDS) as door:
            login = {"email": f"{name}@example.org", "password": PASSWORD}
            answer = await door.post("/api/v2/users/login", json=login)
            assert 201 == answer.status_code, answer.text
            cookies = [(each.name, each.value) for each in door.cookies.jar]
            return answer.json()["session_token"], cookies


@contextmanager
def a_house(server, name, home, **settings):
    """Run a daemon for the stories of a file, and check that it has not complained."""
    put(home / "templates/web", **{"README.md": "a place"})
    with a_database(server, name) as database, a_provider() as provider:
        settings = {**SETTINGS, **provider.settings, "DATABASE_URL": database, **settings}
        with a_daemon(home, **settings) as daemon:
            daemon.wait_ready()
            yield House(daemon, provider, database)
            assert 0 == daemon.stop()
            assert [] == [e for e in daemon.entries if e["level"] == "error"]


@contextmanager
def a_house_alone(name, *, server_settings=None, **settings):
    """Run a daemon on a database server of its own, for a program that is no test."""
    with tempfile.TemporaryDirectory(prefix=f"promptcorner-{name}-") as folder:
        top = Path(folder)
        top.chmod(0o711)
        options = embedded.ClusterOptions(top / "server", settings=server_settings or {})
        (top / "home").mkdir()
        with (
            embedded.using(options) as cluster,
            a_house(cluster.conninfo, name, top / "home", **settings) as house,
        ):
            yield house


class Api:
    """The daemon without a page: what a story needs beforehand, and what it compares with."""

    def __init__(self, client):
        self.client = client

    async def good(self, method, path, document=None, **query):
        answer = await self.client.request(method, path, json=document, params=query)
        assert answer.status_code < 300, f"{method} {path}: {answer.text}"
        return answer.json() if answer.content else None

    async def chat(self, text="hello", status="waiting", **new):
        """Begin a chat and wait until it is so far; its id."""
        [organization, *_] = await self.good("GET", "/api/v2/organizations")
        content = [{"type": "text", "text": text}]
        new = {"organization_id": organization["id"], "content": content, **new}
        chat = (await self.good("POST", CHATS, new))["id"]
        await self.until(chat, status)
        return chat

    async def say(self, chat, text, status=None, **how):
        content = [{"type": "text", "text": text}]
        await self.good("POST", f"{CHATS}/{chat}/messages", {"content": content, **how})
        if status:
            await self.until(chat, status)

    async def until(self, chat, *statuses):
        """Wait until a chat has one of these states; return it."""
        with trio.fail_after(EVENTUALLY_SECONDS):
            while (shown := await self.good("GET", f"{CHATS}/{chat}"))["status"] not in statuses:
                await trio.sleep(LOOK_SECONDS)
        return shown

    async def answer(self, chat, *, number):
        """Wait until so many answers are stored and the chat rests; return the newest.

        What a page shows as sent may not have come to the daemon yet.
        """
        with trio.fail_after(EVENTUALLY_SECONDS):
            while True:
                said = [text for role, text in await self.texts(chat) if role == "assistant"]
                if len(said) >= number:
                    await self.until(chat, "waiting")
                    return said[-1]
                await trio.sleep(LOOK_SECONDS)

    async def messages(self, chat):
        """Return all messages, the oldest first."""
        return (await self.page_of(chat))["messages"][::-1]

    async def page_of(self, chat, **query):
        return await self.good("GET", f"{CHATS}/{chat}/messages", limit=200, **query)

    async def texts(self, chat):
        """Return (role, text) of all messages with text, the oldest first."""
        return [
            (message["role"], part["text"])
            for message in await self.messages(chat)
            for part in message["content"]
            if part["type"] == "text"
        ]
