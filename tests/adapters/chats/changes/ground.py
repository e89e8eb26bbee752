"""Chats with branches at a fake forge, and as many processes that ask it as a test wants.

async with a_ground(conninfo, tmp_path) as ground:
    chat = await ground.a_chat("work")
    await ground.later(120); await ground.refresher().tick(); await ground.status(chat)
"""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from math import ceil
from typing import Any

import msgspec

from actors.law import requests as ask
from actors.law.ids import ChatId
from adapters.chats.changes.forge_apis import forge_apis
from adapters.chats.changes.forge_client import ForgeClient
from adapters.chats.changes.pull_requests import PullRequest
from adapters.chats.changes.refresher import Refresher
from adapters.chats.changes.store import (
    BranchNote,
    BranchStore,
    ForgeTokenStore,
    forge_token_subject,
)
from adapters.models.providers.http import HttpClient
from adapters.settings.forges import Forges
from adapters.settings.secrets import Vault
from adapters.tools.mcp.oauth.guard import guarded_dial
from tests.actors.law.chats import ANN, BOB, user
from tests.adapters.postgres.stores import new_chat_id, open_store
from tests.contracts.given import applied
from tests.fakes.forge import TOKEN, a_forge

LOOPBACK = (ip_network("127.0.0.0/8"),)
QUARTER = 15  # seconds
VAULT = Vault(b"a master key for tests of more than 32 bytes")


@dataclass
class ForgeGround:
    store: Any
    forge: Any
    kind: str
    client: HttpClient

    @property
    def forges(self):
        return Forges().read(f"{self.kind}={self.forge.url}")

    @property
    def branches(self):
        return BranchStore(self.store.pool, tell=self.store.told.append)

    @property
    def tokens(self):
        return ForgeTokenStore(self.store.pool, tell=self.store.told.append)

    def refresher(self, **how):
        """One process of a fleet."""
        apis = forge_apis(ForgeClient(self.client))
        return Refresher(self.branches, apis, VAULT, self.forges, **how)

    async def bring_token(self, owner=ANN, token=TOKEN):
        sealed = VAULT.seal(token, forge_token_subject(owner, self.forge.host))
        await self.tokens.put(owner, self.forge.host, sealed)

    async def a_chat(self, branch=None, *, by=ANN, path="ann/tools", **note) -> ChatId:
        made = ask.NewChat(new_chat_id(), by, title="t")
        await applied(
            self.store.ledger.create(
                ask.CreateChat(made, (user("hello", by=by),)), (ask.FinishTurn(),)
            )
        )
        if branch is not None:
            await self.note(made.id, branch, path=path, **note)
        return made.id

    async def note(self, chat, branch, *, path="ann/tools", **more):
        origin = f"{self.forge.url}/{path}.git"
        note = BranchNote(
            chat=chat,
            remote_origin=origin,
            branch=branch,
            host=self.forge.host,
            path=path,
            **more,
        )
        assert await self.branches.note(note)

    async def later(self, seconds):
        """Let time pass for the database, which is the only clock that counts here."""
        moved = " , ".join(
            f"{name} = {name} - %(s)s * interval '1 second'"
            for name in ("stale_at", "noted_at", "pushed_at", "refreshed_at", "claimed_until")
        )
        await self.store.execute(f"UPDATE diff_statuses SET {moved}", s=seconds)
        await self.store.execute(
            "UPDATE forge_tokens SET delayed_until = delayed_until - %(s)s * interval '1 second'",
            s=seconds,
        )

    async def status(self, chat) -> PullRequest | None:
        [(raw,)] = await self.store.execute(
            "SELECT pull_request FROM diff_statuses WHERE chat_id = %(chat)s", chat=chat
        )
        return None if raw is None else msgspec.json.decode(raw, type=PullRequest)

    async def stale_in(self, chat):
        """In how many seconds the forge is asked again, as it was decided; None: not at all.

        All that can be decided is a multiple of a quarter of a minute. So long a busy machine may
        take between the decision and this look at it.
        """
        [(seconds,)] = await self.store.execute(
            "SELECT extract(epoch FROM stale_at - now())::double precision FROM diff_statuses"
            " WHERE chat_id = %(chat)s",
            chat=chat,
        )
        return None if seconds is None else QUARTER * ceil((seconds - 1) / QUARTER)


@asynccontextmanager
async def a_ground(conninfo, root, kind="github"):
    async with open_store(conninfo) as store, a_forge(root) as forge:
        await store.add_users(ANN, BOB)
        client = HttpClient(guarded_dial(LOOPBACK))
        forge.add("ann/tools")
        try:
            yield ForgeGround(store, forge, kind, client)
        finally:
            await client.aclose()
