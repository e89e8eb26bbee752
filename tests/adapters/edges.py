"""The whole edge for tests: a real database, chats that are run, a rehearsal model, a real socket.

async with an_edge(conninfo) as edge:
    answer = await edge.member.post("/api/experimental/chats", {...})
    answer.status, answer.document
    async with edge.member.socket("/api/experimental/chats/watch") as socket:
        await socket.get_message()
"""

import json
import uuid
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256

import httpx2
import trio
from psycopg.conninfo import make_conninfo
from trio_websocket import open_websocket_url

from actors.law.ids import UserId
from adapters import settings as config
from adapters.daemon.chat_wiring import ChatServices, basis_of, dial_of, open_chats
from adapters.daemon.entry import RequestEntry
from adapters.daemon.route_wiring import open_routes
from adapters.http.health import Probes
from adapters.http.host.server import HttpServer
from adapters.models.provider_config import models_of_environment
from adapters.rehearsal.behaviour import Behaviour
from adapters.rehearsal.rehearsal import Rehearsal
from adapters.rehearsal.server import serve
from tests.patience import PATIENCE_SECONDS

HEADER = "Coder-Session-Token"
SECRET_KEY = "a-master-key-for-tests-of-more-than-32-characters"
ADMIN_TOKEN = "tests-of-the-edge-and-its-admin"


@dataclass(frozen=True)
class Received:
    status: int
    headers: httpx2.Headers
    body: bytes

    @property
    def document(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Asker:
    """Somebody with a token, or without."""

    url: str
    id: UserId | None
    username: str
    token: str
    client: httpx2.AsyncClient = field(repr=False)

    async def ask(self, method, path, document=None, *, body=None, headers=None):
        """Anything; a document goes as JSON."""
        shown = {HEADER: self.token} if self.token else {}
        content = json.dumps(document).encode() if document is not None else body
        with trio.fail_after(PATIENCE_SECONDS):
            answer = await self.client.request(
                method, self.url + path, content=content, headers={**shown, **(headers or {})}
            )
        return Received(answer.status_code, answer.headers, answer.content)

    async def get(self, path, **how):
        return await self.ask("GET", path, **how)

    async def post(self, path, document=None, **how):
        return await self.ask("POST", path, document, **how)

    async def put(self, path, document=None, **how):
        return await self.ask("PUT", path, document, **how)

    async def patch(self, path, document=None, **how):
        return await self.ask("PATCH", path, document, **how)

    async def delete(self, path, **how):
        return await self.ask("DELETE", path, **how)

    @asynccontextmanager
    async def socket(self, path):
        """A WebSocket of trio-websocket; ConnectionRejected has the status of a refusal."""
        url = self.url.replace("http", "ws", 1) + path
        headers = [(HEADER, self.token)] if self.token else []
        async with open_websocket_url(url, extra_headers=headers) as socket:
            try:
                yield socket
            finally:
                # The reader of trio-websocket waits until the next frame is taken, or for ever.
                socket._recv_channel.close()
                # If the server closed first, a client of this kind forgets to.
                with trio.move_on_after(1, shield=True):
                    await socket.aclose()
                    await socket._stream.aclose()


@dataclass(frozen=True)
class Edge:
    url: str
    conninfo: str
    organization: str
    admin: Asker
    member: Asker
    stranger: Asker  # a member of whom the other has never heard
    nobody: Asker
    chats: ChatServices
    entrance: RequestEntry
    server: HttpServer
    rehearsal: Rehearsal  # the model of all chats

    @property
    def pool(self):
        return self.chats.store.pool

    async def execute(self, sql, parameters=()):
        async with self.pool.connection() as connection:
            return await connection.execute(sql, parameters)


@asynccontextmanager
async def an_edge(conninfo, *, behaviour=None, **settings):
    """On a database whose schema is there. `settings` are the daemon's, by their names."""
    async with (
        serve(behaviour or Behaviour(deltas=3)) as running,
        trio.open_nursery() as nursery,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client,
    ):
        told = configured(conninfo, running.url, settings)
        entrance = RequestEntry(Probes())
        server = HttpServer(entrance.answer)
        [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(server.serve, [listener])
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}"
        models = models_of_environment(told.environ)
        async with (
            open_chats(told, basis_of(told, models, dial_of(told.environ)), conninfo) as chats,
            open_routes(told, chats, entrance, server=server, access_url=url),
        ):
            await holds_a_lease(chats)
            yield await _peopled(url, conninfo, client, chats, entrance, server, running.rehearsal)
        await client.aclose()
        await server.drain([listener])
        nursery.cancel_scope.cancel()


async def holds_a_lease(chats):
    """Wait until chats can be taken: a daemon says no earlier that it is ready."""
    with trio.fail_after(PATIENCE_SECONDS):
        while chats.supervisor.slots.worker is None:
            await trio.sleep(0.005)


def configured(conninfo, model_url, settings):
    """The configuration of a daemon whose only model is the rehearsal."""
    environment = {
        "DATABASE_URL": make_conninfo(conninfo),
        "PROMPTCORNER_SECRET_KEY": SECRET_KEY,
        "PROMPTCORNER_ADMIN_TOKEN": ADMIN_TOKEN,
        "PROMPTCORNER_SUMMARIES": "off",
        "OPENAI_COMPAT_BASE_URL": f"{model_url}/v1",
        **{f"PROMPTCORNER_{name.upper()}": str(value) for name, value in settings.items()},
    }
    return config.read_config({}, environment)


async def _peopled(url, conninfo, client, chats, *rest):
    async with chats.store.pool.connection() as connection:
        [(organization, id, username)] = await connection.execute(
            "SELECT d.organization_id, u.id, u.username FROM deployment d"
            " JOIN users u ON u.id = d.first_admin_id"
        )
        member, stranger = [await _add(connection, url, client, n) for n in ("member", "stranger")]
    admin = Asker(url, UserId(id), username, ADMIN_TOKEN, client)
    nobody = Asker(url, None, "", "", client)
    everybody = admin, member, stranger, nobody
    return Edge(url, conninfo, str(organization), *everybody, chats, *rest)


async def _add(connection, url, client, name):
    """A user with a token that may do all that he may."""
    id, token_id = UserId(uuid.uuid4()), uuid.uuid4().hex[:10]
    token = f"{token_id}-{uuid.uuid4().hex[:22]}"
    await connection.execute(
        "INSERT INTO users (id, username, name, email)"
        " VALUES (%(id)s, %(name)s, %(name)s, %(email)s)",
        {"id": id, "name": name, "email": f"{name}@example.org"},
    )
    await connection.execute(
        "INSERT INTO tokens (id, user_id, hash, kind, name)"
        " VALUES (%(id)s, %(user)s, %(hash)s, 'personal', 'tests')",
        {"id": token_id, "user": id, "hash": sha256(token.encode()).digest()},
    )
    return Asker(url, id, name, token, client)


async def eventually(condition, seconds=PATIENCE_SECONDS):
    """For what a real server does in its own time; the first answer that is true."""
    with trio.fail_after(seconds):
        while not (found := await condition()):
            await trio.sleep(0.005)
    return found
