"""The rows about chats behind a real door, on a real database; nobody runs the chats.

async with a_ground(conninfo) as ground:
    chat = await ground.a_chat("what is said first")
    answer = await ground.ask(ANN, "GET", chat)
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlencode
from uuid import uuid4

from actors.law import requests as ask
from adapters.access.acl import ReaderStore
from adapters.access.admission import Admission
from adapters.access.changes import ChatSender
from adapters.chats.files.store import FileStore, PromptFiles
from adapters.chats.housekeeping.holds import HoldStore
from adapters.chats.overviews import OverviewStore, PinStore
from adapters.chats.request_repeats import Receipts, RequestRepeats
from adapters.chats.routes.chat_list import ChatListRoutes
from adapters.chats.routes.chats import ChatRoutes
from adapters.chats.routes.sharing import SharingRoutes
from adapters.http.door import Door
from adapters.postgres.queries import SQL
from adapters.tools.approvals.store import ConsentStore
from adapters.workspaces.store import OwnedWorkspaces
from tests.actors.law.chats import ANN, BOB, assistant, user
from tests.adapters.chats.routes import ground as routes
from tests.adapters.chats.routes.ground import ADA, ORGANIZATION, text
from tests.adapters.postgres.stores import new_chat_id, open_store
from tests.adapters.workspaces.context.ground import contexts_on
from tests.contracts.given import applied


@dataclass
class Ground(routes.Ground):
    overviews: OverviewStore | None = None
    pinning: PinStore | None = None

    def another(self):
        """Another process on the same database."""
        return opened(self.store, sharing=True)

    async def a_chat(
        self, said="hello", *, by=ANN, parent=None, done=True, answered=(), age=0, **new
    ):
        """A chat that came to rest, or is at work. `age`: so many seconds without a change."""
        made = ask.NewChat(new_chat_id(), by, title=said, parent_id=parent, root_id=parent, **new)
        then = [ask.CommitStep((assistant(each),)) for each in answered]
        finish = [ask.FinishTurn()] if done else []
        await applied(
            self.store.ledger.create(ask.CreateChat(made, (user(said, by=by),)), (*then, *finish))
        )
        if age:
            await self.grow_old(made.id, age)
        return made.id

    async def grow_old(self, chat, seconds):
        await self.store.execute(
            "UPDATE chats SET updated_at = updated_at - %(s)s * interval '1 second'"
            " WHERE id = %(chat)s",
            s=seconds,
            chat=chat,
        )

    async def a_workspace(self, *, by=ANN, name="w", gone=False):
        id = uuid4()
        await self.store.execute(
            "INSERT INTO workspaces (id, owner_id, name, template, memory_mb, file_mb, processes,"
            " seconds, removed_at) VALUES (%(id)s, %(by)s, %(name)s, 'empty', 1, 1, 1, 1,"
            " CASE WHEN %(gone)s THEN now() END)",
            id=id,
            by=by,
            name=name,
            gone=gone,
        )
        return id

    async def create(self, who=ANN, *, headers=(), **asked):
        body = {"organization_id": str(ORGANIZATION), "content": [text("hello")], **asked}
        body = {key: value for key, value in body.items() if value is not ...}
        return await self.ask(who, "POST", "", body, headers=headers)

    async def patch(self, chat, who=ANN, **asked):
        return await self.ask(who, "PATCH", f"/{chat}", asked)

    async def get(self, chat, who=ANN):
        return await self.ask(who, "GET", f"/{chat}")

    async def list(self, q="", *, who=ANN, **query):
        pairs = {"q": q, **query} if q else query
        return await self.ask(who, "GET", "", query=urlencode(pairs, doseq=True))

    async def titles(self, q="", **query):
        answer = await self.list(q, **query)
        assert 200 == answer.status, answer.body
        return [chat["title"] for chat in answer.said]

    async def share(self, chat, *users, everyone=False):
        await self.store.execute(
            SQL["add_readers"],
            chat=chat,
            users=list(users),
            groups=[ORGANIZATION] if everyone else [],
        )

    async def pins(self, owner=ANN):
        rows = await self.store.execute(
            "SELECT title, pin_order FROM chats WHERE owner_id = %(o)s AND pin_order > 0"
            " ORDER BY pin_order",
            o=owner,
        )
        return [tuple(row) for row in rows]


@asynccontextmanager
async def a_ground(conninfo, *, sharing=True, **how):
    async with open_store(conninfo, **how) as store:
        await store.add_users(ANN, BOB, ADA)
        await store.execute("UPDATE deployment SET organization_id = %(o)s", o=ORGANIZATION)
        yield opened(store, sharing=sharing)


def opened(store, *, sharing):
    supervisor = routes.senders()
    overviews = OverviewStore(store.pool, tell=store.telling, lease_seconds=30.0)
    door = Door(rows_on(store, supervisor, overviews, sharing=sharing), routes.Callers())
    return Ground(store, door, supervisor, overviews=overviews, pinning=PinStore(store.pool))


async def no_servers(scope, workspace, texts):
    """What no workspace names."""
    return ()


def rows_on(store, supervisor, overviews, *, sharing):
    pool = store.pool
    admission = Admission(pool, sharing=sharing)
    owned = OwnedWorkspaces(pool, tell=store.telling, sharing=sharing)
    chats = ChatRoutes(
        admission,
        overviews,
        pins=PinStore(pool),
        ledger=store.ledger,
        sending=ChatSender(store.ledger, supervisor),
        supervisor=supervisor,
        catalogue=routes.a_catalogue(pool),
        files=FileStore(pool),
        contents=PromptFiles(pool),
        repeating=RequestRepeats(Receipts(pool)),
        consents=ConsentStore(pool),
        holds=HoldStore(pool),
        servers=routes.known_servers(pool),
        contexts=contexts_on(pool, store.telling)[0],
        named=no_servers,
        workspaces=owned,
        organization=ORGANIZATION,
        tell=store.telling,
    )
    listing = ChatListRoutes(overviews, owned, organization=ORGANIZATION, sharing=sharing)
    sharing = SharingRoutes(
        admission,
        ReaderStore(pool),
        organization=ORGANIZATION,
        organization_name="corner",
        tell=store.telling,
        sharing=sharing,
    )
    return [row for subject in (chats, listing, sharing) for row in subject.endpoints()]
