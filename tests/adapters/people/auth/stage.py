"""The door before the routes of people, on a real database, without a network between.

async with a_door(conninfo) as door:
    ann = await door.joins("ann")                a user with a password
    answer = await door.asks("GET", "/api/v2/users/me", token=ann.token)
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec
from argon2 import PasswordHasher

from adapters.http.door import Door
from adapters.http.endpoints import Access, Endpoint, json_response
from adapters.http.requests import ClientConnection, HttpRequest
from adapters.people.auth.wiring import Auth, open_auth
from adapters.people.routes.all_routes import people_routes
from adapters.people.store.users import User
from adapters.postgres.bus import Switchboard
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault

PASSWORD = "correct horse"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
ADMIN_TOKEN = "the-token-of-the-first-admin"
ACCESS_URL = "http://corner.example"
LISTENING = ("corner.example",)


@dataclass
class Person:
    user: User
    token: str


@dataclass
class Said:
    """An answer, read."""

    status: int
    headers: list
    body: bytes

    @property
    def json(self):
        return msgspec.json.decode(self.body)

    def header(self, name):
        return [value for key, value in self.headers if key.lower() == name]

    @property
    def cookies(self):
        pairs = [cookie.split(";")[0].split("=", 1) for cookie in self.header("set-cookie")]
        return dict(pairs)


@dataclass
class Doorway:
    auth: Auth
    bus: Switchboard
    pool: Pool
    aside: DatabaseConnection
    door: Door
    headers: dict = field(default_factory=dict)

    async def asks(self, method, path, *, token=None, json=None, **said):
        headers = dict(said.get("headers", ()))
        if json is not None:
            headers.setdefault("content-type", "application/json")
        if token is not None:
            headers["coder-session-token"] = token
        body = said.get("body", b"" if json is None else msgspec.json.encode(json))

        async def read(_bytes_max):
            return body

        peer = ClientConnection(said.get("address", "192.0.2.1"), said.get("scheme", "http"))
        headers.setdefault("host", "corner.example")
        path, _, query = path.partition("?")
        answer = await self.door.answer(HttpRequest(method, path, query, headers, peer, read))
        return Said(answer.status, list(answer.headers), answer.body)

    async def joins(self, name, *, roles=(), scopes=("all",), password=PASSWORD, email=""):
        hashed = await self.auth.passwords.hashed(password)
        user = await self.auth.users.add(name, roles=roles, password_hash=hashed, email=email)
        token = await self.auth.tokens.add_personal(user.id, "", scopes=scopes, seconds=None)
        return Person(user, token)

    async def rows(self, sql, **parameters):
        return await self.aside.execute(sql, parameters)


@asynccontextmanager
async def a_process(conninfo, bus, *, admin_token=ADMIN_TOKEN, identify=None):
    """What one process of the daemon knows of people."""
    pool = Pool(conninfo, size=4)
    opening = open_auth(
        pool,
        bus,
        Vault(b"k" * 32),
        admin_token=admin_token,
        access_url=ACCESS_URL,
        hasher=CHEAP,
        identify=identify,
    )
    async with opening as auth:
        yield auth, pool
    await pool.drain(1)


@asynccontextmanager
async def a_door(conninfo, *, bus=None, admin_token=ADMIN_TOKEN, identify=None):
    bus = bus or Switchboard()
    aside = await DatabaseConnection.open(conninfo)
    how = {"admin_token": admin_token, "identify": identify}
    async with a_process(conninfo, bus, **how) as (auth, pool):
        yield Doorway(
            auth, bus, pool, aside, Door(rows_of(auth), auth.callers, listening=LISTENING)
        )
    aside.close()


def rows_of(auth):
    subjects = people_routes(auth)
    return [*(row for subject in subjects for row in subject.endpoints()), *CHATS]


async def _who(call):
    return json_response(200, {"username": call.user.username, "scopes": sorted(call.user.scopes)})


CHATS = [
    Endpoint(method=method, path="/api/chats/{chat}", handle=_who, summary="A chat", tag="chats")
    for method in ("GET", "POST", "DELETE")
]
CHATS += [
    Endpoint(method="GET", path=f"/{access.value}", handle=_who, summary="", tag="", access=access)
    for access in (Access.ADMIN, Access.HIDDEN)
]
