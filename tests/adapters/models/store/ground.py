"""One process as far as the catalogue goes: its pool, its bus, what writes, what is read.

async with open_ground(conninfo, environ={"ANTHROPIC_API_KEY": "k"}) as ground:
    provider = await ground.add_provider("mine")
    model = await ground.add_model(provider)
    await ground.catalogue.choose(ANN, model, None)
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

import msgspec
import trio

from actors.law.ids import ModelConfigId
from adapters.models.assembling import ProcessFacts
from adapters.models.catalogue import Catalogue
from adapters.models.connecting import RehearsalHost
from adapters.models.provider_config import models_of_environment
from adapters.models.providers.bedrock.aws import aws_credentials
from adapters.models.providers.dial import direct_dial, tls_context
from adapters.models.providers.http import HttpClient
from adapters.models.store.catalogue import CatalogueReader, StoredModel, StoredProvider
from adapters.models.store.providers import (
    ModelConfigStore,
    ProviderStore,
    SealedKey,
    key_subject,
    own_key_subject,
)
from adapters.models.store.settings import SettingStore, SkillStore
from adapters.postgres.bus import Switchboard
from adapters.postgres.driver.pool import Pool
from adapters.settings.secrets import Vault
from adapters.workspaces.context.skills import SkillIndex
from adapters.workspaces.context.turn_context import TurnWords
from tests.adapters.postgres.stores import TABLES

MASTER = b"a master key that is of tests only"
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
URL = "http://127.0.0.1:9/v1"


class CountedReading(CatalogueReader):
    """The real one; it counts what it is asked."""

    asked = 0

    async def everything(self):
        self.asked += 1
        return await super().everything()

    async def own(self, user):
        self.asked += 1
        return await super().own(user)


@dataclass
class Ground:
    pool: Pool
    bus: Switchboard
    reading: CountedReading
    catalogue: Catalogue
    vault: Vault
    providers: ProviderStore
    configs: ModelConfigStore
    settings: SettingStore
    skills: SkillStore
    index: SkillIndex

    async def execute(self, sql, **parameters):
        async with self.pool.connection() as connection:
            return await connection.execute(sql, parameters)

    async def empty(self):
        async with self.pool.connection() as connection:
            await connection.run([(f"DELETE FROM {table}", ()) for table in TABLES])
        self.catalogue.forget()

    async def turn_context(self, chat):
        return await self.words().turn_context(chat)

    def words(self, **more):
        return TurnWords(self.catalogue, skills=self.index, **more)

    async def add_users(self, *ids):
        for id in ids:
            await self.execute(
                "INSERT INTO users (id, username) VALUES (%(id)s, %(id)s::uuid::text)", id=id
            )

    async def add_provider(
        self, name="mine", type="openai-compat", *, keys=("sk-secret",), vault=None, **columns
    ):
        provider = a_provider(name, type, **columns)
        vault = vault or self.vault
        sealed = []
        for key in keys:
            id = uuid4()
            sealed.append(SealedKey(id, vault.seal(key, key_subject(provider.id, id)), "..."))
        assert await self.providers.add(provider, sealed) is None
        return provider.id

    async def add_model(self, provider, model="m", *, default=False, call=b"{}", **columns):
        row = a_model(provider, model, default=default, call=call, **columns)
        await self.configs.add(row)
        return row.id

    async def bring_key(self, user, provider, key="sk-of-my-own"):
        sealed = self.vault.seal(key, own_key_subject(user, provider))
        await self.providers.bring_key(user, provider, sealed)

    async def defaults(self):
        rows = await self.execute("SELECT id FROM model_configs WHERE is_default")
        return [id for (id,) in rows]


def a_provider(name="mine", type="openai-compat", *, enabled=True, base_url=URL, **columns):
    known = {"settings": None, "sealed_settings": None, "display_name": "", "icon": ""}
    more = known | columns
    return StoredProvider(
        id=columns.pop("id", None) or uuid4(),
        type=type,
        name=name,
        enabled=enabled,
        base_url=base_url,
        created_at=SINCE,
        updated_at=SINCE,
        **{key: value for key, value in more.items() if key != "id"},
    )


def a_model(provider, model="m", *, default=False, call=b"{}", enabled=True, **columns):
    return StoredModel(
        id=columns.get("id") or ModelConfigId(uuid4()),
        provider_id=provider,
        model=model,
        display_name=columns.get("display_name", ""),
        enabled=enabled,
        is_default=default,
        context_limit=columns.get("context_limit", 4096),
        compression_threshold=columns.get("compression_threshold", 70),
        call=call if isinstance(call, bytes) else msgspec.json.encode(call),
        created_at=SINCE,
        updated_at=SINCE,
    )


@asynccontextmanager
async def open_ground(
    conninfo, *, environ=None, beyond=None, vault=None, allow_user_keys=True, dial=None
):
    environ = {"HOME": "/nowhere"} | (environ or {})
    pool = Pool(conninfo, size=8)
    bus = Switchboard(beyond)
    vault = vault or Vault(MASTER)
    reading, stage = CountedReading(pool), RehearsalHost()
    client = HttpClient(dial or direct_dial(tls_context()))
    found = models_of_environment(environ)
    catalogue = Catalogue(
        reading,
        ProcessFacts(found, aws_credentials(environ), SINCE),
        vault=vault,
        client=client,
        rehearsal=stage,
        allow_user_keys=allow_user_keys,
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.run)
        skills = SkillStore(pool, tell=bus.tell)
        index = SkillIndex(skills)
        with catalogue.follow(bus), index.follow(bus):
            yield Ground(
                pool,
                bus,
                reading,
                catalogue,
                vault,
                ProviderStore(pool, tell=bus.tell),
                ModelConfigStore(pool, tell=bus.tell, offers_model=bool(found)),
                SettingStore(pool, tell=bus.tell),
                skills,
                index,
            )
        await client.aclose()
        await pool.drain(1.0)
        nursery.cancel_scope.cancel()
