"""The same rows before a daemon that runs chats, with a rehearsal model behind it.

async with a_daemon(conninfo, Behaviour(deltas=3)) as daemon:
    chat = await daemon.begin("hello")
    await daemon.ask("POST", f"{chat}/messages", {...})
    await daemon.at_rest(chat)
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass

import trio

from actors.law import requests as ask
from actors.law.chat import Role
from actors.law.states import Status
from actors.law.store.ports import Applied
from adapters import settings as config
from adapters.access.changes import ChatSender
from adapters.daemon.chat_wiring import ChatServices, basis_of, dial_of, open_chats
from adapters.http.door import Door
from adapters.models.provider_config import models_of_environment
from adapters.models.settings import override_name
from adapters.postgres.driver.connection import DatabaseConnection
from adapters.rehearsal.rehearsal import Rehearsal
from adapters.rehearsal.server import serve
from tests.actors.law.chats import ANN, user
from tests.adapters.chats.routes.ground import Callers, Ground, rows_on
from tests.adapters.edges import SECRET_KEY, holds_a_lease
from tests.adapters.postgres.stores import empty, new_chat_id
from tests.patience import PATIENCE_SECONDS

PROVIDERS = {
    "ANTHROPIC_API_KEY": "sk-a",
    "ANTHROPIC_BASE_URL": "{url}",
    "OPENAI_API_KEY": "sk-o",
    "OPENAI_BASE_URL": "{url}/v1",
    "GEMINI_API_KEY": "sk-g",
    "GEMINI_BASE_URL": "{url}/v1beta",
    "OPENAI_COMPAT_BASE_URL": "{url}/v1",
}


@dataclass
class Daemon:
    ground: Ground
    chats: ChatServices
    rehearsal: Rehearsal
    models: tuple

    async def ask(self, method, path, said=None, **how):
        return await self.ground.ask(ANN, method, path, said, **how)

    async def begin(self, *said, tools=(), **new):
        """A new chat in which ANN has said this, and which is answered at once."""
        declared = tuple(map(ask.DynamicTool, tools))
        new = ask.NewChat(new_chat_id(), ANN, dynamic_tools=declared, **new)
        sending = ChatSender(self.chats.store.ledger, self.chats.supervisor)
        applied = await sending.create(ask.CreateChat(new, (user(*said),)))
        assert isinstance(applied, Applied)
        assert applied.chat.holder is not None
        return new.id

    async def until(self, chat, holds):
        """Wait until this holds of what is stored."""
        with trio.fail_after(PATIENCE_SECONDS):
            while not holds(stored := await self.chats.store.reading.view(chat)):
                await trio.sleep(0.002)
        return stored

    async def at_rest(self, chat):
        """Nothing is to be done any more; the history, as roles and what was said."""
        await self.until(chat, lambda s: s.chat.status in (Status.WAITING, Status.ERROR))
        history = await self.chats.store.reading.history(chat)
        assert not (await self.chats.store.reading.view(chat)).queue
        return [(m.body.role, said_in(m)) for m in history if m.body.role is not Role.SYSTEM]


def said_in(message):
    return "".join(getattr(part, "text", "") for part in message.body.parts)


@asynccontextmanager
async def a_daemon(conninfo, behaviour, *, context_limit=None, summaries_by=None, **environ):
    """Its providers, one for each wire, are all the rehearsal. With a `context_limit` the model of
    chats that name none has such a window. `summaries_by`: the number of the model that makes
    them. `environ` is said to the daemon, too."""
    async with serve(behaviour) as running:
        environment = {
            "DATABASE_URL": conninfo,
            "PROMPTCORNER_SECRET_KEY": SECRET_KEY,
            "PROMPTCORNER_DRAIN_SECONDS": "0",
            "PROMPTCORNER_SUMMARIES": "off",
            **{name: value.format(url=running.url) for name, value in PROVIDERS.items()},
            **environ,
        }
        told = config.read_config({}, environment)
        models = models_of_environment(told.environ)
        settings = {}
        if summaries_by is not None:
            settings[override_name("compaction")] = str(models[summaries_by].id)
        await prepare(conninfo, models[0], context_limit, settings)
        async with open_chats(
            told, basis_of(told, models, dial_of(told.environ)), conninfo
        ) as chats:
            await holds_a_lease(chats)
            store = chats.store
            rows = rows_on(
                store.pool,
                store.ledger,
                chats.supervisor,
                catalogue=chats.catalogue,
                histories=store.histories,
            )
            ground = Ground(None, Door(rows, Callers()), None)
            yield Daemon(ground, chats, running.rehearsal, models)


async def prepare(conninfo, model, context_limit, settings):
    """Nobody is there but ANN."""
    empty(conninfo)
    connection = await DatabaseConnection.open(conninfo)
    try:
        await connection.execute(
            "INSERT INTO users (id, username) VALUES (%(id)s, 'ann')", {"id": ANN}
        )
        for name, value in settings.items():
            await connection.execute(
                "INSERT INTO settings (name, value) VALUES (%(name)s, to_json(%(value)s::text))",
                {"name": name, "value": value},
            )
        if context_limit is not None:
            await connection.execute(
                "INSERT INTO model_configs (id, provider_id, model, enabled, is_default,"
                " context_limit, compression_threshold, call) VALUES (gen_random_uuid(),"
                " %(provider)s, %(model)s, true, true, %(limit)s, 70, '{}')",
                {"provider": model.provider.id, "model": model.model, "limit": context_limit},
            )
    finally:
        connection.close()
