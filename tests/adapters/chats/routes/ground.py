"""The rows about what is said, behind a real door, on a real database; nobody runs the chats.

async with a_ground(conninfo) as ground:
    answer = await ground.ask(ANN, "POST", f"{chat}/messages", {"content": [...]})
    answer.status, answer.said
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from uuid import UUID, uuid4

import msgspec

from actors.chat.histories import NO_HISTORIES
from actors.law.ids import UserId
from actors.supervisor.api import SupervisorMail
from actors.supervisor.deps import SupervisorLimits
from actors.supervisor.slots import Slots
from actors.tools.approval_rules import read_rules
from actors.tools.approvals import ApprovalSettings
from adapters.access.admission import Admission
from adapters.access.changes import ChatSender
from adapters.chats.files.routes import FileRoutes
from adapters.chats.files.store import FileStore
from adapters.chats.overviews import OverviewStore
from adapters.chats.request_repeats import Receipts, RequestRepeats
from adapters.chats.routes.messages import MessageRoutes
from adapters.chats.routes.queue import QueueRoutes
from adapters.chats.routes.turns import TurnRoutes
from adapters.http.door import Door
from adapters.http.endpoints import Caller, TokenSource
from adapters.http.requests import ClientConnection, HttpRequest
from adapters.models.assembling import ProcessFacts
from adapters.models.catalogue import Catalogue
from adapters.models.connecting import RehearsalHost
from adapters.models.provider_config import models_of_environment
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.models.providers.http import HttpClient
from adapters.models.store.catalogue import CatalogueReader
from adapters.postgres.reading import MessagePages
from adapters.settings.secrets import Vault
from adapters.tools.approvals.routes import Approvals
from adapters.tools.approvals.rule_routes import ConsentRuleRoutes
from adapters.tools.approvals.rule_store import ConsentRuleStore
from adapters.tools.approvals.store import ConsentStore
from adapters.tools.mcp.registry import ServerRegistry
from adapters.tools.mcp.store import ServerStore
from runtime.mailbox import Address, Mailbox, open_mailbox
from tests.actors.law.chats import ANN, BOB
from tests.adapters.postgres.stores import PostgresStore, open_store

ROOT = "/api/experimental/chats"
ORGANIZATION = UUID(int=99)
ADA = UserId(UUID(int=13))  # an admin
NOW = datetime(2030, 5, 17, 12, 0, tzinfo=UTC)
VAULT = Vault(b"0123456789abcdef" * 2)
ENVIRON = {"ANTHROPIC_API_KEY": "sk-test", "OPENAI_API_KEY": "sk-test"}
MODELS = tuple(model.id for model in models_of_environment(ENVIRON))


class Callers:
    """Whoever the request says that he is."""

    async def let_in(self, head, row):
        id = head.headers.get("x-caller")
        if id is None:
            return None
        id = UserId(UUID(id))
        return Caller(id, str(id), id == ADA, frozenset({"all"}), "token", TokenSource.HEADER)


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self):
        return self.now


@dataclass
class Answered:
    status: int
    body: bytes
    media_type: str
    headers: dict

    @property
    def said(self):
        return msgspec.json.decode(self.body) if self.body else None


@dataclass
class Senders:
    """A supervisor's slots and mailbox, and nobody behind them."""

    slots: Slots
    address: Address[SupervisorMail]
    mailbox: Mailbox[SupervisorMail]


def senders():
    address, mailbox = open_mailbox("supervisor", capacity=64)
    return Senders(Slots(SupervisorLimits(), uuid4), address, mailbox)


class Meanwhile:
    """The ledger of the rows: something else comes just before what is asked of it next."""

    def __init__(self, ledger):
        self._ledger = ledger
        self._deed = None

    def __getattr__(self, name):
        return getattr(self._ledger, name)

    def comes(self, deed, *how):
        self._deed = partial(deed, *how)

    async def apply(self, *args, **more):
        await self._comes()
        return await self._ledger.apply(*args, **more)

    async def wake(self, *args):
        await self._comes()
        return await self._ledger.wake(*args)

    async def _comes(self):
        deed, self._deed = self._deed, None
        if deed is not None:
            await deed()


@dataclass
class Ground:
    store: PostgresStore
    door: Door
    supervisor: Senders
    clock: Clock = field(default_factory=Clock)
    meanwhile: Meanwhile | None = None

    async def ask(self, who, method, path, said=None, *, query="", body=None, headers=()):
        """`path` behind the chats' own; `said` is the body as JSON."""
        if body is None:
            body = b"" if said is None else msgspec.json.encode(said)

        async def read(bytes_max):
            return body

        named = {"host": "corner.test", **({"x-caller": str(who)} if who else {}), **dict(headers)}
        peer = ClientConnection("test", "http")
        answer = await self.door.answer(
            HttpRequest(method, f"{ROOT}/{path}", query, named, peer, read)
        )
        return Answered(answer.status, answer.body, answer.media_type, dict(answer.headers))


@asynccontextmanager
async def a_ground(conninfo):
    async with open_store(conninfo) as store:
        await store.add_users(ANN, BOB, ADA)
        supervisor, meanwhile = senders(), Meanwhile(store.ledger)
        clock = Clock()
        rows = rows_on(store.pool, meanwhile, supervisor, clock=clock)
        yield Ground(
            store, Door(rows, Callers(), listening={"corner.test"}), supervisor, clock, meanwhile
        )


def rows_on(pool, ledger, supervisor, *, catalogue=None, clock=None, histories=NO_HISTORIES):
    admission, pages, shelf = Admission(pool), MessagePages(pool), FileStore(pool)
    sending = ChatSender(ledger, supervisor, histories=histories)
    catalogue = catalogue or a_catalogue(pool)
    shelved = OverviewStore(pool, tell=lambda hint: None, lease_seconds=30.0)
    files = FileRoutes(
        shelf,
        organization=ORGANIZATION,
        link_key=VAULT.derived("file links"),
        clock=clock or Clock(),
    )
    own_rules = ConsentRuleStore(pool, tell=lambda hint: None)
    approving = ApprovalSettings(
        rules=read_rules("write_file(secrets/**)=deny, execute(git push *)=ask"),
        stored=own_rules,
    )
    routes = (
        MessageRoutes(
            admission,
            pages,
            sending=sending,
            files=shelf,
            catalogue=catalogue,
            repeating=RequestRepeats(Receipts(pool)),
            servers=known_servers(pool),
        ),
        QueueRoutes(admission, ledger, sending=sending, files=shelf, catalogue=catalogue),
        TurnRoutes(
            admission, sending, catalogue=catalogue, overviews=shelved, organization=ORGANIZATION
        ),
        Approvals(
            admission,
            ConsentStore(pool),
            sending=sending,
            approving=approving,
            own_rules=own_rules,
        ),
        ConsentRuleRoutes(approving, own_rules),
        files,
    )
    return [row for route in routes for row in route.endpoints()]


def known_servers(pool):
    return ServerRegistry(ServerStore(pool, tell=lambda hint: None), VAULT)


def a_catalogue(pool):
    return Catalogue(
        CatalogueReader(pool),
        ProcessFacts(models_of_environment(ENVIRON), None, NOW),
        vault=VAULT,
        client=HttpClient(direct_dial(tls_context())),
        rehearsal=RehearsalHost(),
    )


def text(said):
    return {"type": "text", "text": said}


def message(*said, **more):
    return {"content": [text(each) for each in said], **more}
