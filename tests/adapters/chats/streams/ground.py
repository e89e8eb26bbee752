"""Streams as clients see them: a daemon that runs chats, a rehearsal model, real sockets.

async with a_stage(conninfo) as stage:
    chat = await stage.create("hello [[delta-ms: 50]]")
    async with stage.watch(chat) as watcher:
        await watcher.until(status("waiting"))
        watcher.events, watcher.state
    await stage.send(chat, "and now?")

What a prompt says in double brackets the model does (adapters/rehearsal).
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import httpx2
import trio
from psycopg.conninfo import make_conninfo
from trio_websocket import open_websocket_url

from actors.law import requests as ask
from actors.law.chat import Body, Role, UserMessage
from actors.law.ids import UserId
from actors.law.parts.message import TextPart
from actors.law.store.ports import Applied
from adapters import settings as config
from adapters.access.admission import Admission
from adapters.access.changes import ChatSender
from adapters.chats.overviews import OverviewStore
from adapters.chats.streams.wiring import StreamParts, open_streaming
from adapters.daemon.chat_wiring import ChatServices, basis_of, dial_of, open_chats
from adapters.http.door import Door
from adapters.http.endpoints import Caller, TokenSource
from adapters.http.host.server import HttpServer
from adapters.models.provider_config import models_of_environment
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.server import serve
from tests.adapters.chats.streams.clients import Watcher
from tests.patience import PATIENCE_SECONDS

ANN, BOB = UserId(UUID(int=11)), UserId(UUID(int=12))
ADA = UserId(UUID(int=13))  # an admin
ROOT = "/api/experimental/chats"
ORGANIZATION = UUID(int=99)
CALLER = "x-caller"
SECRET_KEY = "a-master-key-for-tests-of-more-than-32-characters"

HANGING = "hello [[text: good day]] [[delta-chars: 1]] [[delta-ms: 30]] [[faults: silence:3]]"

UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
}


class Callers:
    """Whoever the request says that he is."""

    async def let_in(self, head, row):
        id = UserId(UUID(head.headers[CALLER]))
        return Caller(id, str(id), id == ADA, frozenset({"all"}), "token", TokenSource.HEADER)


@dataclass
class Stage:
    conninfo: str
    url: str
    chats: ChatServices
    streaming: StreamParts
    server: HttpServer
    client: httpx2.AsyncClient = field(repr=False)

    @property
    def feeds(self):
        return self.streaming.feeds

    @property
    def ledger(self):
        return self.chats.store.ledger

    async def takes_chats(self):
        """Whether what is sent here is run here, and not by another process."""
        slots = self.chats.supervisor.slots
        claim = slots.claim(is_root=True, now=trio.current_time())
        if claim is not None:
            slots.release(claim)
        return claim is not None

    # what users do

    async def create(self, *texts, tools=(), by=ANN):
        new = ask.NewChat(uuid4(), by, dynamic_tools=tuple(map(ask.DynamicTool, tools)))
        body = Body(Role.USER, tuple(map(TextPart, texts)), created_by=by)
        made = await self.sending.create(ask.CreateChat(new, (body,)))
        assert isinstance(made, Applied), str(made)
        return new.id

    async def create_in_pieces(self):
        """A chat that hangs after "goo", which was said in two pieces or three. On a busy machine
        all of it is read at once now and then, and is one piece."""
        while True:
            chat = await self.create(HANGING)
            async with self.watch(chat) as watcher:
                await watcher.until(lambda state: state.preview == "goo")
                if len(watcher.state.parts) > 1:
                    return chat

    async def send(self, chat, text, busy=ask.BusyBehaviour.QUEUE):
        return await self.ask(chat, ask.SendMessage(a_message(text), busy))

    async def ask(self, chat, *requests):
        made = await self.sending.apply(chat, requests, is_root=True)
        assert isinstance(made, Applied), str(made)
        return made

    @property
    def overviews(self):
        store = self.chats.store
        return OverviewStore(store.pool, tell=store.bus.tell, lease_seconds=30.0)

    @property
    def sending(self):
        return ChatSender(self.ledger, self.chats.supervisor)

    # what watchers do

    @asynccontextmanager
    async def watch(self, chat, query="", *, by=ANN):
        async with self.socket(f"{ROOT}/{chat}/stream{query}", by=by) as socket:
            watcher = Watcher(socket)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(watcher.listen)
                yield watcher
                nursery.cancel_scope.cancel()

    @asynccontextmanager
    async def socket(self, path, *, by=ANN):
        url = self.url.replace("http", "ws", 1) + path
        async with open_websocket_url(url, extra_headers=[(CALLER, str(by))]) as socket:
            try:
                yield socket
            finally:
                # The reader of trio-websocket waits until the next frame is taken, or for ever.
                socket._recv_channel.close()
                # If the server says goodbye first, it is left open.
                await trio.aclose_forcefully(socket._stream)

    async def get(self, path, *, by=ANN, **headers):
        headers = {CALLER: str(by), **headers}
        return await self.client.get(f"{self.url}{ROOT}/{path}", headers=headers)

    # what is stored

    async def execute(self, sql, parameters=()):
        async with self.chats.store.pool.connection() as connection:
            return await connection.execute(sql, parameters)


@asynccontextmanager
async def a_stage(conninfo, behaviour=None, **settings):
    """On a database whose schema is there."""
    async with (
        serve(behaviour or Behaviour(deltas=3)) as running,
        trio.open_nursery() as nursery,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client,
    ):
        environment = {
            "DATABASE_URL": make_conninfo(conninfo),
            "PROMPTCORNER_SECRET_KEY": SECRET_KEY,
            "OPENAI_COMPAT_BASE_URL": f"{running.url}/v1",
            "PROMPTCORNER_SUMMARIES": "off",
            "PROMPTCORNER_DRAIN_SECONDS": "0",  # a story is over when it is told
            **{f"PROMPTCORNER_{name.upper()}": str(value) for name, value in settings.items()},
        }
        told = config.read_config({}, environment)
        models = models_of_environment(told.environ)
        async with (
            open_chats(told, basis_of(told, models, dial_of(told.environ)), conninfo) as chats,
            open_streams(chats) as streaming,
        ):
            await add_users(chats.store.pool, ANN, BOB, ADA)
            rows = [row for routes in streaming.routes for row in routes.endpoints()]
            server = HttpServer(Door(rows, Callers()).answer)
            [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
            nursery.start_soon(server.serve, [listener])
            url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
            stage = Stage(conninfo, url, chats, streaming, server, client)
            await eventually(stage.takes_chats)
            async with listener:
                yield stage
            streaming.leave()
            await server.drain([])
        nursery.cancel_scope.cancel()


def open_streams(chats):
    store = chats.store
    return open_streaming(
        store.pool,
        store.bus,
        chats.previews,
        chats.lifecycle.workspaces,
        admission=Admission(store.pool),
        overviews=OverviewStore(store.pool, tell=store.bus.tell, lease_seconds=30.0),
        organization=ORGANIZATION,
        lease_seconds=30.0,
    )


async def add_users(pool, *users):
    async with pool.connection() as connection:
        for user in users:
            await connection.execute(
                "INSERT INTO users (id, username, name, email)"
                " VALUES (%(id)s, %(name)s, %(name)s, %(email)s) ON CONFLICT DO NOTHING",
                {"id": user, "name": f"u{user.int}", "email": f"u{user.int}@example.org"},
            )


def a_message(text, by=ANN):
    return UserMessage((TextPart(text),), by)


async def eventually(condition, seconds=PATIENCE_SECONDS):
    """For what a real server does in its own time; the first answer that is true."""
    with trio.fail_after(seconds):
        while not (found := await condition()):
            await trio.sleep(0.005)
    return found
